//! A small cluster in one process: schedulers and workers over any broker, each behind its own faults.

use bytes::Bytes;
use serde_json::Value;
use std::sync::{Arc, Mutex};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tq::broker::memory::MemoryBroker;
use tq::broker::{Broker, ResultEntry, Snapshot, Source};
use tq::clock::Clock;
use tq::config::{RecoveryConfig, SchedulerConfig, Window, WorkerConfig};
use tq::engine::{self, Scheduler};
use tq::model::outcome::Delivery;
use tq::model::{EntryId, Micros};
use tq::policy::PolicyKind;
use tq::sim::faults::FaultyBroker;
use tq::worker::execute::Handler;
use tq::worker::{self, Worker};

/// The order in which handlers started tasks: (id, attempt, instant).
pub(crate) type Starts = Arc<Mutex<Vec<(String, u32, Micros)>>>;

/// Takes the declared time; logs each start; fails the first attempts of ids that begin with `fail`.
#[derive(Debug, Clone, Default)]
pub(crate) struct LoggingHandler {
    pub(crate) starts: Starts,
}

impl Handler for LoggingHandler {
    async fn run(&self, task: &Delivery, clock: &Clock) -> Result<(), String> {
        let member = task.member();
        self.starts.lock().unwrap().push((member.id().to_owned(), member.attempt(), clock.now()));
        clock.sleep(member.cost()).await;
        if member.id().starts_with("fail") && member.attempt() == 1 { Err("first attempt".into()) } else { Ok(()) }
    }
}

/// A running scheduler or worker.
pub(crate) struct Process<B, T> {
    /// Its view of the store.
    pub(crate) faults: FaultyBroker<B>,
    /// SIGTERM.
    pub(crate) stop: CancellationToken,
    /// Its end.
    pub(crate) task: JoinHandle<T>,
}

pub(crate) struct Cluster<B> {
    pub(crate) broker: B,
    pub(crate) clock: Clock,
    pub(crate) handler: LoggingHandler,
}

impl Cluster<MemoryBroker> {
    pub(crate) fn in_memory(clock: Clock) -> Self {
        Cluster { broker: MemoryBroker::new(clock.clone()), clock, handler: LoggingHandler::default() }
    }
}

/// Settings of a scheduler with a fixed window.
pub(crate) fn scheduling(policy: PolicyKind, window: u64) -> engine::Settings {
    engine::Settings {
        scheduler: SchedulerConfig { policy, max_in_flight: Window::Fixed(window), ..SchedulerConfig::default() },
        ..engine::Settings::default()
    }
}

/// Settings of a worker with `slots`.
pub(crate) fn working(slots: u32) -> worker::Settings {
    worker::Settings {
        worker: WorkerConfig { concurrency: slots, ..WorkerConfig::default() },
        recovery: RecoveryConfig::default(),
        source: Source::Execution,
    }
}

impl<B: Broker> Cluster<B> {
    pub(crate) fn scheduler(&self, name: &str, settings: engine::Settings) -> Process<B, ()> {
        let (faults, stop) = (FaultyBroker::new(self.broker.clone()), CancellationToken::new());
        let scheduler = Scheduler::new(faults.clone(), self.clock.clone(), name, settings);
        let stopped = stop.clone();
        let task = tokio::spawn(async move { scheduler.run(stopped).await.unwrap() });
        Process { faults, stop, task }
    }

    pub(crate) fn worker(&self, name: &str, settings: worker::Settings) -> Process<B, worker::Report> {
        let (faults, stop) = (FaultyBroker::new(self.broker.clone()), CancellationToken::new());
        let handler = Arc::new(self.handler.clone());
        let worker = Worker::new(faults.clone(), self.clock.clone(), name, settings, handler);
        let task = tokio::spawn(worker.run(stop.clone()));
        Process { faults, stop, task }
    }

    pub(crate) async fn submit(&self, tasks: impl IntoIterator<Item = Value>) {
        let bodies: Vec<Bytes> = tasks.into_iter().map(|task| task.to_string().into()).collect();
        self.broker.submit(&bodies).await.unwrap();
    }

    /// Waits until `holds` of the snapshot; panics with the last one when it never does.
    pub(crate) async fn until(&self, what: &str, holds: impl Fn(&Snapshot) -> bool) -> Snapshot {
        for _ in 0..1_200_000 {
            let snapshot = self.broker.snapshot(self.clock.now()).await.unwrap();
            if holds(&snapshot) {
                return snapshot;
            }
            self.clock.sleep(Micros::from_millis(5)).await;
        }
        panic!("never: {what}; {:#?}", self.broker.snapshot(self.clock.now()).await);
    }

    /// Waits until `count` tasks are completed or dead.
    pub(crate) async fn ended(&self, count: u64) -> Snapshot {
        self.until("every task ended", |s| s.counter("completed") + s.dead >= count && s.unfinished == 0).await
    }

    /// Waits until the handler has started `id`.
    pub(crate) async fn started(&self, id: &str) {
        self.until("the task started", |_| self.order().iter().any(|started| started == id)).await;
    }

    /// Ids in the order in which they started, retries included.
    pub(crate) fn order(&self) -> Vec<String> {
        self.handler.starts.lock().unwrap().iter().map(|(id, _, _)| id.clone()).collect()
    }

    pub(crate) async fn results(&self) -> Vec<ResultEntry> {
        self.broker.results(EntryId::ZERO, usize::MAX >> 1).await.unwrap()
    }
}
