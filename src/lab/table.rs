//! The summary table: a row per workload, load and policy over all repetitions.

use super::grid::Grid;
use super::results::Row;
use crate::stats::interval95;

const HEADER: [&str; 13] = [
    "workload",
    "load",
    "policy",
    "n",
    "completed",
    "per s",
    "p50 s",
    "p95 s",
    "p99 s",
    "max wait s",
    "miss %",
    "Jain",
    "util %",
];

/// Groups the rows of `aggregate.csv` by what they have in common but the repetition; figures are means, with half of the
/// 95 % confidence interval where there are repetitions.
pub(super) fn of(rows: &[Row]) -> Grid {
    let mut groups: Vec<Vec<&Row>> = Vec::new();
    let key = |row: &Row| (row.workload.clone(), row.load.to_bits(), row.policy.clone());
    for row in rows {
        match groups.iter_mut().find(|group| key(group[0]) == key(row)) {
            Some(group) => group.push(row),
            None => groups.push(vec![row]),
        }
    }
    let mut grid = Grid::new(&HEADER, &[0, 2]);
    groups.iter().for_each(|group| grid.push(line(group)));
    grid
}

fn line(group: &[&Row]) -> Vec<String> {
    let figure = |digits: usize, factor: f64, column: &str| {
        let found = interval95(&group.iter().map(|row| row.figure(column) * factor).collect::<Vec<_>>());
        if found.half_width.is_nan() {
            format!("{:.digits$}", found.mean)
        } else {
            format!("{:.digits$} ± {:.digits$}", found.mean, found.half_width)
        }
    };
    let count = |column: &str| group.iter().map(|row| row.figure(column)).sum::<f64>();
    vec![
        group[0].workload.clone(),
        format!("{:.2}", group[0].load),
        group[0].policy.clone(),
        group.len().to_string(),
        format!("{}/{}", count("tasks_completed"), count("tasks_planned")),
        figure(1, 1.0, "throughput_tasks_per_s"),
        figure(3, 1.0, "latency_p50_s"),
        figure(3, 1.0, "latency_p95_s"),
        figure(3, 1.0, "latency_p99_s"),
        figure(3, 1.0, "wait_max_s"),
        figure(1, 100.0, "deadline_miss_rate"),
        figure(3, 1.0, "jain_fairness_service"),
        figure(1, 100.0, "worker_utilization"),
    ]
}
