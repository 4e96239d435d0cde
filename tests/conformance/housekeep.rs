//! `housekeep`: retention of results, finished ids and silent workers.

use super::kit::{DAY, beat, complete, running};
use tq::broker::Broker;
use tq::clock::Clock;
use tq::model::{EntryId, Micros};

pub(crate) async fn results_go_after_their_retention<B: Broker>(broker: B, clock: Clock) {
    let delivery = running(&broker, &clock, &["a"]).await.remove(0);
    complete(&broker, &clock, &delivery).await;
    let later = clock.now() + Micros::from_secs(3_600);
    let count = async || broker.results(EntryId::ZERO, 9).await.unwrap().len();
    broker.housekeep(later, Micros::from_secs(7_200), DAY, DAY).await.unwrap();
    assert_eq!(count().await, 1);
    broker.housekeep(later, Micros::ZERO, DAY, DAY).await.unwrap();
    assert_eq!(count().await, 1, "zero keeps for ever");
    broker.housekeep(later, Micros::from_secs(60), DAY, DAY).await.unwrap();
    assert_eq!(count().await, 0);
}

pub(crate) async fn silent_workers_leave_the_register<B: Broker>(broker: B, clock: Clock) {
    let now = clock.now();
    broker.extend(&beat("old#1", 1), &[], now - Micros::from_secs(61)).await.unwrap();
    broker.extend(&beat("new#1", 2), &[], now - Micros::from_secs(5)).await.unwrap();
    broker.housekeep(now, DAY, DAY, Micros::from_secs(60)).await.unwrap();
    let seen = broker.snapshot(now).await.unwrap();
    assert_eq!(seen.workers.iter().map(|one| one.beat.worker.as_str()).collect::<Vec<_>>(), ["new#1"]);
}

pub(crate) async fn unfinished_work_is_never_dropped<B: Broker>(broker: B, clock: Clock) {
    running(&broker, &clock, &["a"]).await;
    super::kit::pending(&broker, &clock, &["b"]).await;
    broker.housekeep(clock.now() + DAY * 30, DAY, DAY, DAY).await.unwrap();
    let seen = broker.snapshot(clock.now()).await.unwrap();
    assert_eq!((seen.unfinished, seen.pending, seen.in_flight_counted), (2, 1, 1));
}
