//! WFQ against the bounds of self-clocked fair queueing (Golestani 1994; Goyal, Vin, Cheng 1996).

use super::dispatcher::{Job, instances, run, task, wfq};
use proptest::prelude::*;
use tq::model::Micros;

/// Rounding of the tags: their sums have a relative error of some 2^-50.
const SLACK: f64 = 1e-6;

fn largest(jobs: &[Job], flow: usize) -> f64 {
    jobs.iter().filter(|job| job.flow == flow).map(|job| job.size).max().unwrap_or(0) as f64
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    /// P1: over any run of dispatches at which both flows wait, |D_i/w_i − D_j/w_j| ≤ L_i/w_i + L_j/w_j.
    #[test]
    fn p1_two_backlogged_tenants_never_drift_apart((weights, jobs) in instances(), workers in 1usize..=16) {
        let log = run(wfq(&weights).as_mut(), &jobs, weights.len(), workers);
        for i in 0..weights.len() {
            for j in 0..i {
                let bound = largest(&jobs, i) / weights[i] + largest(&jobs, j) / weights[j];
                // The largest sub-run is the spread of the running sum within a run.
                let (mut sum, mut low, mut high) = (0.0f64, 0.0f64, 0.0f64);
                for dispatch in &log.dispatches {
                    if dispatch.queued[i] == 0 || dispatch.queued[j] == 0 {
                        (sum, low, high) = (0.0, 0.0, 0.0);
                        continue;
                    }
                    let job = jobs[dispatch.job];
                    sum += match job.flow {
                        flow if flow == i => job.size as f64 / weights[i],
                        flow if flow == j => -(job.size as f64) / weights[j],
                        _ => 0.0,
                    };
                    (low, high) = (low.min(sum), high.max(sum));
                    prop_assert!(high - low <= bound + SLACK, "flows {i}, {j}: {} over {bound}", high - low);
                }
            }
        }
    }

    /// P10: with one worker a job ends by EAT + l/r + Σ L of the others, whatever the others send.
    #[test]
    fn p10_the_others_cannot_take_a_tenants_share((weights, jobs) in instances()) {
        let log = run(wfq(&weights).as_mut(), &jobs, weights.len(), 1);
        let total: f64 = weights.iter().sum();
        for (flow, weight) in weights.iter().enumerate() {
            let share = weight / total;
            let others: f64 = (0..weights.len()).filter(|other| *other != flow).map(|other| largest(&jobs, other)).sum();
            let mut free_at = 0.0f64;
            for (n, job) in jobs.iter().enumerate().filter(|(_, job)| job.flow == flow) {
                let expected_arrival = free_at.max(job.at as f64);
                free_at = expected_arrival + job.size as f64 / share;
                let bound = free_at + others;
                prop_assert!(log.finished[n] as f64 <= bound + SLACK, "job {n}: {} over {bound}", log.finished[n]);
            }
        }
    }

    /// P9: a tenant whose work the clock has passed ranks like one that was never seen.
    #[test]
    fn p9_idleness_earns_nothing((weights, jobs) in instances(), later in prop::collection::vec(1i64..50, 1..6)) {
        let mut policy = wfq(&weights);
        run(policy.as_mut(), &jobs, weights.len(), 1);
        // One task of a newcomer moves V; everybody has been idle since.
        let (n, newcomer, stranger) = (jobs.len(), weights.len(), weights.len() + 1);
        let first = policy.rank(&task(n, newcomer, 0, 10_000_000));
        policy.insert(first.clone());
        prop_assert_eq!(policy.next(Micros(0)), Some(first.clone()));
        for (flow, weight) in weights.iter().enumerate() {
            let mut start = first.score;
            for size in &later {
                let score = policy.rank(&task(n + 1, flow, 0, *size)).score;
                prop_assert!(score >= start, "flow {} starts {} before V", flow, start - score);
                prop_assert_eq!(score, start + *size as f64 / weight);
                start = score;
            }
        }
        let score = policy.rank(&task(n + 2, stranger, 0, later[0])).score;
        prop_assert_eq!(score, first.score + later[0] as f64);
    }
}

/// Runs jobs given as `(flow, arrival, size)` on one worker; flows as letters.
fn order(weights: &[f64], jobs: impl IntoIterator<Item = (usize, i64, i64)>) -> String {
    let jobs: Vec<Job> = jobs.into_iter().map(|(flow, at, size)| Job { flow, at, size }).collect();
    run(wfq(weights).as_mut(), &jobs, weights.len(), 1).letters(&jobs)
}

#[test]
fn v1_weight_two_gets_two_turns_of_three() {
    let jobs = (0..12).map(|n| (n % 2, 0, 1));
    assert_eq!(order(&[2.0, 1.0], jobs), "ABAABAABABBB");
}

#[test]
fn v2_a_heavy_tenant_runs_ahead_by_its_weight_and_no_more() {
    let jobs = (0..11).map(|_| (0, 0, 1)).chain((1..=10).map(|flow| (flow, 0, 1)));
    let mut weights = [1.0; 11];
    weights[0] = 10.0;
    assert_eq!(order(&weights, jobs), "AAAAAAAAAABCDEFGHIJKA");
}

#[test]
fn v3_large_tasks_do_not_buy_a_larger_share() {
    let jobs = (0..3).map(|_| (0, 0, 4)).chain((0..12).map(|_| (1, 0, 1)));
    assert_eq!(order(&[1.0, 1.0], jobs), "BBBABBBBABBBBAB");
}

#[test]
fn v4_a_late_joiner_alternates_from_when_it_comes() {
    let jobs = (0..20).map(|_| (0, 0, 1)).chain((0..5).map(|_| (1, 10, 1)));
    assert_eq!(order(&[1.0, 1.0], jobs), "AAAAAAAAAAABABABABABAAAAA");
}
