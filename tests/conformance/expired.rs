//! `expired`: deliveries whose attempt lease ran out, with the worker that held them.

use super::kit::{complete, dispatched, eventually, fetched, pending, running};
use tq::broker::Broker;
use tq::clock::Clock;
use tq::model::Micros;

pub(crate) async fn an_idle_attempt_expires_with_its_worker<B: Broker>(broker: B, clock: Clock) {
    let delivery = running(&broker, &clock, &["a"]).await.remove(0);
    assert_eq!(broker.expired(Micros::from_secs(3_600), 9).await.unwrap(), []);
    let idle = Micros::from_millis(20);
    eventually(&clock, "the attempt expires", async || !broker.expired(idle, 9).await.unwrap().is_empty()).await;
    assert_eq!(broker.expired(idle, 9).await.unwrap(), [(delivery, "w#1".to_owned())]);
}

pub(crate) async fn at_most_count_oldest_first<B: Broker>(broker: B, clock: Clock) {
    let deliveries = running(&broker, &clock, &["a", "b", "c"]).await;
    let found = broker.expired(Micros::ZERO, 2).await.unwrap();
    assert_eq!(found.into_iter().map(|(held, _)| held).collect::<Vec<_>>(), deliveries[..2]);
}

pub(crate) async fn what_nobody_holds_does_not_expire<B: Broker>(broker: B, clock: Clock) {
    let ranks = pending(&broker, &clock, &["a", "b"]).await;
    dispatched(&broker, &clock, &ranks).await;
    assert_eq!(broker.expired(Micros::ZERO, 9).await.unwrap(), []);
    let delivery = fetched(&broker, "w#1", 1).await.remove(0);
    assert_eq!(broker.expired(Micros::ZERO, 9).await.unwrap().len(), 1);
    complete(&broker, &clock, &delivery).await;
    assert_eq!(broker.expired(Micros::ZERO, 9).await.unwrap(), []);
}
