//! Policy state: it travels inside the move that it belongs to.

use super::kit::{batch, dispatched, pending, read, submitted};
use tq::broker::{AdmitItem, Admitted, Broker, DispatchBatch};
use tq::clock::Clock;
use tq::model::{EntryId, Epoch, StateChange};

fn set(field: &str, value: &str) -> StateChange {
    (field.into(), Some(value.into()))
}

async fn loaded<B: Broker>(broker: &B) -> Vec<(String, String)> {
    let mut state = broker.policy_load().await.unwrap();
    state.sort();
    state
}

pub(crate) async fn admission_and_dispatch_save_and_remove<B: Broker>(broker: B, clock: Clock) {
    let mut first = batch(vec![], EntryId::ZERO, &clock);
    first.changes = vec![set("clock", "1.5"), set("tag:\u{e4} b", "2"), set("gone", "")];
    broker.admit(Epoch::NONE, &first).await.unwrap();
    let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned());
    assert_eq!(loaded(&broker).await, [pair("clock", "1.5"), pair("gone", ""), pair("tag:\u{e4} b", "2")]);
    let changes = vec![set("clock", "3"), ("gone".into(), None), ("never".into(), None)];
    let second = DispatchBatch { chosen: vec![], window: None, changes, now: clock.now() };
    broker.dispatch(Epoch::NONE, &second).await.unwrap();
    assert_eq!(loaded(&broker).await, [pair("clock", "3"), pair("tag:\u{e4} b", "2")]);
}

pub(crate) async fn a_refused_batch_saves_nothing<B: Broker>(broker: B, clock: Clock) {
    pending(&broker, &clock, &["a"]).await;
    let entry = submitted(&broker, &["a"]).await.remove(0);
    let (rank, record) = read(&entry, 0.0, clock.now());
    let mut twice = batch(vec![AdmitItem::Pending { rank, record }], entry.id, &clock);
    twice.changes = vec![set("clock", "9")];
    assert_eq!(broker.admit(Epoch::NONE, &twice).await, Ok(Admitted::Duplicates(vec![0])));
    assert_eq!(loaded(&broker).await, []);
    dispatched(&broker, &clock, &[]).await;
    assert_eq!(loaded(&broker).await, []);
}
