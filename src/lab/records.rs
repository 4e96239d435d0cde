//! The files of a run: rows as each cell ends, so that what is there can be read whenever the run is interrupted.

use super::cell::Outcome;
use super::plan::Cell;
use super::profile::{Arm, Profile};
use crate::config::Window;
use crate::model::Micros;
use crate::policy::{PolicyKind, Weights};
use crate::stats::{Order, Spread, Summary, Terms, Unfinished, summarise};
use anyhow::Context;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::path::{Path, PathBuf};

const AGGREGATE: &str = "run_id timestamp_utc scheduler workload load repetition seed broker tasks_planned tasks_submitted \
    tasks_completed tasks_dead_lettered tasks_retried task_failures duplicate_completions timed_out worker_processes \
    worker_concurrency total_slots max_in_flight experiment_duration_s makespan_s throughput_tasks_per_s latency_mean_s \
    latency_p50_s latency_p95_s latency_p99_s latency_p999_s latency_max_s wait_mean_s wait_p50_s wait_p95_s wait_p99_s \
    wait_max_s exec_mean_s exec_p99_s deadline_missed deadline_miss_rate worker_busy_s worker_slot_s worker_utilization \
    jain_fairness_service jain_fairness_count tenant_count tenant_p99_max_s tenant_p99_min_s tenant_p99_ratio \
    min_tenant_service_share inversions producer_max_lag_s producer_mean_lag_s arrival_rate_per_s exec_min_ms exec_max_ms \
    goodput_tasks_per_s starved_threshold_s starved_tasks slowdown_mean slowdown_p95 slowdown_p99 \
    fair_share_satisfaction_min fair_share_satisfaction_mean latency_sd_s latency_p95_half_width_s wait_mean_half_width_s";
const TENANTS: &str = "run_id scheduler workload load repetition seed broker tenant completed_tasks service_seconds \
    service_share latency_mean_s latency_p50_s latency_p95_s latency_p99_s latency_max_s wait_p99_s wait_max_s \
    deadline_missed deadline_miss_rate slowdown_mean slowdown_p95 latency_sd_s fair_share_satisfaction starved_tasks";
const PRIORITIES: &str = "run_id scheduler workload load repetition seed broker priority completed_tasks latency_mean_s \
    latency_p50_s latency_p95_s latency_p99_s wait_p95_s wait_max_s deadline_missed deadline_miss_rate";
const RAW: &str = "run_id scheduler workload load repetition seed broker task_id tenant priority outcome submitted_us \
    admitted_us dispatched_us started_us finished_us deadline_us service_us measured_service_us attempts epoch wait_s \
    latency_s deadline_missed worker";

/// A finished cell and its figures.
#[derive(Debug)]
pub struct Measured {
    /// The cell.
    pub cell: Cell,
    /// What it left behind.
    pub outcome: Outcome,
    /// What that adds up to.
    pub summary: Summary,
}

impl Measured {
    /// Adds up a cell.
    pub(super) fn new(cell: Cell, outcome: Outcome, profile: &Profile) -> Self {
        let order = match cell.arm {
            Arm::None | Arm::Policy(PolicyKind::Fifo) => Order::Submitted,
            Arm::Policy(PolicyKind::Priority) => Order::Priority,
            Arm::Policy(PolicyKind::Edf) => Order::Deadline,
            Arm::Policy(PolicyKind::Wfq) => Order::WithinTenant,
        };
        let scheduler = &profile.scheduler;
        let weights = Weights { by_tenant: scheduler.tenant_weights.clone(), default: scheduler.default_tenant_weight };
        let tenants = cell.tasks.iter().map(|task| task.tenant.as_str());
        let first = cell.tasks.first().map_or(Micros::ZERO, |task| task.at);
        let terms = Terms {
            tenants: tenants.map(|tenant| (tenant, weights.of(tenant))).collect(),
            unfinished: unfinished(&cell, &outcome),
            submissions: (outcome.start + first, outcome.start + cell.span()),
            order,
            starvation_threshold: profile.bench.starvation_threshold,
        };
        let summary = summarise(&outcome.results, &terms);
        Measured { cell, outcome, summary }
    }

    /// Start of the workload to the end of the last task (or giving up).
    pub(super) fn duration_s(&self) -> f64 {
        self.outcome.end.since(self.outcome.start).as_secs_f64()
    }

    /// Busy slot-seconds over offered slot-seconds.
    pub fn utilisation(&self, slots: u32) -> f64 {
        self.outcome.workers.busy_us.as_secs_f64() / (f64::from(slots) * self.duration_s())
    }
}

/// Planned tasks without a result.
fn unfinished<'a>(cell: &'a Cell, outcome: &Outcome) -> Vec<Unfinished<'a>> {
    let completed: BTreeSet<&str> = outcome.results.iter().map(|result| result.id.as_str()).collect();
    let dead: BTreeMap<&str, Micros> =
        outcome.dead.iter().map(|entry| (entry.letter.id.as_str(), entry.letter.at_us)).collect();
    let left = cell.tasks.iter().filter(|task| !completed.contains(task.id.as_str()));
    left.map(|task| Unfinished {
        tenant: task.tenant.as_str(),
        submitted: outcome.start + task.at,
        service: task.service,
        until: dead.get(task.id.as_str()).copied().unwrap_or(outcome.end),
    })
    .collect()
}

/// The open files of a run.
pub(super) struct Records {
    directory: PathBuf,
    run_id: String,
    broker: String,
    aggregate: csv::Writer<File>,
    tenants: csv::Writer<File>,
    priorities: csv::Writer<File>,
}

/// Six decimals: microseconds in seconds.
fn float(x: f64) -> String {
    if x.is_nan() { "NaN".into() } else { format!("{x:.6}") }
}

fn seconds(span: Micros) -> String {
    float(span.as_secs_f64())
}

fn open(path: &Path, header: &str) -> anyhow::Result<csv::Writer<File>> {
    let mut file = csv::Writer::from_path(path).with_context(|| format!("cannot write {}", path.display()))?;
    file.write_record(header.split_whitespace())?;
    file.flush()?;
    Ok(file)
}

impl Records {
    /// Creates the directory and the files with their headers.
    pub(super) fn create(directory: &Path, run_id: &str, broker: &str) -> anyhow::Result<Self> {
        fs::create_dir_all(directory.join("raw")).with_context(|| format!("cannot create {}", directory.display()))?;
        Ok(Records {
            directory: directory.to_owned(),
            run_id: run_id.into(),
            broker: broker.into(),
            aggregate: open(&directory.join("aggregate.csv"), AGGREGATE)?,
            tenants: open(&directory.join("tenants.csv"), TENANTS)?,
            priorities: open(&directory.join("priorities.csv"), PRIORITIES)?,
        })
    }

    /// Writes everything about one cell.
    pub(super) fn write(&mut self, measured: &Measured, profile: &Profile) -> anyhow::Result<()> {
        self.raw(measured)?;
        self.dead_letters(measured)?;
        for tenant in &measured.summary.tenants {
            let mut row = self.identity(&measured.cell);
            row.extend([tenant.tenant.clone(), tenant.completed.to_string()]);
            row.extend([float(tenant.service_s), float(tenant.service_share)]);
            let Spread { mean_s, p50_s, p95_s, p99_s, max_s, .. } = tenant.latency;
            row.extend([mean_s, p50_s, p95_s, p99_s, max_s, tenant.wait.p99_s, tenant.wait.max_s].map(float));
            row.extend([tenant.deadline_missed.to_string(), float(tenant.deadline_miss_rate)]);
            row.extend([tenant.slowdown.mean, tenant.slowdown.p95, tenant.latency.sd_s].map(float));
            row.extend([float(tenant.fair_share_satisfaction), tenant.starved.to_string()]);
            self.tenants.write_record(row)?;
        }
        self.tenants.flush()?;
        for priority in &measured.summary.priorities {
            let mut row = self.identity(&measured.cell);
            row.extend([priority.priority.to_string(), priority.completed.to_string()]);
            let (latency, wait) = (priority.latency, priority.wait);
            row.extend([latency.mean_s, latency.p50_s, latency.p95_s, latency.p99_s].map(float));
            row.extend([wait.p95_s, wait.max_s].map(float));
            row.extend([priority.deadline_missed.to_string(), float(priority.deadline_miss_rate)]);
            self.priorities.write_record(row)?;
        }
        self.priorities.flush()?;
        self.aggregate.write_record(self.aggregate_row(measured, profile))?;
        self.aggregate.flush()?;
        Ok(())
    }

    fn identity(&self, cell: &Cell) -> Vec<String> {
        vec![
            self.run_id.clone(),
            cell.arm.name().into(),
            cell.workload.into(),
            float(cell.load),
            cell.repetition.to_string(),
            cell.seed.to_string(),
            self.broker.clone(),
        ]
    }

    fn aggregate_row(&self, measured: &Measured, profile: &Profile) -> Vec<String> {
        let Measured { cell, outcome, summary } = measured;
        let mut row = self.identity(cell);
        row.insert(1, super::stamp::utc(outcome.start));
        let counts = [
            cell.tasks.len() as u64,
            outcome.producer.submitted,
            summary.completed,
            outcome.dead.len() as u64,
            outcome.snapshot.counter("retried"),
            outcome.workers.failures,
            outcome.snapshot.counter("duplicate_completions"),
        ];
        row.extend(counts.map(|count| count.to_string()));
        row.push(outcome.timed_out.to_string());
        let slots = profile.slots();
        row.extend([profile.bench.workers, profile.bench.concurrency, slots].map(|count| count.to_string()));
        row.push(match profile.scheduler.max_in_flight {
            Window::Auto => "auto".into(),
            Window::Fixed(tasks) => tasks.to_string(),
        });
        row.extend([measured.duration_s(), summary.makespan_s, summary.throughput_per_s].map(float));
        let (latency, wait) = (summary.latency, summary.wait);
        let times = [latency.mean_s, latency.p50_s, latency.p95_s, latency.p99_s, latency.p999_s, latency.max_s];
        row.extend(times.map(float));
        row.extend([wait.mean_s, wait.p50_s, wait.p95_s, wait.p99_s, wait.max_s].map(float));
        row.extend([summary.exec.mean_s, summary.exec.p99_s].map(float));
        row.extend([summary.deadline_missed.to_string(), float(summary.deadline_miss_rate)]);
        row.push(seconds(outcome.workers.busy_us));
        row.push(float(f64::from(slots) * measured.duration_s()));
        row.extend([measured.utilisation(slots), summary.jain_service, summary.jain_count].map(float));
        row.push(summary.tenants.len().to_string());
        let (max_s, min_s) = (summary.tenant_p99_max_s, summary.tenant_p99_min_s);
        row.extend([max_s, min_s, max_s / min_s, summary.service_share_min].map(float));
        row.push(summary.inversions.to_string());
        row.extend([outcome.producer.lag_max, outcome.producer.lag_mean].map(seconds));
        row.push(float(cell.arrival_rate_per_s));
        let (shortest, longest) = cell.exec_range();
        row.extend([shortest, longest].map(|span| float(span.as_secs_f64() * 1_000.0)));
        row.extend([float(summary.goodput_per_s), seconds(profile.bench.starvation_threshold)]);
        row.push(summary.starved.to_string());
        row.extend([summary.slowdown.mean, summary.slowdown.p95, summary.slowdown.p99].map(float));
        row.extend([summary.fair_share_satisfaction_min, summary.fair_share_satisfaction_mean].map(float));
        row.extend([latency.sd_s, summary.latency_p95_half_width_s, summary.wait_mean_half_width_s].map(float));
        row
    }

    /// A row per planned task, in the order of the plan, whatever became of it.
    fn raw(&self, measured: &Measured) -> anyhow::Result<()> {
        let Measured { cell, outcome, .. } = measured;
        let path = self.directory.join("raw").join(cell.label()).with_extension("csv");
        let mut file = open(&path, RAW)?;
        let results: BTreeMap<_, _> = outcome.results.iter().map(|result| (result.id.as_str(), result)).collect();
        let dead: BTreeMap<_, _> = outcome.dead.iter().map(|entry| (entry.letter.id.as_str(), &entry.letter)).collect();
        let identity = self.identity(cell);
        for task in cell.tasks.iter() {
            let mut row = identity.clone();
            row.extend([task.id.to_string(), task.tenant.to_string(), task.priority.to_string()]);
            let submitted = outcome.start + task.at;
            let deadline = task.deadline_in.map(|span| (submitted + span).to_string()).unwrap_or_default();
            if let Some(result) = results.get(task.id.as_str()) {
                row.push("completed".into());
                let instants = [result.submitted_us, result.admitted_us, result.dispatched_us, result.started_us];
                row.extend(instants.map(|at| at.to_string()));
                row.extend([result.finished_us.to_string(), deadline]);
                row.extend([result.service_us, result.measured_service_us].map(|span| span.to_string()));
                row.extend([result.attempts.to_string(), result.epoch.0.to_string()]);
                row.extend([seconds(result.wait()), seconds(result.sojourn())]);
                row.extend([result.deadline_missed().to_string(), result.worker.to_string()]);
            } else {
                let letter = dead.get(task.id.as_str());
                row.push(if letter.is_some() { "dead_lettered" } else { "unfinished" }.into());
                let ended = letter.map(|letter| letter.at_us.to_string()).unwrap_or_default();
                row.extend([submitted.to_string(), String::new(), String::new(), String::new(), ended, deadline]);
                row.extend([task.service.to_string(), String::new()]);
                row.push(letter.map(|letter| letter.attempts.to_string()).unwrap_or_default());
                row.extend([const { String::new() }; 4]);
                row.push(letter.and_then(|letter| letter.last_worker.clone()).unwrap_or_default());
            }
            file.write_record(row)?;
        }
        file.flush()?;
        Ok(())
    }

    fn dead_letters(&self, measured: &Measured) -> anyhow::Result<()> {
        if measured.outcome.dead.is_empty() {
            return Ok(());
        }
        let folder = self.directory.join("dead_letters");
        fs::create_dir_all(&folder)?;
        let letter = |entry: &crate::broker::DeadEntry| serde_json::json!({ "letter": entry.letter, "task": String::from_utf8_lossy(&entry.raw) });
        let letters: Vec<_> = measured.outcome.dead.iter().map(letter).collect();
        let path = folder.join(measured.cell.label()).with_extension("json");
        fs::write(path, serde_json::to_vec_pretty(&letters)?)?;
        Ok(())
    }
}
