//! What a reader of the figures must know.

use super::profile::Profile;
use super::records::Measured;
use crate::config::{ExecMode, Window};

/// Before the run: what the settings make doubtful.
pub(super) fn of_settings(profile: &Profile, cores: usize) -> Vec<String> {
    let mut found = Vec::new();
    if profile.worker.exec_mode == ExecMode::Cpu && profile.slots() as usize > cores {
        found.push(format!("{} slots compute on {cores} cores: durations will stretch", profile.slots()));
    }
    if profile.worker.exec_mode == ExecMode::Sleep {
        found.push("tasks wait instead of computing: utilisation is slot occupancy, without effects of processor, memory or I/O".into());
    }
    if let Window::Fixed(window @ 1..) = profile.scheduler.max_in_flight
        && window < u64::from(profile.slots())
    {
        found.push(format!("the window of {window} leaves some of the {} slots idle", profile.slots()));
    }
    if profile.bench.repetitions == 1 {
        found.push("one repetition: no confidence intervals; figures of heavy tails vary much between seeds".into());
    }
    found
}

/// After a cell: what went wrong in it.
pub(super) fn of_cell(measured: &Measured) -> Vec<String> {
    let Measured { cell, outcome, summary } = measured;
    let mut found = Vec::new();
    let label = cell.label();
    let planned = cell.tasks.len() as u64;
    let ended = summary.completed + outcome.dead.len() as u64;
    if outcome.timed_out {
        found.push(format!("{label}: gave up with {} of {planned} tasks unfinished", planned - ended.min(planned)));
    }
    if !outcome.dead.is_empty() {
        found.push(format!("{label}: {} tasks dead-lettered; misses count completed tasks only", outcome.dead.len()));
    }
    if outcome.recorded_twice > 0 {
        found.push(format!("{label}: {} results recorded twice: this is a fault of tq", outcome.recorded_twice));
    }
    let lag_s = outcome.producer.lag_max.as_secs_f64();
    if lag_s > 0.1 * summary.latency.p50_s {
        found.push(format!(
            "{label}: the producer fell behind by up to {lag_s:.3} s; latency counts from the intended instant"
        ));
    }
    found
}
