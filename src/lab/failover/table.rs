//! The summary: a row per arm.

use super::super::grid::Grid;
use super::row::Row;
use crate::stats::percentile;

const HEADER: [&str; 10] = [
    "arm",
    "n",
    "median ms",
    "min–max ms",
    "censored",
    "unfinished",
    "inversions",
    "duplicates",
    "leaders after",
    "fenced",
];

/// A row per arm (and mode), in the order of the trials.
pub(super) fn of(rows: &[Row]) -> Grid {
    let mut groups: Vec<Vec<&Row>> = Vec::new();
    for row in rows {
        match groups.iter_mut().find(|group| group[0].arm == row.arm && group[0].mode == row.mode) {
            Some(group) => group.push(row),
            None => groups.push(vec![row]),
        }
    }
    let mut grid = Grid::new(&HEADER, &[0]);
    groups.iter().for_each(|group| grid.push(line(group)));
    grid
}

fn line(group: &[&Row]) -> Vec<String> {
    let mut known: Vec<f64> = group.iter().filter(|row| row.recovered).map(|row| row.outage_ms).collect();
    known.sort_by(f64::total_cmp);
    let censored = group.len() - known.len();
    // A censored trial is longer than any other; a median among them has no value.
    let mut all = known.clone();
    all.resize(group.len(), f64::INFINITY);
    let median = percentile(&all, 0.5);
    let sum = |value: fn(&Row) -> u64| group.iter().map(|row| value(row)).sum::<u64>().to_string();
    let after: Vec<u32> = group.iter().filter_map(|row| row.leaders_after_resume).collect();
    let range = match (known.first(), known.last()) {
        (Some(least), Some(most)) => format!("{least:.0}–{most:.0}"),
        _ => "–".into(),
    };
    let back = |text: String| if after.is_empty() { "–".into() } else { text };
    let fenced = group.iter().filter(|row| row.fenced_operations.is_some_and(|count| count > 0)).count();
    vec![
        group[0].label(),
        group.len().to_string(),
        if median.is_finite() { format!("{median:.0}") } else { "–".into() },
        range,
        censored.to_string(),
        sum(|row| row.unfinished),
        sum(|row| row.epoch_inversions),
        sum(|row| row.duplicate_completions),
        back(after.iter().max().map_or_else(String::new, ToString::to_string)),
        back(format!("{fenced}/{}", after.len())),
    ]
}
