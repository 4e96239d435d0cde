//! How often a task was overtaken against the policy's order.

use crate::model::outcome::TaskResult;
use std::collections::{BTreeMap, BTreeSet};

/// The order that starts are held against.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// By submission.
    Submitted,
    /// By priority, higher first, then by submission.
    Priority,
    /// By deadline (none: last), then by submission.
    Deadline,
    /// By submission, within each tenant alone: for fair queueing, whose order among tenants is not in the records.
    WithinTenant,
}

impl Order {
    fn key(self, task: &TaskResult) -> (i64, i64) {
        let submitted = task.submitted_us.0;
        match self {
            Order::Submitted | Order::WithinTenant => (submitted, 0),
            Order::Priority => (255 - i64::from(task.priority), submitted),
            Order::Deadline => (task.deadline_us.map_or(i64::MAX, |deadline| deadline.0), submitted),
        }
    }
}

/// The number of tasks A that began although some task B was waiting that goes before A: B had been admitted no later
/// than A began, began strictly later than A, and its key is strictly smaller. Each A counts once. Tasks that were retried or
/// interrupted are left out, since their records only show the last attempt.
///
/// Even a perfect policy has some: what sits in the in-flight window has been decided already.
pub fn inversions(results: &[TaskResult], order: Order) -> u64 {
    let mut groups: BTreeMap<&str, Vec<&TaskResult>> = BTreeMap::new();
    for task in results.iter().filter(|task| task.attempts == 1 && task.interruptions == 0) {
        let group = if order == Order::WithinTenant { task.tenant.as_str() } else { "" };
        groups.entry(group).or_default().push(task);
    }
    groups.values().map(|group| overtakers(group, order)).sum()
}

fn overtakers(tasks: &[&TaskResult], order: Order) -> u64 {
    let mut admissions: Vec<usize> = (0..tasks.len()).collect();
    admissions.sort_by_key(|index| tasks[*index].admitted_us);
    let mut starts: Vec<usize> = (0..tasks.len()).collect();
    starts.sort_by_key(|index| tasks[*index].started_us);
    let mut admissions = admissions.into_iter().peekable();
    let mut waiting: BTreeSet<((i64, i64), usize)> = BTreeSet::new();
    let mut count = 0;
    for together in starts.chunk_by(|a, b| tasks[*a].started_us == tasks[*b].started_us) {
        let now = tasks[together[0]].started_us;
        while let Some(index) = admissions.next_if(|index| tasks[*index].admitted_us <= now) {
            waiting.insert((order.key(tasks[index]), index));
        }
        // Those that begin at one instant do not overtake each other.
        for index in together {
            waiting.remove(&(order.key(tasks[*index]), *index));
        }
        if let Some((best, _)) = waiting.first() {
            count += together.iter().filter(|index| *best < order.key(tasks[**index])).count() as u64;
        }
    }
    count
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::model::{Epoch, Micros};

    pub(in super::super) fn result(id: &str, tenant: &str, submitted: i64, started: i64, finished: i64) -> TaskResult {
        TaskResult {
            id: id.into(),
            tenant: tenant.into(),
            kind: "sim".into(),
            priority: 0,
            submitted_us: Micros(submitted),
            admitted_us: Micros(submitted),
            dispatched_us: Micros(started),
            started_us: Micros(started),
            finished_us: Micros(finished),
            deadline_us: None,
            service_us: Micros(finished - started),
            measured_service_us: Micros(finished - started),
            attempts: 1,
            interruptions: 0,
            epoch: Epoch::default(),
            worker: "w".into(),
        }
    }

    #[test]
    fn an_overtaker_counts_once_and_equals_do_not() {
        let mut tasks = vec![
            result("a", "x", 0, 30, 40),
            result("b", "y", 1, 20, 30),
            result("c", "y", 2, 10, 20),
            result("d", "x", 3, 30, 40),
        ];
        // b overtook a; c overtook a and b; d began together with a.
        assert_eq!(inversions(&tasks, Order::Submitted), 2);
        // Within tenants only c overtook b.
        assert_eq!(inversions(&tasks, Order::WithinTenant), 1);
        tasks[2].priority = 5;
        tasks[3].priority = 9;
        // By priority c goes first but d, which is better still, was there at 3; b overtook d.
        assert_eq!(inversions(&tasks, Order::Priority), 2);
        // Not admitted when c and b began: not overtaken.
        tasks[3].admitted_us = Micros(25);
        assert_eq!(inversions(&tasks, Order::Priority), 1);
        tasks[0].attempts = 2;
        assert_eq!(inversions(&tasks, Order::Submitted), 1);
    }
}
