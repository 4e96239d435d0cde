//! `reset`: the namespace goes, its epoch and fence stay.

use super::kit::{complete, dead, ended, pending, running};
use tq::broker::{Broker, Fate, Grant};
use tq::clock::Clock;
use tq::model::{EntryId, Epoch, Micros};

pub(crate) async fn everything_goes_but_epoch_and_fence<B: Broker>(broker: B, clock: Clock) {
    let ttl = Micros::from_secs(30);
    assert_eq!(broker.lease_acquire("one", ttl).await.unwrap(), Grant::Granted(Epoch(1)));
    broker.promote(Epoch(1), clock.now(), 1).await.unwrap();
    let deliveries = running(&broker, &clock, &["a", "b", "c"]).await;
    complete(&broker, &clock, &deliveries[0]).await;
    ended(&broker, &clock, &deliveries[1], Fate::Dead(dead(&deliveries[1], &clock))).await;
    pending(&broker, &clock, &["d"]).await;
    broker.reset().await.unwrap();
    let seen = broker.snapshot(clock.now()).await.unwrap();
    assert_eq!((seen.epoch, seen.fence), (Epoch(1), Epoch(1)));
    assert_eq!((seen.ingress, seen.pending, seen.unfinished, seen.in_flight, seen.in_flight_counted), (0, 0, 0, 0, 0));
    assert!(seen.tenants.is_empty() && seen.counters.values().all(|count| *count == 0));
    assert_eq!(broker.results(EntryId::ZERO, 9).await.unwrap(), []);
    assert_eq!(broker.dead(EntryId::ZERO, 9).await.unwrap(), []);
    assert_eq!(broker.known(&["a", "b", "c", "d"], clock.now()).await.unwrap(), [false; 4]);
    assert_eq!(broker.lease_acquire("two", ttl).await.unwrap(), Grant::Granted(Epoch(2)));
}

pub(crate) async fn the_namespace_works_on_after_it<B: Broker>(broker: B, clock: Clock) {
    running(&broker, &clock, &["a"]).await;
    broker.reset().await.unwrap();
    let delivery = running(&broker, &clock, &["a"]).await.remove(0);
    assert_eq!(complete(&broker, &clock, &delivery).await, [0; 0]);
}
