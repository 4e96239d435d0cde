//! The cells of a run, interleaved, with common random numbers: in one repetition every policy meets the same tasks.

use super::profile::{Arm, Profile};
use crate::model::Micros;
use crate::workload::{Arrival, WorkloadConfig, WorkloadKind, load, plan};
use std::sync::Arc;

/// One policy under one workload at one load, once.
#[derive(Debug, Clone)]
pub struct Cell {
    /// What decides the order.
    pub arm: Arm,
    /// Name of the workload; `trace` for a trace.
    pub workload: &'static str,
    /// Offered load: given, or what the configuration amounts to.
    pub load: f64,
    /// Whether the load was given; it is part of the name then.
    pub load_given: bool,
    /// From 1.
    pub repetition: u32,
    /// Of the workload.
    pub seed: u64,
    /// What arrives, shared by the policies.
    pub tasks: Arc<Vec<Arrival>>,
    /// Mean arrival rate.
    pub arrival_rate_per_s: f64,
}

impl Cell {
    /// Its name in file names: `<policy>_<workload>[_l1p25]_rep<N>`.
    pub fn label(&self) -> String {
        let load = if self.load_given { format!("_l{}", self.load).replace('.', "p") } else { String::new() };
        format!("{}_{}{load}_rep{}", self.arm.name(), self.workload, self.repetition)
    }

    /// Instant of the last arrival.
    pub fn span(&self) -> Micros {
        self.tasks.last().map_or(Micros::ZERO, |task| task.at)
    }

    /// When to give up: 3 × (arrival span + service/slots), at least 30 s and at most 30 min. Virtual time costs nothing and
    /// traces are long, so there is no upper bound there.
    pub fn limit(&self, slots: u32, is_virtual: bool) -> Micros {
        let service: Micros = self.tasks.iter().map(|task| task.service).sum();
        let enough = (self.span() + Micros(service.0 / i64::from(slots.max(1)))) * 3;
        let enough = enough.max(Micros::from_secs(30));
        if is_virtual { enough } else { enough.min(Micros::from_secs(30 * 60)) }
    }

    /// Shortest and longest duration.
    pub fn exec_range(&self) -> (Micros, Micros) {
        let services = || self.tasks.iter().map(|task| task.service);
        (services().min().unwrap_or_default(), services().max().unwrap_or_default())
    }
}

/// Every cell: repetition outermost, then workload, load and policy, so that drift of the machine hits all policies alike.
/// A trace takes the place of the workloads.
pub fn cells(profile: &Profile, trace: Option<&[Arrival]>) -> Vec<Cell> {
    let bench = &profile.bench;
    let slots = profile.slots();
    let loads: Vec<Option<f64>> =
        if bench.loads.is_empty() { vec![None] } else { bench.loads.iter().copied().map(Some).collect() };
    let mut cells = Vec::new();
    for repetition in 1..=bench.repetitions {
        let seed = profile.workload.seed.wrapping_add(u64::from(repetition - 1));
        let kinds: Vec<Option<WorkloadKind>> =
            if trace.is_some() { vec![None] } else { bench.workloads.iter().copied().map(Some).collect() };
        for kind in kinds {
            for given in &loads {
                let (tasks, load, arrival_rate_per_s) = match (kind, trace) {
                    (Some(kind), _) => generated(profile, kind, seed, *given),
                    (None, trace) => replayed(trace.unwrap_or_default(), *given, slots),
                };
                let tasks = Arc::new(tasks);
                cells.extend(bench.policies.iter().map(|arm| Cell {
                    arm: *arm,
                    workload: kind.map_or("trace", WorkloadKind::name),
                    load,
                    load_given: given.is_some(),
                    repetition,
                    seed,
                    tasks: tasks.clone(),
                    arrival_rate_per_s,
                }));
            }
        }
    }
    cells
}

fn generated(profile: &Profile, kind: WorkloadKind, seed: u64, given: Option<f64>) -> (Vec<Arrival>, f64, f64) {
    let slots = profile.slots();
    let mut config = WorkloadConfig { kind, seed, ..profile.workload.clone() };
    if let Some(load) = given {
        config = load::at_load(&config, load, slots);
    }
    let load = given.unwrap_or_else(|| load::offered_load(&config, slots));
    (plan(&config), load, load::mean_rate_per_s(&config))
}

fn replayed(trace: &[Arrival], given: Option<f64>, slots: u32) -> (Vec<Arrival>, f64, f64) {
    let mut tasks = trace.to_vec();
    if let Some(load) = given {
        load::stretch_to(&mut tasks, load, slots);
    }
    let span = tasks.last().map_or(Micros::ZERO, |task| task.at);
    let rate_per_s = tasks.len() as f64 / span.as_secs_f64();
    let load = given.unwrap_or_else(|| load::offered_by(&tasks, slots));
    (tasks, load, rate_per_s)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_interleave_and_share_tasks() {
        let mut profile = Profile::named("quick").unwrap();
        profile.bench.repetitions = 2;
        profile.bench.policies.push(Arm::None);
        let cells = cells(&profile, None);
        assert_eq!(cells.len(), 40);
        let labels: Vec<String> = cells.iter().map(Cell::label).collect();
        assert_eq!(
            (&*labels[0], &*labels[4], &*labels[5]),
            ("fifo_uniform_rep1", "none_uniform_rep1", "fifo_bursty_rep1")
        );
        assert!(Arc::ptr_eq(&cells[0].tasks, &cells[4].tasks));
        assert_ne!(cells[0].tasks, cells[20].tasks);
        assert_eq!((cells[0].seed, cells[20].seed), (1000, 1001));
    }

    #[test]
    fn a_given_load_is_in_the_name_and_in_the_rate() {
        let mut profile = Profile::named("full").unwrap();
        profile.bench.loads = vec![0.5, 1.25, 2.0];
        let cells = cells(&profile, None);
        assert_eq!((&*cells[4].label(), &*cells[8].label()), ("fifo_uniform_l1p25_rep1", "fifo_uniform_l2_rep1"));
        assert_eq!((cells[0].arrival_rate_per_s, cells[4].arrival_rate_per_s), (160.0, 400.0));
    }
}
