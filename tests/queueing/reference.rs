//! A queue of c servers with non-preemptive priority classes, written without any part of the product.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A job: arrival, service time, class (0 is most urgent).
#[derive(Debug, Clone, Copy)]
pub(super) struct Job {
    pub(super) at: i64,
    pub(super) service: i64,
    pub(super) class: usize,
}

/// When each job (in order of arrival) starts: by class, then by arrival. At one instant servers become free, then jobs
/// arrive, then servers choose.
pub(super) fn starts(jobs: &[Job], servers: u32) -> Vec<i64> {
    let mut starts = vec![0; jobs.len()];
    let mut free_at: BinaryHeap<Reverse<i64>> = (0..servers).map(|_| Reverse(i64::MIN)).collect();
    let mut waiting = BinaryHeap::new();
    let mut arrivals = jobs.iter().enumerate().peekable();
    let mut now = i64::MIN;
    for _ in 0..jobs.len() {
        let Reverse(free) = free_at.pop().unwrap();
        // The server chooses when it is free and somebody is there; several may have come at the instant of the last choice.
        now = match arrivals.peek() {
            Some((_, job)) if waiting.is_empty() => now.max(free).max(job.at),
            _ => now.max(free),
        };
        while let Some((n, job)) = arrivals.next_if(|(_, job)| job.at <= now) {
            waiting.push(Reverse((job.class, n)));
        }
        let Reverse((_, n)) = waiting.pop().unwrap();
        starts[n] = now;
        free_at.push(Reverse(now + jobs[n].service));
    }
    starts
}
