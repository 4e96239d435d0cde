//! `tq bench`.

use super::output::{print, print_json};
use super::run_id::run_id;
use super::session::run_async;
use super::{Usage, configured};
use crate::cli::{BenchArgs, GlobalArgs};
use crate::config::LogConfig;
use crate::lab::matrix::{Matrix, Report};
use crate::lab::plan;
use crate::lab::profile::Profile;
use crate::lab::store::Store;
use crate::runtime::{logging, shutdown};
use crate::workload::{Arrival, load, trace};
use anyhow::{Context, bail};
use serde_json::json;

pub(super) fn run(global: &GlobalArgs, args: &BenchArgs) -> anyhow::Result<()> {
    let mut config = configured(global, &())?.config;
    if config.log == LogConfig::default() {
        config.log.level = "warn,fred=error".into(); // Comings and goings in cells are no news.
    }
    logging::init(&config.log).map_err(anyhow::Error::msg)?;
    let profile = profile(args)?;
    let run_id = run_id(args.run_id.as_ref())?;
    let replay = args.trace.is_some().then(|| replay(args)).transpose()?;
    let cells = plan::cells(&profile, replay.as_deref());
    let report = run_async(async {
        let stop = shutdown::on_signals().context("signals")?;
        let store = Store::open(args.broker, args.is_virtual, &config.redis).await?;
        if !args.json {
            let (cells, tasks) = (cells.len(), cells.iter().map(|cell| cell.tasks.len()).sum::<usize>());
            print(&format!("broker: {}; run {run_id}: {cells} cells, {tasks} tasks\n", store.description()))?;
        }
        Matrix { profile, cells, store, run_id, results_dir: args.results_dir.clone(), quiet: false }.run(stop).await
    })?;
    show(args, &report)?;
    if report.interrupted {
        bail!("interrupted after {} cells; {} holds what they wrote", report.cells.len(), report.directory.display());
    }
    if !report.is_complete() {
        bail!("not every task ended, or some ended twice: see the warnings");
    }
    Ok(())
}

/// The profile with what the flags override, checked.
fn profile(args: &BenchArgs) -> anyhow::Result<Profile> {
    let mut profile = Profile::named(&args.profile).map_err(|error| Usage(format!("{error:#}")))?;
    let bench = &mut profile.bench;
    if !args.policies.is_empty() {
        bench.policies.clone_from(&args.policies);
    }
    if !args.workloads.is_empty() {
        bench.workloads.clone_from(&args.workloads);
    }
    if !args.loads.is_empty() {
        bench.loads.clone_from(&args.loads);
    }
    bench.repetitions = args.repetitions.unwrap_or(bench.repetitions);
    profile.resize(args.workers, args.concurrency);
    profile.workload.count = args.count.unwrap_or(profile.workload.count);
    profile.workload.seed = args.seed.unwrap_or(profile.workload.seed);
    profile.worker.exec_mode = args.exec_mode.unwrap_or(profile.worker.exec_mode);
    profile.check()?;
    Ok(profile)
}

fn replay(args: &BenchArgs) -> anyhow::Result<Vec<Arrival>> {
    let path = args.trace.clone().unwrap_or_default();
    let wrong = |why: String| Usage(format!("--trace {}: {why}", path.display()));
    let file = std::fs::File::open(&path).map_err(|error| wrong(error.to_string()))?;
    let mut tasks = trace::read(file).map_err(|error| wrong(error.to_string()))?;
    tasks.truncate(args.count.and_then(|count| usize::try_from(count).ok()).unwrap_or(usize::MAX));
    let speed = args.speed.unwrap_or(1.0);
    if tasks.is_empty() || !(speed.is_finite() && speed > 0.0) {
        return Err(wrong("it must have a task, and --speed must be above 0".into()).into());
    }
    load::speed_up(&mut tasks, speed);
    Ok(tasks)
}

fn show(args: &BenchArgs, report: &Report) -> anyhow::Result<()> {
    if args.json {
        let cells: Vec<_> =
            report.cells.iter().map(|m| json!({"cell": m.cell.label(), "summary": m.summary})).collect();
        return print_json(&json!({"directory": report.directory, "warnings": report.warnings, "cells": cells}));
    }
    let warnings: String = report.warnings.iter().map(|warning| format!("warning: {warning}\n")).collect();
    print(&format!("\n{}\n{warnings}results: {}\n", report.table, report.directory.display()))
}
