//! `tq worker`.

use super::serve::{process_name, serve};
use super::{configured, connect};
use crate::broker::Source;
use crate::cli::{GlobalArgs, WorkerArgs};
use crate::config::Config;
use crate::runtime::metrics::Component;
use crate::worker::heartbeat::HeartbeatHost;
use crate::worker::{Settings, SimHandler, Worker};
use std::sync::Arc;

pub(super) fn run(global: &GlobalArgs, args: &WorkerArgs) -> anyhow::Result<()> {
    let config = configured(global, args)?.config;
    let address = ("worker.metrics_addr", config.worker.metrics_addr.as_str());
    serve(&config, Component::Worker, address, async |store, clock, stop| {
        let settings =
            Settings { worker: config.worker.clone(), recovery: config.recovery.clone(), source: Source::Execution };
        let name = Some(config.worker.name.clone()).filter(|name| !name.is_empty()).unwrap_or_else(process_name);
        let handler = Arc::new(SimHandler { mode: config.worker.exec_mode });
        let beats = heartbeats(config.clone(), clock.clone());
        let worker = Worker::new(store, clock, name, settings, handler).with_heartbeats(beats);
        let namespace = &config.streams.namespace;
        tracing::info!(worker = worker.name(), namespace, slots = config.worker.concurrency, "worker started");
        let report = worker.run(stop).await;
        tracing::info!(
            completed = report.completed,
            duplicates = report.duplicates,
            failures = report.failures,
            interrupted = report.interrupted,
            "worker stopped"
        );
        Ok(())
    })
}

/// Heartbeats from a thread and a connection of their own: a handler that never yields cannot delay them.
fn heartbeats(config: Config, clock: crate::clock::Clock) -> HeartbeatHost<connect::Store> {
    HeartbeatHost::Thread(Box::new(move || Box::pin(async move { connect::open(&config, &clock).await })))
}
