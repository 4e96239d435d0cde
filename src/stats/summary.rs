//! The figures of one cell, from its task records.

use super::{Order, Spread, TenantSummary, by_tenant, inversions, jain};
use crate::model::Micros;
use crate::model::outcome::TaskResult;
use serde::Serialize;

/// One cell. Figures that nothing defines (a percentile of no tasks) are not-a-number.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Summary {
    /// Completed tasks.
    pub completed: u64,
    /// First submission to last completion.
    pub makespan_s: f64,
    /// Completed tasks per second of makespan.
    pub throughput_per_s: f64,
    /// Submission to end.
    pub latency: Spread,
    /// Submission to start of the last attempt.
    pub wait: Spread,
    /// Measured service.
    pub exec: Spread,
    /// Completed after the deadline.
    pub deadline_missed: u64,
    /// Over completed tasks.
    pub deadline_miss_rate: f64,
    /// Attempts beyond the first of completed tasks.
    pub retries: u64,
    /// Jain's index of service seconds per tenant.
    pub jain_service: f64,
    /// Jain's index of completed tasks per tenant.
    pub jain_count: f64,
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
}

/// Adds up results in any order; `tenants` names those that were planned.
pub fn summarise<'a>(
    results: &[TaskResult],
    tenants: impl IntoIterator<Item = &'a str>,
    first_submission: Micros,
    order: Order,
) -> Summary {
    let seconds = |time: fn(&TaskResult) -> Micros| results.iter().map(|r| time(r).as_secs_f64()).collect::<Vec<_>>();
    let last = results.iter().map(|result| result.finished_us).max().unwrap_or(first_submission);
    let makespan_s = last.since(first_submission).as_secs_f64();
    let missed = results.iter().filter(|result| result.deadline_missed()).count();
    let tenants = by_tenant(results, tenants);
    let p99s = || tenants.iter().filter(|tenant| tenant.completed > 0).map(|tenant| tenant.latency.p99_s);
    let each = |value: fn(&TenantSummary) -> f64| tenants.iter().map(value).collect::<Vec<_>>();
    Summary {
        completed: results.len() as u64,
        makespan_s,
        throughput_per_s: results.len() as f64 / makespan_s,
        latency: Spread::of(seconds(TaskResult::sojourn)),
        wait: Spread::of(seconds(TaskResult::wait)),
        exec: Spread::of(seconds(|result| result.measured_service_us)),
        deadline_missed: missed as u64,
        deadline_miss_rate: missed as f64 / results.len() as f64,
        retries: results.iter().map(|result| u64::from(result.attempts.saturating_sub(1))).sum(),
        jain_service: jain(&each(|tenant| tenant.service_s)),
        jain_count: jain(&each(|tenant| tenant.completed as f64)),
        tenant_p99_max_s: p99s().fold(f64::NAN, f64::max),
        tenant_p99_min_s: p99s().fold(f64::NAN, f64::min),
        service_share_min: each(|tenant| tenant.service_share).into_iter().fold(f64::NAN, f64::min),
        inversions: inversions(results, order),
        tenants,
    }
}

#[cfg(test)]
mod tests {
    use super::super::inversions::tests::result;
    use super::*;

    #[test]
    fn worked_values() {
        let s = 1_000_000;
        let mut tasks = vec![result("a", "x", 0, s, 3 * s), result("b", "y", s, 3 * s, 4 * s)];
        tasks[0].deadline_us = Some(Micros(3 * s));
        tasks[1].deadline_us = Some(Micros(4 * s - 1));
        let found = summarise(&tasks, ["x", "y", "z"], Micros::ZERO, Order::Submitted);
        assert_eq!((found.completed, found.makespan_s, found.throughput_per_s), (2, 4.0, 0.5));
        assert_eq!((found.latency.mean_s, found.wait.max_s, found.exec.p50_s), (3.0, 2.0, 1.5));
        // Ending exactly at the deadline is not a miss.
        assert_eq!((found.deadline_missed, found.deadline_miss_rate), (1, 0.5));
        // Service 2, 1, 0: 9 / (3 · 5).
        assert_eq!((found.jain_service, found.service_share_min), (0.6, 0.0));
        assert_eq!(found.tenants[2].tenant, "z");
        assert_eq!((found.tenant_p99_max_s, found.tenant_p99_min_s), (3.0, 3.0));
    }

    #[test]
    fn nothing_completed_is_not_a_number_but_no_panic() {
        let found = summarise(&[], ["x"], Micros::ZERO, Order::Deadline);
        assert!(found.latency.p99_s.is_nan() && found.deadline_miss_rate.is_nan() && found.tenant_p99_max_s.is_nan());
        assert_eq!((found.completed, found.jain_service), (0, 1.0));
    }
}
