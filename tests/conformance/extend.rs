//! `extend` and `leave`: heartbeats renew attempt leases and keep the register.

use super::kit::{WORKER, beat, complete, running};
use tq::broker::Broker;
use tq::clock::Clock;
use tq::model::{EntryId, Micros};

const IDLE: Micros = Micros::from_millis(40);

pub(crate) async fn a_heartbeat_renews_what_the_worker_holds<B: Broker>(broker: B, clock: Clock) {
    let deliveries = running(&broker, &clock, &["a", "b"]).await;
    clock.sleep(IDLE + Micros::from_millis(5)).await;
    assert_eq!(broker.expired(IDLE, 9).await.unwrap().len(), 2);
    let lost = broker.extend(&beat(WORKER, 2), &[deliveries[0].entry], clock.now()).await.unwrap();
    assert_eq!(lost, []);
    let still: Vec<_> = broker.expired(IDLE, 9).await.unwrap().into_iter().map(|(held, _)| held.entry).collect();
    assert!(still.contains(&deliveries[1].entry));
}

pub(crate) async fn what_the_worker_no_longer_owns_comes_back<B: Broker>(broker: B, clock: Clock) {
    let deliveries = running(&broker, &clock, &["a", "b"]).await;
    complete(&broker, &clock, &deliveries[0]).await;
    let (ended, live, never) = (deliveries[0].entry, deliveries[1].entry, EntryId::new(5, 5));
    let lost = broker.extend(&beat(WORKER, 2), &[ended, live, never], clock.now()).await.unwrap();
    assert_eq!(lost, [ended, never]);
    let lost = broker.extend(&beat("w#2", 2), &[live], clock.now()).await.unwrap();
    assert_eq!(lost, [live]);
}

pub(crate) async fn the_register_follows_beats_and_leaving<B: Broker>(broker: B, clock: Clock) {
    let now = clock.now();
    broker.extend(&beat("w#1", 2), &[], now).await.unwrap();
    broker.extend(&beat("w#2", 3), &[], now).await.unwrap();
    broker.extend(&beat("w#1", 4), &[], now + Micros(9)).await.unwrap();
    let seen = broker.snapshot(clock.now()).await.unwrap();
    assert_eq!(seen.slots(), 7);
    let mut found: Vec<_> = seen.workers.iter().map(|one| (one.beat.clone(), one.seen_us)).collect();
    found.sort_by(|a, b| a.0.worker.cmp(&b.0.worker));
    assert_eq!(found, [(beat("w#1", 4), now + Micros(9)), (beat("w#2", 3), now)]);
    broker.leave("w#1").await.unwrap();
    broker.leave("w#1").await.unwrap();
    assert_eq!(broker.snapshot(clock.now()).await.unwrap().slots(), 3);
}

pub(crate) async fn leaving_gives_up_no_delivery<B: Broker>(broker: B, clock: Clock) {
    let delivery = running(&broker, &clock, &["a"]).await.remove(0);
    broker.extend(&beat(WORKER, 1), &[delivery.entry], clock.now()).await.unwrap();
    broker.leave(WORKER).await.unwrap();
    let held = broker.expired(Micros::ZERO, 9).await.unwrap();
    assert_eq!(held, [(delivery, WORKER.to_owned())]);
}
