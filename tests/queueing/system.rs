//! Runs of the whole stack on seeded Poisson arrivals, each held against the reference and the exact laws.

use super::reference::{self, Job};
use crate::support::cluster::{Cluster, scheduling, working};
use serde_json::json;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;
use tq::clock::Clock;
use tq::config::{ExecMode, Window};
use tq::model::Micros;
use tq::model::outcome::TaskResult;
use tq::policy::PolicyKind;
use tq::producer::{self, Planned};
use tq::theory::little::number_in_system_integral;
use tq::worker::{SimHandler, Worker};

/// Replications of each system.
const REPLICATIONS: u64 = 12;
/// Tasks of a replication on the real stack, and on the reference alone.
const TASKS: usize = 2_000;
const TASKS_LONG: usize = 30_000;
/// Left out of the statistics: a run starts empty (five relaxation times, 1/(cμ(1−√ρ)²), are 360 arrivals at
/// load 0.8 on any number of servers), and at its end nobody arrives any more to pass the low classes.
const WARM_UP: usize = 400;
const COOL_DOWN: usize = 100;
/// Slots of one worker at most.
const WORKER_SLOTS: u32 = 8;
/// Registered workers and a leader are there well before the first arrival.
const LEAD_IN: Micros = Micros::from_secs(10);

/// The law of the service times.
#[derive(Debug, Clone, Copy)]
pub(super) enum Service {
    Exponential,
    Constant,
}

/// A queue: Poisson arrivals per class (most urgent first), one law of service, c slots.
#[derive(Debug)]
pub(super) struct System {
    pub(super) policy: PolicyKind,
    pub(super) lambdas_per_s: Vec<f64>,
    pub(super) slots: u32,
    pub(super) service: Service,
    pub(super) service_s: f64,
}

/// SplitMix64 (Steele, Lea, Flood 2014).
struct Random(u64);

impl Random {
    /// Uniform in (0, 1].
    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (((z ^ (z >> 31)) >> 11) + 1) as f64 / (1u64 << 53) as f64
    }

    fn exponential(&mut self, mean: f64) -> f64 {
        -mean * self.uniform().ln()
    }
}

impl System {
    /// The wire's priority of a class, and back.
    fn priority(&self, class: usize) -> u8 {
        (self.lambdas_per_s.len() - class) as u8
    }

    fn class_of(&self, priority: u8) -> usize {
        self.lambdas_per_s.len() - usize::from(priority)
    }

    fn jobs(&self, seed: u64, count: usize) -> Vec<Job> {
        let mut random = Random(seed.wrapping_mul(0x0100_0000_01b3));
        let total: f64 = self.lambdas_per_s.iter().sum();
        let mut at_s = 0.0;
        let mut job = || {
            at_s += random.exponential(1.0 / total);
            let mut mark = random.uniform() * total;
            let passes = |lambda: &&f64| {
                mark -= **lambda;
                mark > 0.0
            };
            let class = self.lambdas_per_s.iter().take_while(passes).count().min(self.lambdas_per_s.len() - 1);
            let service_s = match self.service {
                Service::Exponential => random.exponential(self.service_s),
                Service::Constant => self.service_s,
            };
            Job { at: Micros::from_secs_f64(at_s).0, service: Micros::from_secs_f64(service_s).0.max(1), class }
        };
        (0..count).map(|_| job()).collect()
    }
}

/// A task's class and its wait in seconds.
pub(super) type Wait = (usize, f64);

/// The waits of each replication on the real stack, in order of arrival, after every exact law has been asserted on the
/// whole run.
pub(super) fn replications(system: &System) -> impl Iterator<Item = Vec<Wait>> + '_ {
    (1..=REPLICATIONS).map(move |seed| {
        let jobs = system.jobs(seed, TASKS);
        let (results, busy) = run(system, &jobs);
        assert_exact(system, &jobs, &results, busy);
        let measured = &results[WARM_UP..TASKS - COOL_DOWN];
        measured.iter().map(|result| (system.class_of(result.priority), result.wait().as_secs_f64())).collect()
    })
}

/// The waits of longer replications of the reference, which every run on the real stack has been found equal to.
pub(super) fn reference_replications(system: &System) -> impl Iterator<Item = Vec<Wait>> + '_ {
    (101..=100 + REPLICATIONS).map(move |seed| {
        let jobs = system.jobs(seed, TASKS_LONG);
        let waits = jobs.iter().zip(reference::starts(&jobs, system.slots));
        let waits = waits.map(|(job, start)| (job.class, Micros(start - job.at).as_secs_f64()));
        waits.take(TASKS_LONG - COOL_DOWN).skip(WARM_UP).collect()
    })
}

/// Results in order of arrival, and the slot time that the workers say they spent.
fn run(system: &System, jobs: &[Job]) -> (Vec<TaskResult>, Micros) {
    Clock::run_virtual(async |clock| {
        let cluster = Cluster::in_memory(clock);
        let mut settings = scheduling(system.policy, 0);
        settings.scheduler.max_in_flight = Window::Auto;
        let scheduler = cluster.scheduler("s", settings);
        let stop = CancellationToken::new();
        let workers: Vec<_> = (0..system.slots.div_ceil(WORKER_SLOTS))
            .map(|n| {
                let settings = working(system.slots.min(WORKER_SLOTS));
                let handler = Arc::new(SimHandler { mode: ExecMode::Sleep });
                let (broker, clock) = (cluster.broker.clone(), cluster.clock.clone());
                tokio::spawn(Worker::new(broker, clock, format!("w{n}"), settings, handler).run(stop.clone()))
            })
            .collect();
        let start = cluster.clock.now() + LEAD_IN;
        let tasks = jobs.iter().enumerate().map(|(n, job)| {
            let at = start + Micros(job.at);
            let priority = system.priority(job.class);
            let body =
                json!({ "id": format!("{n:06}"), "priority": priority, "service_us": job.service, "submitted_us": at });
            Planned { at, body: body.to_string().into() }
        });
        let report = producer::run(&cluster.broker, &cluster.clock, tasks, CancellationToken::new()).await.unwrap();
        assert_eq!((report.submitted, report.lag_max), (jobs.len() as u64, Micros::ZERO));
        cluster.ended(jobs.len() as u64).await;
        scheduler.stop.cancel();
        let mut busy = Micros::ZERO;
        stop.cancel();
        for worker in workers {
            busy += worker.await.unwrap().busy_us;
        }
        let mut results: Vec<TaskResult> = cluster.results().await.into_iter().map(|entry| entry.result).collect();
        results.sort_by(|a, b| a.id.cmp(&b.id));
        (results, busy)
    })
}

/// What holds on every path: starts as in the reference, Little's law, no idle slot while somebody waits.
fn assert_exact(system: &System, jobs: &[Job], results: &[TaskResult], busy: Micros) {
    assert_eq!(results.len(), jobs.len());
    let origin = results[0].submitted_us.0 - jobs[0].at;
    let expected = reference::starts(jobs, system.slots);
    for ((n, result), expected) in results.iter().enumerate().zip(expected) {
        let start = result.started_us.0 - origin;
        assert_eq!(start, expected, "task {n} of class {} on {} slots", jobs[n].class, system.slots);
        assert_eq!(result.measured_service_us.0, jobs[n].service, "task {n}");
    }
    // Little: ∫N dt = Σ times, in integers, for the system, the queue and the slots (whose workers counted by themselves).
    let integral = |from: fn(&TaskResult) -> Micros, to: fn(&TaskResult) -> Micros| {
        number_in_system_integral(results.iter().map(|result| (from(result), to(result))))
    };
    let sum = |time: fn(&TaskResult) -> Micros| i128::from(results.iter().map(time).sum::<Micros>().0);
    assert_eq!(integral(|r| r.submitted_us, |r| r.finished_us), sum(TaskResult::sojourn));
    assert_eq!(integral(|r| r.submitted_us, |r| r.started_us), sum(TaskResult::wait));
    assert_eq!(integral(|r| r.started_us, |r| r.finished_us), i128::from(busy.0));
    assert_no_idle_slot(system.slots, results);
}

/// Between any two events, either every slot is busy or nobody waits.
fn assert_no_idle_slot(slots: u32, results: &[TaskResult]) {
    // (instant, change of those waiting, change of those running)
    let mut events: Vec<(Micros, i64, i64)> =
        results.iter().flat_map(|r| [(r.submitted_us, 1, 0), (r.started_us, -1, 1), (r.finished_us, 0, -1)]).collect();
    events.sort_unstable();
    let (mut waiting, mut running) = (0, 0);
    for instant in events.chunk_by(|a, b| a.0 == b.0) {
        waiting += instant.iter().map(|event| event.1).sum::<i64>();
        running += instant.iter().map(|event| event.2).sum::<i64>();
        assert!(running <= i64::from(slots));
        assert!(waiting == 0 || running == i64::from(slots), "at {} {waiting} wait beside {running}", instant[0].0);
    }
}
