//! Behaviours that users of other queues reported broken, on the whole stack in virtual time. The numbers are those of
//! the list in `docs/testing.md`; every case also asserts conservation by task id.

use crate::support::cluster::{Cluster, scheduling, working};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::Arc;
use tq::broker::memory::MemoryBroker;
use tq::broker::{Broker, BrokerError};
use tq::clock::Clock;
use tq::config::LeaderElectionConfig;
use tq::engine;
use tq::model::{EntryId, Micros};
use tq::policy::PolicyKind;
use tq::sim::faults::Loss;
use tq::worker;

fn ms(n: i64) -> Micros {
    Micros::from_millis(n)
}

fn task(id: impl Into<String>, priority: u8, service_ms: u64) -> Value {
    json!({ "id": id.into(), "priority": priority, "service_us": service_ms * 1_000 })
}

/// Each submitted id ended exactly once.
async fn assert_conserved(cluster: &Cluster<MemoryBroker>, submitted: usize) {
    let snapshot = cluster.ended(submitted as u64).await;
    let results = cluster.results().await;
    let ids: BTreeSet<_> = results.iter().map(|entry| entry.result.id.clone()).collect();
    assert_eq!(ids.len(), results.len(), "a task was recorded twice");
    assert_eq!(results.len() as u64 + snapshot.dead, submitted as u64);
    assert_eq!(
        (snapshot.pending, snapshot.delayed, snapshot.in_flight, snapshot.ingress),
        (0, 0, 0, 0),
        "{snapshot:#?}"
    );
}

fn short_leases(mut settings: engine::Settings) -> engine::Settings {
    settings.recovery.min_idle = ms(1_000);
    settings.recovery.interval = ms(100);
    let election = LeaderElectionConfig::default();
    settings.election =
        LeaderElectionConfig { ttl: ms(1_000), renew_interval: ms(300), retry_interval: ms(200), ..election };
    settings
}

/// Case 4: a failed task keeps its rank and does not queue behind the lower ones.
#[test]
fn a_failed_high_starts_again_before_any_waiting_low() {
    Clock::run_virtual(async |clock| {
        let cluster = Cluster::in_memory(clock);
        let lows = (0..100).map(|n| task(format!("low-{n}"), 0, 10));
        cluster.submit(lows.chain([task("fail-high", 9, 10)])).await;
        let _scheduler = cluster.scheduler("s", scheduling(PolicyKind::Priority, 1));
        let _worker = cluster.worker("w", working(1));
        assert_conserved(&cluster, 101).await;
        let order = cluster.order();
        let first = order.iter().position(|id| id == "fail-high").unwrap();
        assert_eq!(order[first + 1], "fail-high", "{:?}", &order[..8]);
    });
}

/// Case 4, the worker killed instead; and with edf, whose deadline must not move.
#[test]
fn a_reclaimed_urgent_task_starts_again_before_any_waiting_other() {
    for policy in [PolicyKind::Priority, PolicyKind::Edf] {
        Clock::run_virtual(async |clock| {
            let cluster = Cluster::in_memory(clock);
            let urgent = json!({ "id": "urgent", "priority": 9, "deadline_in_us": 1, "service_us": 50_000 });
            cluster.submit([urgent]).await;
            let _scheduler = cluster.scheduler("s", short_leases(scheduling(policy, 1)));
            let first = cluster.worker("first", working(1));
            cluster.started("urgent").await;
            cluster.submit((0..50).map(|n| task(format!("other-{n}"), 0, 10))).await;
            first.faults.freeze();
            let _second = cluster.worker("second", working(1));
            assert_conserved(&cluster, 51).await;
            assert_eq!(cluster.order()[..2], ["urgent", "urgent"], "{policy}");
            assert_eq!(cluster.results().await[0].result.attempts, 2);
        });
    }
}

/// Case 5: at most `prefetch` lower tasks start after a higher one was enqueued.
#[test]
fn inversions_are_bounded_by_the_prefetch() {
    for prefetch in [0u64, 1, 8] {
        Clock::run_virtual(async |clock| {
            let cluster = Cluster::in_memory(clock);
            cluster.submit((0..20).map(|n| task(format!("low-{n}"), 0, 200))).await;
            let _scheduler = cluster.scheduler("s", scheduling(PolicyKind::Priority, 1 + prefetch));
            let _worker = cluster.worker("w", working(1));
            cluster.started("low-0").await;
            cluster.submit([task("high", 9, 10)]).await;
            assert_conserved(&cluster, 21).await;
            let overtaking = cluster.order().iter().position(|id| id == "high").unwrap() - 1;
            assert_eq!(overtaking as u64, prefetch);
        });
    }
}

/// Case 9: whichever half of a move is lost, every task ends and is recorded once.
#[test]
fn a_lost_request_or_reply_of_any_move_strands_nothing() {
    let moves =
        ["admit", "dispatch", "promote", "complete", "retry", "fetch", "extend", "expired", "policy_load", "snapshot"];
    for operation in moves {
        for (loss, after) in [(Loss::Request, 0), (Loss::Request, 2), (Loss::Reply, 0), (Loss::Reply, 2)] {
            Clock::run_virtual(async |clock| {
                let cluster = Cluster::in_memory(clock);
                let scheduler = cluster.scheduler("s", short_leases(scheduling(PolicyKind::Wfq, 4)));
                let mut beating = working(4);
                beating.worker.heartbeat_interval = ms(50);
                let worker = cluster.worker("w", beating);
                scheduler.faults.lose(operation, after, loss);
                worker.faults.lose(operation, after, loss);
                for wave in 0..4 {
                    cluster.submit((0..5).map(|n| task(format!("fail-{wave}-{n}"), 0, 30))).await;
                    cluster.submit((0..5).map(|n| task(format!("fine-{wave}-{n}"), 0, 30))).await;
                    cluster.clock.sleep(ms(50)).await;
                }
                assert_conserved(&cluster, 40).await;
                let injected = scheduler.faults.injected() + worker.faults.injected();
                assert!(injected > 0 || operation == "policy_load", "{operation} was never called often enough");
            });
        }
    }
}

/// Case 12: a leader that was frozen past its lease is refused; nothing is dispatched twice and epochs only rise.
#[test]
fn a_frozen_leader_that_wakes_up_is_refused() {
    Clock::run_virtual(async |clock| {
        let cluster = Cluster::in_memory(clock);
        let settings = short_leases(scheduling(PolicyKind::Wfq, 4));
        let schedulers = [cluster.scheduler("same", settings.clone()), cluster.scheduler("same", settings)];
        let _worker = cluster.worker("w", working(4));
        let mut epochs = Vec::new();
        for round in 0..20 {
            let leader = cluster.until("somebody leads", |s| s.leader.is_some()).await;
            epochs.push(leader.epoch);
            cluster.submit((0..10).map(|n| task(format!("t-{round}-{n}"), 0, 5))).await;
            // Which of the two leads is not visible from outside: freeze the one whose freezing changes the leader.
            let now = cluster.broker.snapshot(cluster.clock.now()).await.unwrap();
            for scheduler in &schedulers {
                scheduler.faults.freeze();
                cluster.clock.sleep(ms(2_000)).await;
                let then = cluster.broker.snapshot(cluster.clock.now()).await.unwrap();
                scheduler.faults.thaw();
                if then.epoch > now.epoch {
                    break;
                }
            }
            cluster.until("everything ended", |s| s.unfinished == 0 && s.ingress == 0 && s.pending == 0).await;
        }
        assert!(epochs.windows(2).all(|pair| pair[0] < pair[1]), "{epochs:?}");
        assert_conserved(&cluster, 200).await;
        let results = cluster.results().await;
        assert!(results.iter().all(|entry| entry.result.attempts == 1), "something was dispatched twice");
        assert_eq!(cluster.order().len(), 200);
    });
}

/// Case 12, at the store: a write with the old epoch is refused, whatever its sender believes.
#[test]
fn a_write_of_a_superseded_term_is_refused_by_the_store() {
    Clock::run_virtual(async |clock| {
        let broker = MemoryBroker::new(clock.clone());
        let mut grants = Vec::new();
        for owner in ["a", "b"] {
            let grant = broker.lease_acquire(owner, ms(100)).await.unwrap();
            let tq::broker::Grant::Granted(epoch) = grant else { panic!("{grant:?}") };
            grants.push(epoch);
            clock.sleep(ms(101)).await;
        }
        let batch = tq::broker::DispatchBatch { now: clock.now(), ..Default::default() };
        broker.dispatch(grants[1], &batch).await.unwrap();
        let refused = broker.dispatch(grants[0], &batch).await;
        assert!(matches!(refused, Err(BrokerError::Fenced { .. })), "{refused:?}");
    });
}

/// Case 17: a shutdown gives back what it interrupts, and the attempt is not spent.
#[test]
fn a_drained_worker_gives_back_without_spending_the_attempt() {
    Clock::run_virtual(async |clock| {
        let cluster = Cluster::in_memory(clock);
        cluster.submit([json!({ "id": "long", "service_us": 30_000_000, "max_retries": 0 })]).await;
        let _scheduler = cluster.scheduler("s", scheduling(PolicyKind::Fifo, 2));
        let mut settings = working(1);
        settings.worker.shutdown_grace = ms(2_000);
        let first = cluster.worker("first", settings);
        cluster.started("long").await;
        let stopped_at = cluster.clock.now();
        first.stop.cancel();
        let report = first.task.await.unwrap();
        assert!(cluster.clock.now() - stopped_at <= ms(3_000));
        assert_eq!(
            report,
            worker::Report { interrupted: 1, busy_us: report.busy_us, slot_us: report.slot_us, ..Default::default() }
        );
        let second = cluster.worker("second", working(1));
        assert_conserved(&cluster, 1).await;
        let result = &cluster.results().await[0].result;
        assert_eq!((result.attempts, result.interruptions), (1, 1));
        assert!(result.worker.starts_with("second#"));
        assert!(!second.task.is_finished());
    });
}

/// A leader that dies between reading ingress and admitting strands nothing: the next one starts at the front.
#[test]
fn entries_that_a_dead_leader_had_read_are_admitted_once_by_the_next() {
    Clock::run_virtual(async |clock| {
        let cluster = Cluster::in_memory(clock);
        let first = cluster.scheduler("first", short_leases(scheduling(PolicyKind::Fifo, 4)));
        cluster.until("the first leads", |s| s.leader.is_some()).await;
        first.faults.lose("admit", 0, Loss::Request);
        cluster.submit((0..50).map(|n| task(format!("t-{n}"), 0, 1))).await;
        cluster.until("the admission was lost", |_| first.faults.injected() == 1).await;
        first.faults.freeze();
        let _second = cluster.scheduler("second", short_leases(scheduling(PolicyKind::Fifo, 4)));
        let _worker = cluster.worker("w", working(4));
        assert_conserved(&cluster, 50).await;
        assert_eq!(cluster.order().len(), 50);
    });
}

/// Dedupe comes before rank: a flood of repeats moves no virtual clock.
#[test]
fn repeated_ids_are_dropped_and_do_not_move_the_policy() {
    Clock::run_virtual(async |clock| {
        let cluster = Cluster::in_memory(clock);
        let heavy = |id: &str| json!({ "id": id, "tenant": "a", "service_us": 100_000 });
        cluster.submit([heavy("a-1")]).await;
        let _scheduler = cluster.scheduler("s", scheduling(PolicyKind::Wfq, 1));
        cluster.until("admitted", |s| s.counter("admitted") == 1).await;
        cluster.submit((0..100).map(|_| heavy("a-1"))).await;
        cluster.until("dropped", |s| s.counter("duplicate_admissions") == 100).await;
        cluster.submit([heavy("a-2"), json!({ "id": "b-1", "tenant": "b", "service_us": 50_000 })]).await;
        cluster.until("admitted", |s| s.counter("admitted") == 3).await;
        let _worker = cluster.worker("w", working(1));
        assert_conserved(&cluster, 3).await;
        // Finish tags: a-1 at 100, b-1 at 150, a-2 at 200; had the repeats moved the clock, a-2 would stand at 10,200.
        assert_eq!(cluster.order(), ["a-1", "b-1", "a-2"]);
        let tag = |state: &[(String, String)]| state.iter().find(|(field, _)| field == "V").map(|(_, tag)| tag.clone());
        assert_eq!(tag(&cluster.broker.policy_load().await.unwrap()).as_deref(), Some("200000"));
    });
}

/// No polling on the hot path: a completion wakes the dispatcher and a dispatch wakes the worker, so that a slot never idles
/// while a task waits. In virtual time the makespan is then exactly the work.
#[test]
fn a_slot_is_never_idle_while_a_task_waits() {
    Clock::run_virtual(async |clock| {
        let cluster = Cluster::in_memory(clock);
        cluster.submit((0..50).map(|n| task(format!("t-{n}"), 0, 10))).await;
        let _scheduler = cluster.scheduler("s", scheduling(PolicyKind::Fifo, 1));
        let _worker = cluster.worker("w", working(1));
        assert_conserved(&cluster, 50).await;
        let results = cluster.results().await;
        let (first, last) = (results[0].result.started_us, results[49].result.finished_us);
        assert_eq!(last - first, ms(500));
    });
}

/// A panic spends the attempt instead of the slot.
#[test]
fn a_panicking_handler_fails_its_attempt_and_frees_its_slot() {
    struct Panics;
    impl worker::execute::Handler for Panics {
        async fn run(&self, task: &tq::model::outcome::Delivery, _: &Clock) -> Result<(), String> {
            if task.member().id() == "bad" { panic!("on purpose") } else { Ok(()) }
        }
    }
    Clock::run_virtual(async |clock| {
        let cluster = Cluster::in_memory(clock.clone());
        cluster.submit([json!({ "id": "bad", "max_retries": 1 }), json!({ "id": "good" })]).await;
        let _scheduler = cluster.scheduler("s", scheduling(PolicyKind::Fifo, 1));
        let stop = tokio_util::sync::CancellationToken::new();
        let worker = worker::Worker::new(cluster.broker.clone(), clock, "w", working(1), Arc::new(Panics));
        let _task = tokio::spawn(worker.run(stop));
        assert_conserved(&cluster, 2).await;
        let dead = cluster.broker.dead(EntryId::ZERO, 10).await.unwrap();
        assert_eq!((dead[0].letter.id.as_str(), dead[0].letter.attempts), ("bad", 2));
        assert!(dead[0].letter.detail.contains("panicked"));
    });
}
