//! `snapshot` and `time`: what is where.

use super::kit::{complete, dispatched, fetched, pending, submitted};
use tq::broker::{Broker, Snapshot};
use tq::clock::Clock;
use tq::model::Micros;

pub(crate) async fn an_empty_namespace_is_all_zero<B: Broker>(broker: B, clock: Clock) {
    let seen = broker.snapshot(clock.now()).await.unwrap();
    assert!(seen.counters.values().all(|count| *count == 0));
    let counters = seen.counters.clone();
    assert_eq!(seen, Snapshot { counters, ..Snapshot::default() });
}

pub(crate) async fn every_place_is_counted<B: Broker>(broker: B, clock: Clock) {
    let ranks = pending(&broker, &clock, &["a", "b", "c", "d"]).await;
    submitted(&broker, &["e"]).await;
    dispatched(&broker, &clock, &ranks[..3]).await;
    let held = fetched(&broker, "w#1", 2).await;
    complete(&broker, &clock, &held[1]).await;
    let seen = broker.snapshot(clock.now()).await.unwrap();
    assert_eq!((seen.ingress, seen.pending, seen.unfinished), (1, 1, 3));
    assert_eq!((seen.in_flight, seen.in_flight_counted), (2, 2), "one held, one not taken yet");
    assert!((2..=3).contains(&seen.execution_entries));
    assert_eq!((seen.counter("admitted"), seen.counter("dispatched"), seen.counter("freed")), (4, 3, 1));
}

pub(crate) async fn the_clock_of_the_store_goes_on<B: Broker>(broker: B, clock: Clock) {
    let before = broker.time().await.unwrap();
    clock.sleep(Micros::from_millis(2)).await;
    assert!(broker.time().await.unwrap() > before && before > Micros(1_600_000_000_000_000));
}
