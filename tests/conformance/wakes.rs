//! `wakes`: whoever waits hears of completions, returns, releases and workers.

use super::kit::{LONG, again, beat, complete, ended, running};
use tq::broker::{Broker, Fate, Wake};
use tq::clock::Clock;
use tq::model::{Epoch, Micros};

async fn heard(
    clock: &Clock,
    wakes: &mut tokio::sync::watch::Receiver<Wake>,
    what: &str,
    seen: impl Fn(&Wake) -> bool,
) {
    let waiting = wakes.wait_for(|wake| seen(wake));
    assert!(clock.timeout(LONG, waiting).await.is_ok(), "nobody was woken: {what}");
}

pub(crate) async fn an_ended_attempt_wakes<B: Broker>(broker: B, clock: Clock) {
    let mut wakes = broker.wakes();
    let deliveries = running(&broker, &clock, &["a", "b", "c"]).await;
    complete(&broker, &clock, &deliveries[0]).await;
    heard(&clock, &mut wakes, "complete", |wake| wake.freed >= 1).await;
    let returned = wakes.borrow().returned;
    ended(&broker, &clock, &deliveries[1], Fate::Pending(again(&deliveries[1]))).await;
    heard(&clock, &mut wakes, "retry to pending", |wake| wake.freed >= 2 && wake.returned > returned).await;
    let returned = wakes.borrow().returned;
    let due = clock.now() + LONG;
    ended(&broker, &clock, &deliveries[2], Fate::Delayed(again(&deliveries[2]), due)).await;
    heard(&clock, &mut wakes, "retry to delayed", |wake| wake.freed >= 3 && wake.returned > returned).await;
}

pub(crate) async fn a_released_lease_wakes<B: Broker>(broker: B, clock: Clock) {
    let mut wakes = broker.wakes();
    broker.lease_acquire("one", LONG).await.unwrap();
    let before = wakes.borrow().released;
    assert!(broker.lease_release("one", Epoch(1)).await.unwrap());
    heard(&clock, &mut wakes, "release", |wake| wake.released > before).await;
    broker.lease_acquire("two", LONG).await.unwrap();
    let before = wakes.borrow().released;
    assert!(broker.lease_depose("two", Epoch(2)).await.unwrap());
    heard(&clock, &mut wakes, "depose", |wake| wake.released > before).await;
}

pub(crate) async fn workers_that_come_change_and_go_wake<B: Broker>(broker: B, clock: Clock) {
    let mut wakes = broker.wakes();
    let mut last = wakes.borrow().workers;
    for slots in [2, 3] {
        broker.extend(&beat("w#1", slots), &[], clock.now()).await.unwrap();
        heard(&clock, &mut wakes, "beat", |wake| wake.workers > last).await;
        last = wakes.borrow().workers;
    }
    broker.extend(&beat("w#1", 3), &[], clock.now() + Micros(1)).await.unwrap();
    broker.leave("w#1").await.unwrap();
    heard(&clock, &mut wakes, "leave", |wake| wake.workers > last).await;
}
