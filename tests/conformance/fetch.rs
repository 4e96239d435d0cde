//! `fetch`: each delivery goes to one worker; the control arm takes from ingress.

use super::kit::{LONG, body, dispatched, fetched, ids, pending};
use bytes::Bytes;
use tq::broker::{Broker, Source};
use tq::clock::Clock;
use tq::model::outcome::DeadReason;
use tq::model::{EntryId, Micros};

pub(crate) async fn each_delivery_goes_to_one_worker<B: Broker>(broker: B, clock: Clock) {
    let ranks = pending(&broker, &clock, &["a", "b", "c"]).await;
    dispatched(&broker, &clock, &ranks).await;
    assert_eq!(ids(&fetched(&broker, "w#1", 2).await), ["a", "b"]);
    assert_eq!(ids(&fetched(&broker, "w#2", 2).await), ["c"]);
    assert_eq!(fetched(&broker, "w#3", 2).await, []);
    let seen = broker.snapshot(clock.now()).await.unwrap();
    assert_eq!((seen.in_flight, seen.in_flight_counted), (3, 3));
}

pub(crate) async fn a_blocked_fetch_wakes_on_dispatch<B: Broker>(broker: B, clock: Clock) {
    let ranks = pending(&broker, &clock, &["a"]).await;
    let later = async {
        clock.sleep(Micros::from_millis(20)).await;
        dispatched(&broker, &clock, &ranks).await;
    };
    let (found, ()) = tokio::join!(broker.fetch(Source::Execution, "w#1", 4, LONG), later);
    assert_eq!(ids(&found.unwrap()), ["a"]);
}

pub(crate) async fn an_empty_fetch_ends_when_its_time_is_up<B: Broker>(broker: B, _: Clock) {
    for source in [Source::Execution, Source::Ingress] {
        assert_eq!(broker.fetch(source, "w#1", 4, Micros::from_millis(5)).await.unwrap(), []);
    }
}

pub(crate) async fn the_control_arm_takes_ingress_in_arrival_order<B: Broker>(broker: B, clock: Clock) {
    broker.submit(&[body("a"), body("b"), body("c")]).await.unwrap();
    let before = clock.now();
    let first = broker.fetch(Source::Ingress, "w#1", 2, Micros::ZERO).await.unwrap();
    let second = broker.fetch(Source::Ingress, "w#2", 2, Micros::ZERO).await.unwrap();
    assert_eq!((ids(&first), ids(&second)), (vec!["a", "b"], vec!["c"]));
    assert!(first[0].rank.score == 0.0 && first[0].dispatched >= before);
    assert_eq!(first[0].dispatched, first[0].record.admitted);
}

pub(crate) async fn a_blocked_control_arm_wakes_on_submit<B: Broker>(broker: B, clock: Clock) {
    let later = async {
        clock.sleep(Micros::from_millis(20)).await;
        broker.submit(&[body("a")]).await.unwrap();
    };
    let (found, ()) = tokio::join!(broker.fetch(Source::Ingress, "w#1", 4, LONG), later);
    assert_eq!(ids(&found.unwrap()), ["a"]);
}

pub(crate) async fn the_control_arm_dead_letters_what_it_cannot_read<B: Broker>(broker: B, clock: Clock) {
    let bad = Bytes::from_static(b"{\"id\": 7}");
    broker.submit(&[bad.clone(), body("a")]).await.unwrap();
    let found = broker.fetch(Source::Ingress, "w#1", 4, Micros::ZERO).await.unwrap();
    assert_eq!(ids(&found), ["a"]);
    let letters = broker.dead(EntryId::ZERO, 9).await.unwrap();
    assert_eq!((letters.len(), letters[0].letter.reason, &letters[0].raw), (1, DeadReason::Malformed, &bad));
    assert_eq!(broker.snapshot(clock.now()).await.unwrap().counter("rejected"), 1);
}
