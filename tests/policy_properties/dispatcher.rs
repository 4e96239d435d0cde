//! A pure dispatcher: c unit-speed workers; at one instant completions, then arrivals, then dispatches; ties by arrival number.

use proptest::prelude::*;
use tq::model::{EntryId, Micros, Task};
use tq::policy::{Policy, PolicyKind, Weights, build};

/// A job of a flow: when it comes and how long it takes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Job {
    pub(super) flow: usize,
    pub(super) at: i64,
    pub(super) size: i64,
}

/// One dispatch.
#[derive(Debug)]
pub(super) struct Dispatch {
    pub(super) job: usize,
    /// Queue length of each flow just before it.
    pub(super) queued: Vec<usize>,
}

/// What happened.
#[derive(Debug)]
pub(super) struct Log {
    pub(super) dispatches: Vec<Dispatch>,
    /// When each job ended.
    pub(super) finished: Vec<i64>,
}

impl Log {
    /// The flows in the order in which they were dispatched, as letters.
    pub(super) fn letters(&self, jobs: &[Job]) -> String {
        self.dispatches.iter().map(|dispatch| char::from(b'A' + jobs[dispatch.job].flow as u8)).collect()
    }
}

/// The name of a flow's tenant.
pub(super) fn tenant(flow: usize) -> String {
    format!("tenant-{flow}")
}

/// The n-th task to arrive.
pub(super) fn task(n: usize, flow: usize, at: i64, size: i64) -> Task {
    Task {
        id: format!("{n}").into(),
        tenant: tenant(flow).into(),
        kind: "sim".into(),
        priority: 0,
        cost: Micros(size),
        deadline: None,
        max_retries: None,
        submitted: Micros(at),
        not_before: None,
        arrival: EntryId::new(0, n as u64),
        body: bytes::Bytes::new(),
    }
}

/// WFQ with one weight for each flow.
pub(super) fn wfq(weights: &[f64]) -> Box<dyn Policy> {
    let by_tenant = weights.iter().enumerate().map(|(flow, weight)| (tenant(flow), *weight)).collect();
    build(PolicyKind::Wfq, Weights { by_tenant, default: 1.0 })
}

/// Runs `jobs` (in order of arrival) on `workers`.
pub(super) fn run(policy: &mut dyn Policy, jobs: &[Job], flows: usize, workers: usize) -> Log {
    let mut queued = vec![0usize; flows];
    let mut log = Log { dispatches: Vec::new(), finished: vec![0; jobs.len()] };
    let mut busy: Vec<i64> = Vec::new();
    let mut next_arrival = 0;
    loop {
        let arrival = jobs.get(next_arrival).map(|job| job.at);
        let Some(now) = busy.iter().copied().chain(arrival).min() else { break };
        busy.retain(|end| *end > now);
        while let Some(job) = jobs.get(next_arrival).filter(|job| job.at == now) {
            let rank = policy.rank(&task(next_arrival, job.flow, job.at, job.size));
            policy.insert(rank);
            queued[job.flow] += 1;
            next_arrival += 1;
        }
        while busy.len() < workers && !policy.is_empty() {
            // P11: whoever waits is given out when a worker is free.
            let rank = policy.next(Micros(now)).expect("a room that is not empty must give somebody");
            let job: usize = rank.member.id().parse().unwrap();
            log.dispatches.push(Dispatch { job, queued: queued.clone() });
            queued[jobs[job].flow] -= 1;
            log.finished[job] = now + jobs[job].size;
            busy.push(log.finished[job]);
        }
        assert_eq!(policy.len(), queued.iter().sum::<usize>());
        assert!(busy.len() == workers || policy.is_empty(), "a worker idles while somebody waits");
    }
    log
}

/// Weights of 2–6 flows and up to 80 jobs, some flows with large jobs, arrivals in bursts.
pub(super) fn instances() -> impl Strategy<Value = (Vec<f64>, Vec<Job>)> {
    let weights = prop::collection::vec(prop_oneof![Just(1.0), 0.1f64..10.0, (1u8..10).prop_map(f64::from)], 2..=6);
    weights.prop_flat_map(|weights| {
        let flows = weights.len();
        let largest = prop::collection::vec(prop_oneof![Just(1i64), Just(3), Just(40)], flows);
        let gap = prop_oneof![3 => Just(0i64), 2 => 0i64..4, 1 => 0i64..120];
        let jobs = prop::collection::vec((0..flows, gap, 0i64..1_000), 1..80);
        (Just(weights), largest, jobs).prop_map(|(weights, largest, drawn)| {
            let mut at = 0;
            let jobs = drawn.into_iter().map(|(flow, gap, size)| {
                at += gap;
                Job { flow, at, size: 1 + size % largest[flow] }
            });
            let jobs = jobs.collect();
            (weights, jobs)
        })
    })
}
