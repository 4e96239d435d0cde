//! What each priority waited.

use super::Spread;
use crate::model::outcome::TaskResult;
use serde::Serialize;
use std::collections::BTreeMap;

/// One priority of one cell.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PrioritySummary {
    /// Higher is more important.
    pub priority: u8,
    /// Completed tasks.
    pub completed: u64,
    /// Submission to end.
    pub latency: Spread,
    /// Submission to start.
    pub wait: Spread,
    /// Completed after the deadline.
    pub deadline_missed: u64,
    /// Over completed tasks.
    pub deadline_miss_rate: f64,
}

/// Every priority that completed a task, ascending.
pub fn by_priority(results: &[TaskResult]) -> Vec<PrioritySummary> {
    let mut groups: BTreeMap<u8, Vec<&TaskResult>> = BTreeMap::new();
    for result in results {
        groups.entry(result.priority).or_default().push(result);
    }
    let summary = |(priority, group): (&u8, &Vec<&TaskResult>)| {
        let missed = group.iter().filter(|result| result.deadline_missed()).count();
        PrioritySummary {
            priority: *priority,
            completed: group.len() as u64,
            latency: Spread::of(group.iter().map(|result| result.sojourn().as_secs_f64()).collect()),
            wait: Spread::of(group.iter().map(|result| result.wait().as_secs_f64()).collect()),
            deadline_missed: missed as u64,
            deadline_miss_rate: missed as f64 / group.len() as f64,
        }
    };
    groups.iter().map(summary).collect()
}

#[cfg(test)]
mod tests {
    use super::super::inversions::tests::result;
    use super::*;

    #[test]
    fn worked_values() {
        let s = 1_000_000;
        let mut tasks =
            vec![result("a", "x", 0, s, 3 * s), result("b", "y", s, 3 * s, 4 * s), result("c", "x", 0, 0, s)];
        tasks[1].priority = 7;
        tasks[1].deadline_us = Some(crate::model::Micros(s));
        let found = by_priority(&tasks);
        let figures: Vec<_> = found.iter().map(|p| (p.priority, p.completed, p.latency.mean_s, p.wait.max_s)).collect();
        assert_eq!(figures, [(0, 2, 2.0, 1.0), (7, 1, 3.0, 2.0)]);
        assert_eq!((found[0].deadline_miss_rate, found[1].deadline_missed), (0.0, 1));
    }
}
