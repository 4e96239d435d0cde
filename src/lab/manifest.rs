//! `manifest.json`: what was run, with what, on what, and every figure.

use super::profile::Profile;
use super::records::Measured;
use anyhow::Context;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

/// What a manifest says beside the cells.
pub(super) struct Header<'a> {
    pub(super) run_id: &'a str,
    pub(super) broker: &'a str,
    pub(super) redis_version: Option<&'a str>,
    pub(super) is_virtual: bool,
    pub(super) profile: &'a Profile,
    pub(super) planned: usize,
}

/// Writes the manifest as it stands; a reader never sees half of one.
pub(super) fn write(
    directory: &Path,
    header: &Header<'_>,
    cells: &[Measured],
    warnings: &[String],
    interrupted: bool,
) -> anyhow::Result<()> {
    let slots = header.profile.slots();
    let cell = |measured: &Measured| {
        json!({
            "label": measured.cell.label(),
            "scheduler": measured.cell.arm.name(),
            "workload": measured.cell.workload,
            "load": measured.cell.load,
            "repetition": measured.cell.repetition,
            "seed": measured.cell.seed,
            "tasks_planned": measured.cell.tasks.len(),
            "timed_out": measured.outcome.timed_out,
            "worker_utilization": measured.utilisation(slots),
            "producer_max_lag_us": measured.outcome.producer.lag_max,
            "summary": measured.summary,
        })
    };
    let mut seeds: Vec<u64> = cells.iter().map(|measured| measured.cell.seed).collect();
    seeds.dedup();
    let document = json!({
        "run_id": header.run_id,
        "tq_version": env!("CARGO_PKG_VERSION"),
        "broker": header.broker,
        "redis_version": header.redis_version,
        "virtual_time": header.is_virtual,
        "machine": machine(),
        "config": header.profile,
        "seeds": seeds,
        "cells_planned": header.planned,
        "cells_done": cells.len(),
        "interrupted": interrupted,
        "warnings": warnings,
        "cells": cells.iter().map(cell).collect::<Vec<_>>(),
    });
    let (path, draft) = (directory.join("manifest.json"), directory.join("manifest.json.part"));
    fs::write(&draft, serde_json::to_vec_pretty(&document)?)
        .and_then(|()| fs::rename(&draft, &path))
        .with_context(|| format!("cannot write {}", path.display()))
}

/// Processors that this process may use.
pub(super) fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

pub(super) fn machine() -> Value {
    let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let model = read("/proc/cpuinfo")
        .lines()
        .find_map(|line| line.strip_prefix("model name")?.split_once(':').map(|(_, name)| name.trim().to_owned()));
    json!({
        "os": std::env::consts::OS,
        "arch": std::env::consts::ARCH,
        "kernel": read("/proc/sys/kernel/osrelease").trim(),
        "cores": cores(),
        "processor": model,
    })
}
