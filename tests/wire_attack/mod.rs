//! A broken producer cannot hurt: 10,000 malformed or repeated entries among valid work, through the real engine and worker.
//! Valid work is done as if they were not there; each of them is a dead letter with its reason, or a counted duplicate.

mod entries;
mod raw;

use bytes::Bytes;
use entries::{Entry, Expect};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use tokio_util::sync::CancellationToken;
use tq::broker::memory::MemoryBroker;
use tq::broker::redis::RedisBroker;
use tq::broker::{Broker, Snapshot};
use tq::clock::Clock;
use tq::config::RedisConfig;
use tq::lab::harness::private_redis::PrivateRedis;
use tq::model::outcome::{Delivery, TaskResult};
use tq::model::{EntryId, Micros};
use tq::policy::PolicyKind;
use tq::{engine, worker};

const ATTACKS: usize = 10_000;
const BURST: usize = 110;
const DRAINED_WITHIN: Micros = Micros::from_secs(300);

/// Executes by waiting, and keeps what it was given to check it afterwards.
#[derive(Default)]
struct Recorder {
    bodies: Mutex<BTreeMap<String, Vec<Bytes>>>,
}

impl worker::execute::Handler for Recorder {
    async fn run(&self, task: &Delivery, clock: &Clock) -> Result<(), String> {
        let body = task.record.body.clone();
        self.bodies.lock().unwrap().entry(task.member().id().into()).or_default().push(body);
        clock.sleep(task.member().cost()).await;
        Ok(())
    }
}

/// One valid task, then ten attacks, and so on.
fn plan(attacks: usize, without_field: bool) -> Vec<Entry> {
    let attack = |n| entries::attack(n, without_field);
    (0..attacks)
        .flat_map(|n| n.is_multiple_of(10).then(|| entries::valid(n / 10)).into_iter().chain([attack(n)]))
        .collect()
}

/// What was left after a plan had run through engine and worker.
struct Aftermath {
    sent: Vec<EntryId>,
    snapshot: Snapshot,
    results: Vec<TaskResult>,
    dead: Vec<tq::broker::DeadEntry>,
    bodies: BTreeMap<String, Vec<Bytes>>,
}

async fn drained<B: Broker>(broker: &B, clock: &Clock) -> Snapshot {
    let until = clock.now() + DRAINED_WITHIN;
    loop {
        let snapshot = broker.snapshot(clock.now()).await.unwrap();
        let left = snapshot.ingress + snapshot.pending + snapshot.delayed + snapshot.unfinished + snapshot.in_flight;
        if left == 0 {
            return snapshot;
        }
        assert!(clock.now() < until, "not drained: {snapshot:?}");
        clock.sleep(Micros::from_millis(50)).await;
    }
}

/// Runs scheduler and worker on `broker` while `submit` sends the plan burst by burst.
async fn run<B: Broker>(
    broker: B,
    clock: Clock,
    policy: PolicyKind,
    plan: &[Entry],
    mut submit: impl AsyncFnMut(&[Entry]) -> Vec<EntryId>,
) -> Aftermath {
    let mut settings = engine::Settings::default();
    settings.scheduler.policy = policy;
    settings.scheduler.task_bytes_max = entries::TASK_BYTES_MAX;
    let stop = CancellationToken::new();
    let scheduler = engine::Scheduler::new(broker.clone(), clock.clone(), "scheduler", settings);
    let recorder = Arc::new(Recorder::default());
    let worker =
        worker::Worker::new(broker.clone(), clock.clone(), "worker", worker::Settings::default(), recorder.clone());
    let scheduler = tokio::spawn(scheduler.run(stop.clone()));
    let worker = tokio::spawn(worker.run(stop.clone()));
    let mut sent = Vec::new();
    for burst in plan.chunks(BURST) {
        sent.extend(submit(burst).await);
        clock.sleep(Micros::from_millis(2)).await;
    }
    let snapshot = drained(&broker, &clock).await;
    stop.cancel();
    scheduler.await.unwrap().unwrap();
    assert_eq!(worker.await.unwrap().failures, 0);
    let (mut results, mut dead) = (Vec::new(), Vec::new());
    let mut after = EntryId::ZERO;
    while let Some(last) = {
        let page = broker.results(after, 1_000).await.unwrap();
        let last = page.last().map(|entry| entry.entry);
        results.extend(page.into_iter().map(|entry| entry.result));
        last
    } {
        after = last;
    }
    after = EntryId::ZERO;
    while let Some(last) = {
        let page = broker.dead(after, 1_000).await.unwrap();
        let last = page.last().map(|entry| entry.entry);
        dead.extend(page);
        last
    } {
        after = last;
    }
    let bodies = std::mem::take(&mut *recorder.bodies.lock().unwrap());
    Aftermath { sent, snapshot, results, dead, bodies }
}

/// Every entry had exactly the end that it must have, and nothing else is there.
fn check(plan: &[Entry], aftermath: &Aftermath) {
    assert_eq!(aftermath.sent.len(), plan.len());
    let mut results: BTreeMap<&str, &TaskResult> = BTreeMap::new();
    for result in &aftermath.results {
        assert!(results.insert(result.id.as_str(), result).is_none(), "recorded twice: {}", result.id);
    }
    let mut dead: BTreeMap<EntryId, &tq::broker::DeadEntry> = BTreeMap::new();
    for entry in &aftermath.dead {
        assert!(dead.insert(entry.letter.arrival, entry).is_none(), "dead twice: {}", entry.letter.arrival);
    }
    let (mut completed, mut duplicates, mut rejected) = (0, 0, 0);
    for (entry, at) in plan.iter().zip(&aftermath.sent) {
        let raw = entry.task.clone().unwrap_or_default();
        let shown = String::from_utf8_lossy(&raw[..raw.len().min(120)]).into_owned();
        match &entry.expect {
            Expect::Completed(id) => {
                let id = if id.is_empty() { at.to_string() } else { id.clone() };
                let result = results.get(id.as_str()).unwrap_or_else(|| panic!("not completed: {shown}"));
                assert_eq!(result.attempts, 1, "{shown}");
                let bodies = &aftermath.bodies[&id];
                assert!(bodies.len() == 1 && bodies[0] == raw, "the handler got something else than {shown}");
                completed += 1;
            }
            Expect::Duplicate => duplicates += 1,
            Expect::Dead(reason, detail) => {
                let letter = dead.get(at).unwrap_or_else(|| panic!("not in the dead letters: {shown}"));
                assert_eq!(letter.letter.reason, *reason, "{shown}: {}", letter.letter.detail);
                assert!(letter.letter.detail.contains(detail), "{shown}: `{}`, not `{detail}`", letter.letter.detail);
                assert!(raw.starts_with(&letter.raw) && letter.raw.len() == raw.len().min(entries::TASK_BYTES_MAX));
                rejected += 1;
            }
        }
    }
    let snapshot = &aftermath.snapshot;
    let counters = ["admitted", "completed", "duplicate_admissions", "rejected", "retried", "duplicate_completions"];
    let counted = counters.map(|name| snapshot.counter(name));
    assert_eq!(counted, [completed, completed, duplicates, rejected, 0, 0], "{counters:?}: {:?}", snapshot.counters);
    assert_eq!((results.len() as u64, dead.len() as u64, snapshot.dead), (completed, rejected, rejected));
    assert_eq!(completed + duplicates + rejected, plan.len() as u64);
    assert!(rejected > ATTACKS as u64 / 10 * 8 && duplicates > 0, "{completed} {duplicates} {rejected}");
}

/// Runs the plan in virtual time; without `attacked`, what is not work is held back.
fn on_memory(policy: PolicyKind, plan: &[Entry], attacked: bool) -> Aftermath {
    Clock::run_virtual(async |clock| {
        let broker = MemoryBroker::new(clock.clone());
        let sender = broker.clone();
        run(broker, clock, policy, plan, async move |burst| {
            let sent = burst.iter().filter(|entry| attacked || matches!(entry.expect, Expect::Completed(_)));
            let tasks: Vec<Bytes> = sent.map(|entry| entry.task.clone().unwrap_or_default().into()).collect();
            sender.submit(&tasks).await.unwrap()
        })
        .await
    })
}

const POLICIES: [PolicyKind; 4] = [PolicyKind::Fifo, PolicyKind::Priority, PolicyKind::Edf, PolicyKind::Wfq];

#[test]
fn ten_thousand_bad_entries_are_each_accounted_for_in_memory() {
    let plan = plan(ATTACKS, false);
    for policy in POLICIES {
        check(&plan, &on_memory(policy, &plan, true));
    }
}

#[test]
fn valid_work_is_done_at_the_instants_at_which_it_would_have_been_done_anyway() {
    let plan = plan(ATTACKS, false);
    for policy in POLICIES {
        let timetable = |attacked| -> BTreeMap<_, _> {
            let results = on_memory(policy, &plan, attacked).results.into_iter();
            // Tasks without an id are named after their entry, whose number differs.
            let named = results.filter(|result| result.id.as_str().parse::<EntryId>().is_err());
            named.map(|result| (result.id.clone(), (result.started_us, result.finished_us))).collect()
        };
        let (attacked, alone) = (timetable(true), timetable(false));
        assert!(attacked.len() > ATTACKS / 10);
        assert_eq!(attacked, alone, "{policy}");
    }
}

#[test]
fn ten_thousand_bad_entries_are_each_accounted_for_in_redis() {
    if !PrivateRedis::available() {
        println!("skipped: no redis-server on the PATH");
        return;
    }
    let redis = PrivateRedis::start().unwrap();
    let plan = plan(ATTACKS, true);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let aftermath = runtime.block_on(async {
        let clock = Clock::real();
        let config = RedisConfig { url: redis.url(), ..RedisConfig::default() };
        let broker = RedisBroker::connect(&config, "attack", &clock).await.unwrap();
        let mut raw = raw::Raw::connect(&redis.socket());
        run(broker, clock, PolicyKind::Wfq, &plan, async move |burst| {
            let tasks: Vec<Option<&[u8]>> = burst.iter().map(|entry| entry.task.as_deref()).collect();
            raw.xadd("{attack}:ingress", &tasks)
        })
        .await
    });
    check(&plan, &aftermath);
}
