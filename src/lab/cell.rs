//! One cell: a scheduler, workers and a producer over one broker, until every task has ended.

use super::plan::Cell;
use super::profile::{Arm, Profile};
use crate::broker::{Broker, BrokerError, BrokerResult, DeadEntry, Snapshot, Source};
use crate::clock::Clock;
use crate::config::StreamsConfig;
use crate::engine::{self, Scheduler};
use crate::model::outcome::TaskResult;
use crate::model::{EntryId, Micros, TaskId};
use crate::producer::{self, Planned};
use crate::worker::{self, SimHandler, Worker};
use anyhow::{Context, bail};
use std::collections::BTreeSet;
use std::sync::Arc;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// How long scheduler and workers may take to be there.
const READY_MAX: Micros = Micros::from_secs(30);
/// From ready to the start of the workload.
const LEAD_IN: Micros = Micros::from_millis(50);
/// How often results are collected; no figure depends on it.
const COLLECT_INTERVAL: Micros = Micros::from_millis(50);
/// What still runs when a cell gives up is interrupted soon.
const GRACE: Micros = Micros::from_secs(1);
const PAGE: usize = 1_000;

/// What a cell left behind.
#[derive(Debug)]
pub struct Outcome {
    /// One per completed task, in the order of their ends.
    pub results: Vec<TaskResult>,
    /// Results beyond the first of a task: there must be none.
    pub recorded_twice: u64,
    /// What was given up.
    pub dead: Vec<DeadEntry>,
    /// When the workload began.
    pub start: Micros,
    /// When the last task ended, or when the cell gave up.
    pub end: Micros,
    /// Whether the cell gave up before every task had ended.
    pub timed_out: bool,
    /// What the producer did.
    pub producer: producer::Report,
    /// What the workers did, added up.
    pub workers: worker::Report,
    /// The broker's counters at the end.
    pub snapshot: Snapshot,
}

/// Runs a cell in an empty namespace; `None` when it was stopped from outside. `progress` hears how many tasks have ended.
///
/// # Errors
/// When the parts do not come up, or the broker fails for good.
pub async fn run<B: Broker>(
    broker: B,
    clock: Clock,
    cell: &Cell,
    profile: &Profile,
    stop: &CancellationToken,
    progress: impl Fn(u64),
) -> anyhow::Result<Option<Outcome>> {
    let parts = Parts::start(&broker, &clock, cell, profile);
    if let Err(error) = parts.ready(&broker, &clock, cell.arm, profile.slots(), stop).await {
        parts.stop().await;
        return Err(error);
    }
    let start = clock.now() + LEAD_IN;
    let tasks = cell.tasks.clone();
    let planned = (0..tasks.len()).map(move |n| Planned { at: start + tasks[n].at, body: tasks[n].body(start) });
    let producing = {
        let (broker, clock, stop) = (broker.clone(), clock.clone(), parts.stop.clone());
        tokio::spawn(async move { producer::run(&broker, &clock, planned, stop).await })
    };
    let limit = start + cell.limit(profile.slots(), clock.is_virtual());
    let mut collected = Collected::default();
    let planned = cell.tasks.len() as u64;
    while collected.ended() < planned && clock.now() < limit && !stop.is_cancelled() {
        clock.sleep(COLLECT_INTERVAL).await;
        collected.more(&broker).await?;
        progress(collected.ended());
    }
    let timed_out = collected.ended() < planned;
    let gave_up = clock.now();
    let workers = parts.stop().await;
    let producer = match producing.await.context("the producer panicked")? {
        Ok(report) => report,
        Err(interrupted) => interrupted.report,
    };
    if stop.is_cancelled() {
        return Ok(None);
    }
    collected.more(&broker).await?;
    let snapshot = broker.snapshot(clock.now()).await?;
    let end = if timed_out { gave_up } else { collected.last.max(start) };
    let Collected { mut results, recorded_twice, dead, .. } = collected;
    results.sort_by(|a, b| (a.finished_us, &a.id).cmp(&(b.finished_us, &b.id)));
    Ok(Some(Outcome { results, recorded_twice, dead, start, end, timed_out, producer, workers, snapshot }))
}

/// The running scheduler and workers.
struct Parts {
    stop: CancellationToken,
    scheduler: Option<JoinHandle<Result<(), BrokerError>>>,
    workers: Vec<JoinHandle<worker::Report>>,
}

impl Parts {
    fn start<B: Broker>(broker: &B, clock: &Clock, cell: &Cell, profile: &Profile) -> Self {
        let stop = CancellationToken::new();
        let scheduler = match cell.arm {
            Arm::None => None,
            Arm::Policy(policy) => {
                let mut settings = engine::Settings {
                    scheduler: profile.scheduler.clone(),
                    election: profile.leader_election.clone(),
                    recovery: profile.recovery.clone(),
                    streams: StreamsConfig::default(),
                };
                settings.scheduler.policy = policy;
                let scheduler = Scheduler::new(broker.clone(), clock.clone(), "bench", settings);
                Some(tokio::spawn(scheduler.run(stop.clone())))
            }
        };
        let source = if cell.arm == Arm::None { Source::Ingress } else { Source::Execution };
        let mut settings =
            worker::Settings { worker: profile.worker.clone(), recovery: profile.recovery.clone(), source };
        settings.worker.concurrency = profile.bench.concurrency;
        settings.worker.fail_seed = cell.seed;
        settings.worker.shutdown_grace = settings.worker.shutdown_grace.min(GRACE);
        let handler = Arc::new(SimHandler { mode: settings.worker.exec_mode });
        let worker = |n: u32| {
            let name = format!("worker-{n}");
            let worker = Worker::new(broker.clone(), clock.clone(), name, settings.clone(), handler.clone());
            tokio::spawn(worker.run(stop.clone()))
        };
        let workers = (1..=profile.bench.workers).map(worker).collect();
        Parts { stop, scheduler, workers }
    }

    /// Waits until somebody leads and every slot is registered: start-up is no part of the measurement.
    async fn ready<B: Broker>(
        &self,
        broker: &B,
        clock: &Clock,
        arm: Arm,
        slots: u32,
        stop: &CancellationToken,
    ) -> anyhow::Result<()> {
        let until = clock.now() + READY_MAX;
        loop {
            let seen = broker.snapshot(clock.now()).await?;
            if stop.is_cancelled() || (seen.slots() >= u64::from(slots) && (arm == Arm::None || seen.leader.is_some()))
            {
                return Ok(());
            }
            if clock.now() > until {
                bail!(
                    "not ready within {} s: leader {:?}, {} slots",
                    READY_MAX.as_secs_f64(),
                    seen.leader,
                    seen.slots()
                );
            }
            clock.sleep(Micros::from_millis(5)).await;
        }
    }

    /// Stops everything and adds up what the workers did.
    async fn stop(self) -> worker::Report {
        self.stop.cancel();
        let mut sum = worker::Report::default();
        for worker in self.workers {
            let report = worker.await.unwrap_or_default();
            sum.busy_us += report.busy_us;
            sum.slot_us += report.slot_us;
            sum.completed += report.completed;
            sum.duplicates += report.duplicates;
            sum.failures += report.failures;
            sum.interrupted += report.interrupted;
        }
        if let Some(scheduler) = self.scheduler {
            let _ = scheduler.await;
        }
        sum
    }
}

/// Results and dead letters so far.
#[derive(Default)]
struct Collected {
    results: Vec<TaskResult>,
    known: BTreeSet<TaskId>,
    recorded_twice: u64,
    dead: Vec<DeadEntry>,
    last: Micros,
    result_cursor: EntryId,
    dead_cursor: EntryId,
}

impl Collected {
    fn ended(&self) -> u64 {
        (self.results.len() + self.dead.len()) as u64
    }

    async fn more<B: Broker>(&mut self, broker: &B) -> BrokerResult<()> {
        loop {
            let page = broker.results(self.result_cursor, PAGE).await?;
            let Some(last) = page.last() else { break };
            self.result_cursor = last.entry;
            for entry in page {
                self.last = self.last.max(entry.result.finished_us);
                if self.known.insert(entry.result.id.clone()) {
                    self.results.push(entry.result);
                } else {
                    self.recorded_twice += 1;
                }
            }
        }
        loop {
            let page = broker.dead(self.dead_cursor, PAGE).await?;
            let Some(last) = page.last() else { return Ok(()) };
            self.dead_cursor = last.entry;
            self.last = page.iter().map(|entry| entry.letter.at_us).fold(self.last, Micros::max);
            self.dead.extend(page);
        }
    }
}
