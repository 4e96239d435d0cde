//! The Redis broker on a private server: what the generic suite cannot see, because it lies in Redis.

use crate::support::redis::{connect, server};
use bytes::Bytes;
use tq::broker::redis::RedisBroker;
use tq::broker::{
    AdmitBatch, AdmitItem, Admitted, Broker, BrokerError, DispatchBatch, Fate, Grant, Retry, Source, WorkerBeat,
};
use tq::lab::harness::private_redis::PrivateRedis;
use tq::model::outcome::{Completion, Delivery};
use tq::model::wire;
use tq::model::{EntryId, Epoch, Micros, Rank, Record};

const NOW: Micros = Micros(1_714_521_600_000_000);
const BLOCK: Micros = Micros::from_secs(20);

/// A server and a broker on it; `None` where there is no `redis-server`.
async fn broker() -> Option<(PrivateRedis, RedisBroker)> {
    let server = server()?;
    let broker = connect(&server).await;
    Some((server, broker))
}

/// What the private server answers to one command, through its own command line client.
fn cli(redis: &PrivateRedis, command: &[&str]) -> String {
    let output = std::process::Command::new("redis-cli").arg("-s").arg(redis.socket()).args(command).output().unwrap();
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

/// Submits and admits tasks with these ids at scores 0, 1, …; gives back their ranks.
async fn admitted(broker: &RedisBroker, epoch: Epoch, ids: &[String], payload: usize) -> Vec<Rank> {
    let filler = "x".repeat(payload);
    let body = |id: &String| Bytes::from(serde_json::json!({"id": id, "tenant": "a", "payload": filler}).to_string());
    let bodies: Vec<Bytes> = ids.iter().map(body).collect();
    broker.submit(&bodies).await.unwrap();
    let entries = broker.ingress_read(EntryId::ZERO, ids.len(), BLOCK).await.unwrap();
    assert_eq!(entries.len(), ids.len());
    let mut batch = AdmitBatch { upto: entries[entries.len() - 1].id, now: NOW, ..AdmitBatch::default() };
    batch.done_retention = Micros::from_secs(86_400);
    let mut ranks = Vec::new();
    for (score, entry) in entries.iter().enumerate() {
        let task = wire::read(entry, 1 << 20, NOW).unwrap();
        let rank = Rank::new(score as f64, task.member());
        ranks.push(rank.clone());
        batch.items.push(AdmitItem::Pending { rank, record: Record::of(&task, NOW, 3) });
    }
    assert_eq!(broker.admit(epoch, &batch).await.unwrap(), Admitted::Done);
    ranks
}

fn done(delivery: &Delivery) -> Completion {
    Completion { delivery: delivery.clone(), started: NOW, finished: NOW + Micros(5), worker: "w#1".into() }
}

fn ids(n: usize) -> Vec<String> {
    (0..n).map(|n| format!("t{n}")).collect()
}

async fn dispatch(broker: &RedisBroker, chosen: &[Rank]) -> tq::broker::Dispatched {
    let batch = DispatchBatch { chosen: chosen.to_vec(), now: NOW, ..DispatchBatch::default() };
    broker.dispatch(Epoch(1), &batch).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_goes_all_the_way_and_leaves_nothing_behind() {
    let Some((redis, broker)) = broker().await else { return };
    let mut wakes = broker.wakes();
    let ranks = admitted(&broker, Epoch(1), &ids(10), 10).await;
    assert_eq!(broker.pending_scan(None, 100).await.unwrap(), ranks);
    let sent = dispatch(&broker, &ranks).await;
    assert_eq!((sent.considered, sent.missing.len(), sent.dispatched_total), (10, 0, 10));
    let taken = broker.fetch(Source::Execution, "w#1", 100, BLOCK).await.unwrap();
    assert_eq!(taken.iter().map(|d| d.member().id().to_owned()).collect::<Vec<_>>(), ids(10));
    let batch: Vec<Completion> = taken.iter().map(done).collect();
    assert!(broker.complete(Source::Execution, &batch, NOW).await.unwrap().duplicates.is_empty());
    let seen = wakes.wait_for(|wake| wake.freed == 10).await.unwrap().freed;
    assert_eq!(seen, 10);
    let snapshot = broker.snapshot(NOW).await.unwrap();
    assert_eq!((snapshot.unfinished, snapshot.in_flight, snapshot.execution_entries), (0, 0, 0));
    assert_eq!((snapshot.ingress, snapshot.pending, snapshot.counter("completed")), (0, 0, 10));
    assert_eq!(snapshot.tenants["a"].completed, 10);
    assert_eq!(cli(&redis, &["XLEN", "{t}:results"]), "1", "a batch is one entry");
    assert_eq!(broker.results(EntryId::ZERO, 100).await.unwrap().len(), 10);
    assert_eq!(broker.known(&["t3", "new"], NOW).await.unwrap(), [true, false]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lower_epoch_is_fenced_by_every_write_of_a_leader_and_changes_nothing() {
    let Some((_redis, broker)) = broker().await else { return };
    let ranks = admitted(&broker, Epoch(5), &ids(1), 1).await;
    let batch = DispatchBatch { chosen: ranks, now: NOW, ..DispatchBatch::default() };
    let fenced = BrokerError::Fenced { epoch: Epoch(4), fence: Epoch(5) };
    assert_eq!(broker.dispatch(Epoch(4), &batch).await.unwrap_err(), fenced);
    assert_eq!(broker.admit(Epoch(4), &AdmitBatch::default()).await.unwrap_err(), fenced);
    assert_eq!(broker.promote(Epoch(4), NOW, 10).await.unwrap_err(), fenced);
    let snapshot = broker.snapshot(NOW).await.unwrap();
    assert_eq!((snapshot.pending, snapshot.execution_entries, snapshot.fence), (1, 0, Epoch(5)));
}

#[tokio::test(flavor = "multi_thread")]
async fn scripts_are_sent_whole_where_redis_has_forgotten_them() {
    let Some((redis, broker)) = broker().await else { return };
    assert_eq!(cli(&redis, &["SCRIPT", "FLUSH"]), "OK");
    assert_eq!(broker.lease_acquire("a", Micros::from_secs(5)).await.unwrap(), Grant::Granted(Epoch(1)));
    let Grant::Held { owner, left, .. } = broker.lease_acquire("b", Micros::from_secs(5)).await.unwrap() else {
        panic!()
    };
    assert!(owner == "a" && left > Micros::ZERO);
    assert!(!broker.lease_renew("a", Epoch(2), Micros::from_secs(5)).await.unwrap());
    assert!(broker.lease_release("a", Epoch(1)).await.unwrap());
    assert_eq!(broker.lease_acquire("b", Micros::from_secs(5)).await.unwrap(), Grant::Granted(Epoch(2)));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_group_that_somebody_destroyed_is_made_again() {
    let Some((redis, broker)) = broker().await else { return };
    let ranks = admitted(&broker, Epoch(1), &ids(3), 1).await;
    assert_eq!(cli(&redis, &["XGROUP", "DESTROY", "{t}:execution", "workers"]), "1");
    dispatch(&broker, &ranks).await;
    assert_eq!(broker.fetch(Source::Execution, "w#1", 10, BLOCK).await.unwrap().len(), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_retry_returns_at_its_rank_and_only_live_attempts_can_be_retried() {
    let Some((_redis, broker)) = broker().await else { return };
    let ranks = admitted(&broker, Epoch(1), &ids(2), 1).await;
    dispatch(&broker, &ranks).await;
    let taken = broker.fetch(Source::Execution, "w#1", 10, BLOCK).await.unwrap();
    let again = |delivery: &Delivery, min_idle| Retry {
        entry: delivery.entry,
        id: delivery.member().id().into(),
        fate: Fate::Pending(Rank::new(delivery.rank.score, delivery.member().with_counts(2, 0))),
        min_idle,
        handler_failed: true,
        spent: true,
    };
    let early = again(&taken[0], Some(Micros::from_secs(3_600)));
    assert_eq!(broker.retry(&[early], NOW).await.unwrap().stale, [0], "its lease has not run out");
    let retry = again(&taken[0], None);
    assert!(broker.retry(std::slice::from_ref(&retry), NOW).await.unwrap().stale.is_empty());
    assert_eq!(broker.retry(&[retry], NOW).await.unwrap().stale, [0], "it has ended already");
    let sent = dispatch(&broker, &[]).await;
    assert_eq!(sent.returned.len(), 1);
    assert_eq!((sent.returned[0].score, sent.returned[0].member.attempt()), (0.0, 2));
    assert_eq!(broker.expired(Micros::ZERO, 10).await.unwrap().len(), 1);
    let beat = WorkerBeat { worker: "w#1".into(), slots: 4, busy: 1 };
    let lost = broker.extend(&beat, &[taken[0].entry, taken[1].entry], NOW).await.unwrap();
    assert_eq!(lost, [taken[0].entry]);
}
