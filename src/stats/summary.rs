//! The figures of one cell, from its task records.

use super::{
    Claim, Order, PrioritySummary, Slowdown, Spread, TenantSummary, batch_half_width, by_priority, by_tenant,
    fair_share_satisfaction, interval95, inversions, jain,
};
use crate::model::Micros;
use crate::model::outcome::TaskResult;
use serde::Serialize;
use std::collections::BTreeMap;

/// One cell. Figures that nothing defines (a percentile of no tasks) are not-a-number.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Summary {
    /// Completed tasks.
    pub completed: u64,
    /// First submission to last completion.
    pub makespan_s: f64,
    /// Completed tasks per second of makespan.
    pub throughput_per_s: f64,
    /// Tasks completed on time (or without a deadline) per second of makespan.
    pub goodput_per_s: f64,
    /// Submission to end.
    pub latency: Spread,
    /// Half of the 95 % interval of its 95th percentile within this run ([`batch_half_width`]).
    pub latency_p95_half_width_s: f64,
    /// Submission to start of the last attempt.
    pub wait: Spread,
    /// Half of the 95 % interval of its mean within this run ([`batch_half_width`]).
    pub wait_mean_half_width_s: f64,
    /// Measured service.
    pub exec: Spread,
    /// Sojourn over service.
    pub slowdown: Slowdown,
    /// Completed after the deadline.
    pub deadline_missed: u64,
    /// Over completed tasks.
    pub deadline_miss_rate: f64,
    /// Planned tasks, completed or not, that waited longer than the threshold.
    pub starved: u64,
    /// Attempts beyond the first of completed tasks.
    pub retries: u64,
    /// Jain's index of service seconds per tenant.
    pub jain_service: f64,
    /// Jain's index of completed tasks per tenant.
    pub jain_count: f64,
    /// The smallest satisfaction of a tenant that asked for anything ([`fair_share_satisfaction`]).
    pub fair_share_satisfaction_min: f64,
    /// The mean over those tenants.
    pub fair_share_satisfaction_mean: f64,
    /// The largest and the smallest 99th percentile of latency among tenants that completed anything.
    pub tenant_p99_max_s: f64,
    /// See `tenant_p99_max_s`.
    pub tenant_p99_min_s: f64,
    /// The smallest share of service.
    pub service_share_min: f64,
    /// Tasks that began against the policy's order ([`inversions`]).
    pub inversions: u64,
    /// Every tenant by name.
    pub tenants: Vec<TenantSummary>,
    /// Every priority that completed a task.
    pub priorities: Vec<PrioritySummary>,
}

/// A planned task that did not complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unfinished<'a> {
    /// Whose it is.
    pub tenant: &'a str,
    /// When it was submitted.
    pub submitted: Micros,
    /// How much work it declared.
    pub service: Micros,
    /// When it was given up, or the cell ended.
    pub until: Micros,
}

/// What results are held against.
#[derive(Debug, Clone, PartialEq)]
pub struct Terms<'a> {
    /// Every planned tenant with its weight.
    pub tenants: BTreeMap<&'a str, f64>,
    /// Planned tasks without a result.
    pub unfinished: Vec<Unfinished<'a>>,
    /// The first and the last planned submission.
    pub submissions: (Micros, Micros),
    /// The policy's order.
    pub order: Order,
    /// A task that waits longer has starved.
    pub starvation_threshold: Micros,
}

/// A window of fairness lasts so many mean service times: one task more or less is little then, and being served after the window
/// does not make up for it.
const WINDOW_SERVICES: i64 = 20;
/// Fewer values in a batch make no mean, and no 95th percentile.
const BATCH_MIN: (usize, usize) = (10, 100);

/// Adds up results in any order.
pub fn summarise(results: &[TaskResult], terms: &Terms<'_>) -> Summary {
    let seconds = |time: fn(&TaskResult) -> Micros| results.iter().map(|r| time(r).as_secs_f64()).collect::<Vec<_>>();
    let first_submission = terms.submissions.0;
    let last = results.iter().map(|result| result.finished_us).max().unwrap_or(first_submission);
    let makespan_s = last.since(first_submission).as_secs_f64();
    let missed = results.iter().filter(|result| result.deadline_missed()).count();
    let tenants = tenants(results, terms);
    let p99s = || tenants.iter().filter(|tenant| tenant.completed > 0).map(|tenant| tenant.latency.p99_s);
    let each = |value: fn(&TenantSummary) -> f64| tenants.iter().map(value).collect::<Vec<_>>();
    let satisfaction = interval95(&each(|tenant| tenant.fair_share_satisfaction));
    let (wait_mean_half_width_s, latency_p95_half_width_s) = half_widths(results);
    Summary {
        completed: results.len() as u64,
        makespan_s,
        throughput_per_s: results.len() as f64 / makespan_s,
        goodput_per_s: (results.len() - missed) as f64 / makespan_s,
        latency: Spread::of(seconds(TaskResult::sojourn)),
        latency_p95_half_width_s,
        wait: Spread::of(seconds(TaskResult::wait)),
        wait_mean_half_width_s,
        exec: Spread::of(seconds(|result| result.measured_service_us)),
        slowdown: Slowdown::of(results),
        deadline_missed: missed as u64,
        deadline_miss_rate: missed as f64 / results.len() as f64,
        starved: tenants.iter().map(|tenant| tenant.starved).sum(),
        retries: results.iter().map(|result| u64::from(result.attempts.saturating_sub(1))).sum(),
        jain_service: jain(&each(|tenant| tenant.service_s)),
        jain_count: jain(&each(|tenant| tenant.completed as f64)),
        fair_share_satisfaction_min: each(|tenant| tenant.fair_share_satisfaction).into_iter().fold(f64::NAN, f64::min),
        fair_share_satisfaction_mean: satisfaction.mean,
        tenant_p99_max_s: p99s().fold(f64::NAN, f64::max),
        tenant_p99_min_s: p99s().fold(f64::NAN, f64::min),
        service_share_min: each(|tenant| tenant.service_share).into_iter().fold(f64::NAN, f64::min),
        inversions: inversions(results, terms.order),
        tenants,
        priorities: by_priority(results),
    }
}

/// Tenants with their satisfaction and how many of all their planned tasks starved.
fn tenants(results: &[TaskResult], terms: &Terms<'_>) -> Vec<TenantSummary> {
    let served = |result| Claim::from(result);
    let unserved = terms.unfinished.iter().map(|task| Claim {
        tenant: task.tenant,
        submitted: task.submitted,
        served: None,
        service: task.service,
        until: task.until,
    });
    let claims: Vec<Claim<'_>> = results.iter().map(served).chain(unserved).collect();
    let service: Micros = claims.iter().map(|claim| claim.service).sum();
    let window = Micros(service.0 / (claims.len().max(1) as i64)) * WINDOW_SERVICES;
    let satisfaction = fair_share_satisfaction(&claims, &terms.tenants, terms.submissions, window);
    let mut tenants = by_tenant(results, terms.tenants.keys().copied());
    for tenant in &mut tenants {
        tenant.fair_share_satisfaction = satisfaction.get(&*tenant.tenant).copied().unwrap_or(f64::NAN);
        let starved = |claim: &&Claim<'_>| claim.tenant == tenant.tenant && claim.waited() > terms.starvation_threshold;
        tenant.starved = claims.iter().filter(starved).count() as u64;
    }
    tenants
}

/// Of the mean wait and of the 95th percentile of latency, by batches in the order of submission.
fn half_widths(results: &[TaskResult]) -> (f64, f64) {
    let mut order: Vec<&TaskResult> = results.iter().collect();
    order.sort_by_key(|result| (result.submitted_us, &result.id));
    let wait: Vec<f64> = order.iter().map(|result| result.wait().as_secs_f64()).collect();
    let latency: Vec<f64> = order.iter().map(|result| result.sojourn().as_secs_f64()).collect();
    let mean = batch_half_width(&wait, BATCH_MIN.0, |batch| Spread::of(batch.to_vec()).mean_s);
    (mean, batch_half_width(&latency, BATCH_MIN.1, |batch| Spread::of(batch.to_vec()).p95_s))
}

#[cfg(test)]
mod tests {
    use super::super::inversions::tests::result;
    use super::*;

    fn terms(order: Order) -> Terms<'static> {
        Terms {
            tenants: [("x", 1.0), ("y", 1.0), ("z", 1.0)].into(),
            unfinished: Vec::new(),
            submissions: (Micros::ZERO, Micros::from_secs(1)),
            order,
            starvation_threshold: Micros::from_secs(2),
        }
    }

    #[test]
    fn worked_values() {
        let s = 1_000_000;
        let mut tasks = vec![result("a", "x", 0, s, 3 * s), result("b", "y", s, 3 * s, 4 * s)];
        tasks[0].deadline_us = Some(Micros(3 * s));
        tasks[1].deadline_us = Some(Micros(4 * s - 1));
        let late = Unfinished { tenant: "z", submitted: Micros::ZERO, service: Micros(s), until: Micros(4 * s) };
        let terms = Terms { unfinished: vec![late], ..terms(Order::Submitted) };
        let found = summarise(&tasks, &terms);
        assert_eq!((found.completed, found.makespan_s, found.throughput_per_s), (2, 4.0, 0.5));
        assert_eq!((found.latency.mean_s, found.wait.max_s, found.exec.p50_s), (3.0, 2.0, 1.5));
        // Ending exactly at the deadline is not a miss.
        assert_eq!((found.deadline_missed, found.deadline_miss_rate), (1, 0.5));
        // Service 2, 1, 0: 9 / (3 · 5).
        assert_eq!((found.jain_service, found.service_share_min), (0.6, 0.0));
        assert_eq!(found.tenants[2].tenant, "z");
        // Exactly the threshold of 2 s is not starved; what never ran waited until the end.
        assert_eq!((found.starved, found.tenants[2].starved, found.goodput_per_s), (1, 1, 0.25));
        assert_eq!((found.slowdown.mean, found.priorities.len()), (2.25, 1));
        assert!(found.wait_mean_half_width_s.is_nan() && found.latency.sd_s == 0.0);
        assert_eq!((found.tenant_p99_max_s, found.tenant_p99_min_s), (3.0, 3.0));
    }

    #[test]
    fn nothing_completed_is_not_a_number_but_no_panic() {
        let found = summarise(&[], &terms(Order::Deadline));
        assert!(found.latency.p99_s.is_nan() && found.deadline_miss_rate.is_nan() && found.tenant_p99_max_s.is_nan());
        assert_eq!((found.completed, found.jain_service), (0, 1.0));
    }
}
