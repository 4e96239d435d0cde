//! The fence: a superseded term can do nothing, for good.

use super::kit::{batch, pending, read, submitted};
use tq::broker::{AdmitItem, Broker, BrokerError, DispatchBatch, Grant};
use tq::clock::Clock;
use tq::model::{Epoch, Micros};

fn refused(epoch: u64, fence: u64) -> BrokerError {
    BrokerError::Fenced { epoch: Epoch(epoch), fence: Epoch(fence) }
}

pub(crate) async fn a_lower_epoch_may_not_admit<B: Broker>(broker: B, clock: Clock) {
    broker.promote(Epoch(4), clock.now(), 1).await.unwrap();
    let entry = submitted(&broker, &["a"]).await.remove(0);
    let (rank, record) = read(&entry, 0.0, clock.now());
    let mut one = batch(vec![AdmitItem::Pending { rank, record }], entry.id, &clock);
    one.changes = vec![("k".into(), Some("v".into()))];
    assert_eq!(broker.admit(Epoch(3), &one).await, Err(refused(3, 4)));
    let seen = broker.snapshot(clock.now()).await.unwrap();
    assert_eq!((seen.ingress, seen.pending, seen.unfinished, seen.fence), (1, 0, 0, Epoch(4)));
    assert_eq!(broker.policy_load().await.unwrap(), []);
    assert!(broker.admit(Epoch(4), &one).await.is_ok());
}

pub(crate) async fn a_lower_epoch_may_not_dispatch<B: Broker>(broker: B, clock: Clock) {
    let ranks = pending(&broker, &clock, &["a"]).await;
    let changes = vec![("k".into(), Some("v".into()))];
    let one = DispatchBatch { chosen: ranks, window: None, changes, now: clock.now() };
    let none = DispatchBatch { now: clock.now(), ..DispatchBatch::default() };
    broker.dispatch(Epoch(2), &none).await.unwrap();
    assert_eq!(broker.dispatch(Epoch(1), &one).await, Err(refused(1, 2)));
    let seen = broker.snapshot(clock.now()).await.unwrap();
    assert_eq!((seen.pending, seen.in_flight, seen.fence), (1, 0, Epoch(2)));
    assert_eq!(broker.policy_load().await.unwrap(), []);
}

pub(crate) async fn a_lower_epoch_may_not_promote<B: Broker>(broker: B, clock: Clock) {
    let entry = submitted(&broker, &["a"]).await.remove(0);
    let (rank, record) = read(&entry, 0.0, clock.now());
    let one = batch(vec![AdmitItem::Delayed { rank, record, due: Micros(1) }], entry.id, &clock);
    broker.admit(Epoch(9), &one).await.unwrap();
    assert_eq!(broker.promote(Epoch(8), clock.now(), 9).await, Err(refused(8, 9)));
    assert_eq!(broker.snapshot(clock.now()).await.unwrap().delayed, 1);
    assert_eq!(broker.promote(Epoch(10), clock.now(), 9).await.unwrap().promoted.len(), 1);
    assert_eq!(broker.snapshot(clock.now()).await.unwrap().fence, Epoch(10));
}

pub(crate) async fn without_an_election_the_fence_is_inert<B: Broker>(broker: B, clock: Clock) {
    broker.promote(Epoch(5), clock.now(), 1).await.unwrap();
    broker.promote(Epoch::NONE, clock.now(), 1).await.unwrap();
    assert_eq!(broker.snapshot(clock.now()).await.unwrap().fence, Epoch(5));
}

pub(crate) async fn a_grant_raises_the_fence<B: Broker>(broker: B, clock: Clock) {
    for owner in ["one", "two"] {
        let Grant::Granted(epoch) = broker.lease_acquire(owner, Micros::from_secs(9)).await.unwrap() else {
            panic!("nobody holds the lease")
        };
        assert_eq!(broker.snapshot(clock.now()).await.unwrap().fence, epoch);
        broker.lease_release(owner, epoch).await.unwrap();
    }
    assert_eq!(broker.promote(Epoch(1), clock.now(), 1).await, Err(refused(1, 2)));
}

pub(crate) async fn no_term_is_granted_below_the_fence<B: Broker>(broker: B, clock: Clock) {
    broker.promote(Epoch(7), clock.now(), 1).await.unwrap();
    let grant = broker.lease_acquire("one", Micros::from_secs(9)).await.unwrap();
    assert_eq!(grant, Grant::Granted(Epoch(8)));
}
