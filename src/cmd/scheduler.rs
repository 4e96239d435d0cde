//! `tq scheduler`.

use super::configured;
use super::serve::{process_name, serve};
use crate::cli::{GlobalArgs, SchedulerArgs};
use crate::engine::{Scheduler, Settings};
use crate::runtime::metrics::Component;
use anyhow::Context;

pub(super) fn run(global: &GlobalArgs, args: &SchedulerArgs) -> anyhow::Result<()> {
    let config = configured(global, args)?.config;
    let settings = Settings {
        scheduler: config.scheduler.clone(),
        election: config.leader_election.clone(),
        recovery: config.recovery.clone(),
        streams: config.streams.clone(),
    };
    let address = ("scheduler.metrics_addr", config.scheduler.metrics_addr.as_str());
    serve(&config, Component::Scheduler, address, async |store, clock, stop| {
        let owner = process_name();
        let namespace = &config.streams.namespace;
        tracing::info!(owner, namespace, policy = %settings.scheduler.policy, "scheduler started");
        Scheduler::new(store, clock, owner, settings).run(stop).await.context("the scheduler ended")?;
        tracing::info!("scheduler stopped");
        Ok(())
    })
}
