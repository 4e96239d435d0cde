//! Case 15 (`acknowledged entries are freed, nothing unread is trimmed`) and the order of ranks, on a real Redis.

use crate::support::redis::{connect, server};
use bytes::Bytes;
use proptest::prelude::*;
use tq::broker::redis::RedisBroker;
use tq::broker::{AdmitBatch, AdmitItem, Admitted, Broker, DispatchBatch, Source};
use tq::lab::harness::private_redis::PrivateRedis;
use tq::model::outcome::{Completion, Delivery};
use tq::model::{EntryId, Epoch, Member, Micros, Rank, Record, Task};

const NOW: Micros = Micros(1_714_521_600_000_000);
const DAY: Micros = Micros::from_secs(86_400);
const BLOCK: Micros = Micros::from_secs(20);

fn task(id: &str, submitted: i64, arrival: EntryId, body: &Bytes) -> Task {
    Task {
        id: id.into(),
        tenant: "a".into(),
        kind: "sim".into(),
        priority: 0,
        cost: Micros(1),
        deadline: None,
        max_retries: None,
        submitted: Micros(submitted),
        not_before: None,
        arrival,
        body: body.clone(),
    }
}

/// Admits these tasks without going through ingress.
async fn admit(broker: &RedisBroker, ranks: &[Rank], body: &Bytes) {
    let record = Record { admitted: NOW, max_retries: 3, kind: "sim".into(), body: body.clone() };
    let item = |rank: &Rank| AdmitItem::Pending { rank: rank.clone(), record: record.clone() };
    let batch = AdmitBatch {
        items: ranks.iter().map(item).collect(),
        upto: EntryId::ZERO,
        changes: vec![],
        now: NOW,
        done_retention: DAY,
    };
    assert_eq!(broker.admit(Epoch(1), &batch).await.unwrap(), Admitted::Done);
}

fn ranks(from: usize, n: usize, body: &Bytes) -> Vec<Rank> {
    let rank = |n: usize| {
        let task = task(&format!("t{n}"), NOW.0, EntryId::new(1, n as u64), body);
        Rank::new(n as f64, task.member())
    };
    (from..from + n).map(rank).collect()
}

async fn dispatch(broker: &RedisBroker, chosen: Vec<Rank>) {
    let batch = DispatchBatch { chosen, window: None, changes: vec![], now: NOW };
    assert!(broker.dispatch(Epoch(1), &batch).await.unwrap().missing.is_empty());
}

async fn complete(broker: &RedisBroker, deliveries: &[Delivery]) {
    let done = |delivery: &Delivery| Completion {
        delivery: delivery.clone(),
        started: NOW,
        finished: NOW + Micros(1),
        worker: "w#1".into(),
    };
    let batch: Vec<Completion> = deliveries.iter().map(done).collect();
    assert!(broker.complete(Source::Execution, &batch, NOW).await.unwrap().duplicates.is_empty());
}

fn used_memory(redis: &PrivateRedis) -> f64 {
    let output = std::process::Command::new("redis-cli")
        .arg("-s")
        .arg(redis.socket())
        .args(["INFO", "memory"])
        .output()
        .expect("redis-cli stands beside redis-server");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.lines().find_map(|line| line.strip_prefix("used_memory:")).unwrap().trim().parse().unwrap()
}

#[tokio::test]
async fn everything_is_freed_after_twenty_thousand_tasks() {
    let Some(redis) = server() else { return };
    // Results and finished ids are kept for their retention on purpose; they are measured apart.
    let broker = connect(&redis).await;
    let body = Bytes::from(vec![b'x'; 1_024]);
    let start = used_memory(&redis);
    for round in 0..20 {
        let chosen = ranks(round * 1_000, 1_000, &body);
        admit(&broker, &chosen, &body).await;
        dispatch(&broker, chosen).await;
        let mut left = 1_000;
        while left > 0 {
            let taken = broker.fetch(Source::Execution, "w#1", 250, BLOCK).await.unwrap();
            assert!(!taken.is_empty(), "{left} dispatched tasks of round {round} are gone");
            complete(&broker, &taken).await;
            left -= taken.len();
        }
    }
    let seen = broker.snapshot(NOW).await.unwrap();
    assert_eq!((seen.execution_entries, seen.unfinished, seen.pending, seen.in_flight), (0, 0, 0, 0));
    assert_eq!(seen.counter("completed"), 20_000);
    broker.reset().await.unwrap();
    let end = used_memory(&redis);
    assert!(end < start * 1.1 + 2e6, "{start} bytes before, {end} after 20 MB of tasks");
}

#[tokio::test]
async fn a_dead_consumer_and_a_long_backlog_lose_nothing() {
    let Some(redis) = server() else { return };
    let broker = connect(&redis).await;
    let body = Bytes::from_static(b"{}");
    let all = ranks(0, 6_000, &body);
    admit(&broker, &all, &body).await;
    dispatch(&broker, all).await;
    let held = broker.fetch(Source::Execution, "dead#1", 100, BLOCK).await.unwrap();
    assert_eq!(held.len(), 100);
    // 5,000 pass the hundred by, past the bound behind which entries are deleted singly; 900 are never read.
    for _ in 0..20 {
        let taken = broker.fetch(Source::Execution, "w#1", 250, BLOCK).await.unwrap();
        assert_eq!(taken.len(), 250);
        complete(&broker, &taken).await;
    }
    let seen = broker.snapshot(NOW).await.unwrap();
    assert_eq!((seen.in_flight, seen.in_flight_counted, seen.unfinished), (1_000, 1_000, 1_000));
    assert!(seen.execution_entries <= 1_000 + 4_096, "{} entries lie about", seen.execution_entries);
    let expired = broker.expired(Micros::ZERO, 1_000).await.unwrap();
    assert_eq!(expired.iter().map(|(delivery, _)| delivery.clone()).collect::<Vec<_>>(), held);
    let rest = broker.fetch(Source::Execution, "w#1", 2_000, BLOCK).await.unwrap();
    assert_eq!(rest.len(), 900);
    complete(&broker, &rest).await;
    complete(&broker, &held).await;
    let seen = broker.snapshot(NOW).await.unwrap();
    assert_eq!((seen.execution_entries, seen.unfinished, seen.counter("completed")), (0, 0, 6_000));
}

fn any_rank() -> impl Strategy<Value = Rank> {
    let score = prop_oneof![
        Just(f64::INFINITY),
        Just(f64::NEG_INFINITY),
        Just(0.0),
        Just(-0.0),
        Just(f64::NAN),
        Just(1.0),
        any::<f64>(),
        (0i64..1 << 53).prop_map(|us| us as f64),
        0.0..1e6f64,
    ];
    (score, 0i64..3, any::<(u64, u64)>(), "[a-cé\\u{10ffff}_-]{1,6}").prop_map(|(score, submitted, arrival, id)| {
        let task = task(&id, submitted, EntryId::new(arrival.0, arrival.1), &Bytes::new());
        Rank::new(score, Member::of(&task))
    })
}

/// Redis keeps the order that `Rank` says, whatever the scores, and a scan from any rank goes on right behind it.
#[test]
fn the_order_in_redis_is_the_order_of_ranks() {
    let Some(redis) = server() else { return };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let broker = runtime.block_on(connect(&redis));
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig { cases: 64, ..ProptestConfig::default() });
    let batches = (proptest::collection::vec(any_rank(), 1..60), any_rank(), 1usize..20);
    let held = runner.run(&batches, |(found, from, chunk)| {
        let mut unique: Vec<Rank> = Vec::new();
        for rank in found {
            if !unique.iter().any(|other| other.member.id() == rank.member.id()) {
                unique.push(rank);
            }
        }
        let (scanned, behind) = runtime.block_on(async {
            broker.reset().await.unwrap();
            admit(&broker, &unique, &Bytes::new()).await;
            let mut scanned: Vec<Rank> = Vec::new();
            loop {
                let next = broker.pending_scan(scanned.last(), chunk).await.unwrap();
                if next.is_empty() {
                    break;
                }
                scanned.extend(next);
            }
            (scanned, broker.pending_scan(Some(&from), 100).await.unwrap())
        });
        unique.sort();
        prop_assert_eq!(&scanned, &unique);
        let later: Vec<Rank> = unique.into_iter().filter(|rank| *rank > from).collect();
        prop_assert_eq!(behind, later);
        Ok(())
    });
    if let Err(error) = held {
        panic!("{error}");
    }
}
