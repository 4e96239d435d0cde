//! What each tenant received.

use super::{Slowdown, Spread};
use crate::model::outcome::TaskResult;
use serde::Serialize;
use std::collections::BTreeMap;

/// One tenant of one cell.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TenantSummary {
    /// Its name.
    pub tenant: String,
    /// Completed tasks.
    pub completed: u64,
    /// Measured service.
    pub service_s: f64,
    /// Its share of all service; not-a-number if there was none.
    pub service_share: f64,
    /// Submission to end.
    pub latency: Spread,
    /// Submission to start.
    pub wait: Spread,
    /// Completed after the deadline.
    pub deadline_missed: u64,
    /// Over completed tasks; not-a-number if there are none.
    pub deadline_miss_rate: f64,
    /// Sojourn over service.
    pub slowdown: Slowdown,
    /// See [`super::fair_share_satisfaction`].
    pub fair_share_satisfaction: f64,
    /// Planned tasks that waited longer than the threshold.
    pub starved: u64,
}

/// Every tenant by name, without what needs more than results (satisfaction and starved tasks); `tenants` names those that were
/// planned, so that one without service shows as zero.
pub fn by_tenant<'a>(results: &[TaskResult], tenants: impl IntoIterator<Item = &'a str>) -> Vec<TenantSummary> {
    let mut groups: BTreeMap<&str, Vec<&TaskResult>> = tenants.into_iter().map(|name| (name, Vec::new())).collect();
    for result in results {
        groups.entry(result.tenant.as_str()).or_default().push(result);
    }
    let service_s = |group: &[&TaskResult]| group.iter().map(|r| r.measured_service_us.as_secs_f64()).sum::<f64>();
    let total_s: f64 = groups.values().map(|group| service_s(group)).sum();
    let summary = |(name, group): (&&str, &Vec<&TaskResult>)| {
        let missed = group.iter().filter(|result| result.deadline_missed()).count();
        TenantSummary {
            tenant: (*name).to_owned(),
            completed: group.len() as u64,
            service_s: service_s(group),
            service_share: service_s(group) / total_s,
            latency: Spread::of(group.iter().map(|result| result.sojourn().as_secs_f64()).collect()),
            wait: Spread::of(group.iter().map(|result| result.wait().as_secs_f64()).collect()),
            deadline_missed: missed as u64,
            deadline_miss_rate: missed as f64 / group.len() as f64,
            slowdown: Slowdown::of(group.iter().copied()),
            fair_share_satisfaction: f64::NAN,
            starved: 0,
        }
    };
    groups.iter().map(summary).collect()
}
