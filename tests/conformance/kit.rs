//! What the bodies share: tasks, batches, and the steps that bring a task to where a body needs it.

use bytes::Bytes;
use tq::broker::{AdmitBatch, AdmitItem, Admitted, Broker, DispatchBatch, Dispatched, Fate, Retry, Source, WorkerBeat};
use tq::clock::Clock;
use tq::model::outcome::{Completion, Dead, DeadLetter, DeadReason, Delivery};
use tq::model::wire::{self, IngressEntry};
use tq::model::{EntryId, Epoch, Micros, Rank, Record};

pub(crate) const DAY: Micros = Micros::from_secs(86_400);
pub(crate) const LONG: Micros = Micros::from_secs(20);
pub(crate) const WORKER: &str = "w#1";

pub(crate) fn body(id: &str) -> Bytes {
    format!(r#"{{"id":"{id}","tenant":"t","service_us":500,"submitted_us":1000000}}"#).into()
}

/// The rank and record that an ingress entry gets with `score`.
pub(crate) fn read(entry: &IngressEntry, score: f64, now: Micros) -> (Rank, Record) {
    let task = wire::read(entry, 1 << 20, now).expect("the kit sends good tasks");
    (Rank::new(score, task.member()), Record::of(&task, now, 3))
}

/// A batch of `items` that ends at `upto`.
pub(crate) fn batch(items: Vec<AdmitItem>, upto: EntryId, clock: &Clock) -> AdmitBatch {
    AdmitBatch { items, upto, changes: vec![], now: clock.now(), done_retention: DAY }
}

/// Submits tasks with these ids and reads them back.
pub(crate) async fn submitted<B: Broker>(broker: &B, ids: &[&str]) -> Vec<IngressEntry> {
    let bodies: Vec<Bytes> = ids.iter().map(|id| body(id)).collect();
    let entries = broker.submit(&bodies).await.unwrap();
    let read = broker.ingress_read(EntryId::ZERO, 1_000, Micros::ZERO).await.unwrap();
    read.into_iter().filter(|entry| entries.contains(&entry.id)).collect()
}

/// Submits and admits tasks with these ids, at scores 0, 1, 2 …
pub(crate) async fn pending<B: Broker>(broker: &B, clock: &Clock, ids: &[&str]) -> Vec<Rank> {
    let entries = submitted(broker, ids).await;
    let placed: Vec<_> = (0u32..).zip(&entries).map(|(n, entry)| read(entry, f64::from(n), clock.now())).collect();
    let ranks = placed.iter().map(|(rank, _)| rank.clone()).collect();
    let items = placed.into_iter().map(|(rank, record)| AdmitItem::Pending { rank, record }).collect();
    let upto = entries.last().map_or(EntryId::ZERO, |entry| entry.id);
    assert_eq!(broker.admit(Epoch::NONE, &batch(items, upto, clock)).await, Ok(Admitted::Done));
    ranks
}

/// Dispatches these ranks without a window.
pub(crate) async fn dispatched<B: Broker>(broker: &B, clock: &Clock, ranks: &[Rank]) -> Dispatched {
    let chosen = DispatchBatch { chosen: ranks.to_vec(), window: None, changes: vec![], now: clock.now() };
    broker.dispatch(Epoch::NONE, &chosen).await.unwrap()
}

pub(crate) async fn fetched<B: Broker>(broker: &B, worker: &str, count: usize) -> Vec<Delivery> {
    broker.fetch(Source::Execution, worker, count, Micros::ZERO).await.unwrap()
}

/// Brings tasks with these ids into the hands of [`WORKER`].
pub(crate) async fn running<B: Broker>(broker: &B, clock: &Clock, ids: &[&str]) -> Vec<Delivery> {
    let ranks = pending(broker, clock, ids).await;
    assert_eq!(dispatched(broker, clock, &ranks).await.missing, [0; 0]);
    let deliveries = fetched(broker, WORKER, ids.len()).await;
    assert_eq!(deliveries.len(), ids.len());
    deliveries
}

/// A completion that took 700 µs.
pub(crate) fn completion(delivery: &Delivery, clock: &Clock) -> Completion {
    let finished = clock.now();
    Completion { delivery: delivery.clone(), started: finished - Micros(700), finished, worker: WORKER.into() }
}

pub(crate) async fn complete<B: Broker>(broker: &B, clock: &Clock, delivery: &Delivery) -> Vec<usize> {
    let batch = [completion(delivery, clock)];
    broker.complete(Source::Execution, &batch, clock.now()).await.unwrap().duplicates
}

pub(crate) fn dead(delivery: &Delivery, clock: &Clock) -> Box<Dead> {
    let member = delivery.member();
    let letter = DeadLetter {
        id: member.id().into(),
        tenant: member.tenant().into(),
        reason: DeadReason::HandlerFailed,
        detail: "broken".into(),
        attempts: member.attempt(),
        at_us: clock.now(),
        submitted_us: Some(member.submitted()),
        arrival: member.arrival(),
        last_attempt: Some(delivery.entry),
        last_worker: Some(WORKER.into()),
    };
    Box::new(Dead { letter, raw: delivery.record.body.clone() })
}

/// The rank of the next attempt.
pub(crate) fn again(delivery: &Delivery) -> Rank {
    Rank::new(delivery.rank.score, delivery.member().with_counts(delivery.member().attempt() + 1, 0))
}

/// What the worker that holds `delivery` says of it.
pub(crate) fn by_worker(delivery: &Delivery, fate: Fate, handler_failed: bool) -> Retry {
    Retry {
        entry: delivery.entry,
        id: delivery.member().id().into(),
        fate,
        min_idle: None,
        handler_failed,
        spent: handler_failed,
    }
}

/// Ends an attempt as the worker says; whether it was live.
pub(crate) async fn ended<B: Broker>(broker: &B, clock: &Clock, delivery: &Delivery, fate: Fate) -> bool {
    let retry = by_worker(delivery, fate, true);
    broker.retry(&[retry], clock.now()).await.unwrap().stale.is_empty()
}

pub(crate) fn beat(worker: &str, slots: u32) -> WorkerBeat {
    WorkerBeat { worker: worker.into(), slots, busy: 0 }
}

pub(crate) fn ids(deliveries: &[Delivery]) -> Vec<&str> {
    deliveries.iter().map(|delivery| delivery.member().id()).collect()
}

/// Waits until `state` holds.
pub(crate) async fn eventually(clock: &Clock, what: &str, mut state: impl AsyncFnMut() -> bool) {
    let until = clock.raw() + Micros::from_secs(30);
    while !state().await {
        assert!(clock.raw() < until, "it never came about that {what}");
        clock.sleep(Micros::from_millis(3)).await;
    }
}
