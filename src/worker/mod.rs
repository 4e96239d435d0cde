//! The worker: fetches deliveries for its free slots, executes them, reports in groups, keeps its attempt leases alive, and
//! gives back what a shutdown interrupts.

pub mod execute;
mod fetch;
pub mod heartbeat;
mod held;
pub mod inject;
mod observe;
mod report;
mod slot;

use crate::broker::{Broker, Source};
use crate::clock::Clock;
use crate::config::{RecoveryConfig, WorkerConfig};
use crate::model::Micros;
use execute::Handler;
pub use execute::SimHandler;
use heartbeat::HeartbeatHost;
use held::Held;
use slot::Slots;
use std::sync::Arc;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// What a worker needs to know.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// Slots, failures, grace.
    pub worker: WorkerConfig,
    /// Backoff of failed attempts.
    pub recovery: RecoveryConfig,
    /// Where deliveries come from.
    pub source: Source,
}

impl Default for Settings {
    fn default() -> Self {
        let (worker, recovery) = Default::default();
        Settings { worker, recovery, source: Source::Execution }
    }
}

/// What a worker did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Report {
    /// Slot time spent executing.
    pub busy_us: Micros,
    /// Slot time offered.
    pub slot_us: Micros,
    /// Completions that were recorded.
    pub completed: u64,
    /// Completions that had been recorded before.
    pub duplicates: u64,
    /// Attempts that the handler reported as failed.
    pub failures: u64,
    /// Attempts given back because of the shutdown.
    pub interrupted: u64,
}

/// One worker process.
pub struct Worker<B: Broker, H> {
    broker: B,
    clock: Clock,
    name: Arc<str>,
    settings: Settings,
    handler: Arc<H>,
    heartbeats: HeartbeatHost<B>,
}

impl<B: Broker, H: Handler> Worker<B, H> {
    /// A worker called `name`, to which it adds its incarnation: a restarted worker must not keep its predecessor's leases
    /// alive.
    pub fn new(broker: B, clock: Clock, name: impl Into<String>, settings: Settings, handler: Arc<H>) -> Self {
        let name = format!("{}#{:x}", name.into(), clock.raw().0).into();
        Worker { broker, clock, name, settings, handler, heartbeats: HeartbeatHost::Inline }
    }

    /// Sends heartbeats from a thread and a connection of their own, so that handlers which never yield cannot delay them.
    #[must_use]
    pub fn with_heartbeats(mut self, host: HeartbeatHost<B>) -> Self {
        self.heartbeats = host;
        self
    }

    /// Name and incarnation.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Works until stopped, then drains: no new deliveries, `shutdown_grace` for what runs, and what is left is given back
    /// without spending an attempt.
    pub async fn run(self, stop: CancellationToken) -> Report {
        let Worker { broker, clock, name, settings, handler, heartbeats } = self;
        let began = clock.raw();
        let slots = settings.worker.concurrency;
        observe::concurrency(slots);
        let held = Arc::new(Held::new(name.clone(), slots));
        let beats = heartbeat::start(
            heartbeats,
            broker.clone(),
            clock.clone(),
            settings.worker.heartbeat_interval,
            held.clone(),
        );
        let interrupt = CancellationToken::new();
        let (outcomes, reports) = mpsc::unbounded_channel();
        let reporter = report::Reporter {
            broker: broker.clone(),
            clock: clock.clone(),
            source: settings.source,
            held: held.clone(),
            backoff: settings.recovery.backoff(),
            slots,
            give_up: interrupt.clone(),
        };
        let reporter = tokio::spawn(reporter.run(reports));
        let running = Slots {
            clock: clock.clone(),
            held: held.clone(),
            outcomes,
            handler,
            config: settings.worker.clone(),
            interrupt: interrupt.clone(),
            free: Arc::new(tokio::sync::Semaphore::new(slots as usize)),
        };
        fetch::run(&broker, &clock, settings.source, &running, &stop).await;
        held.drain();
        // Every slot free again means that nothing runs.
        if clock.timeout(settings.worker.shutdown_grace, running.idle(slots)).await.is_err() {
            tracing::info!(left = held.len(), "the grace is over; giving back what still runs");
        }
        interrupt.cancel();
        running.idle(slots).await;
        let free = running.free.clone();
        drop(running);
        let mut report = reporter.await.unwrap_or_default();
        drop(free);
        beats.stop().await;
        report.slot_us = (clock.raw() - began) * i64::from(slots);
        report
    }
}
