//! The summary table: a row per workload, load and policy over all repetitions; as text, Markdown and CSV.

use super::records::Measured;
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

/// The rows under the header, as text.
pub(super) struct Table(Vec<Vec<String>>);

impl Table {
    /// Groups cells by what they have in common but the repetition; figures are means, with half of the 95 % confidence
    /// interval where there are repetitions.
    pub(super) fn of(cells: &[Measured], slots: u32) -> Self {
        let mut groups: Vec<Vec<&Measured>> = Vec::new();
        let key = |measured: &Measured| (measured.cell.workload, measured.cell.load.to_bits(), measured.cell.arm);
        for measured in cells {
            match groups.iter_mut().find(|group| key(group[0]) == key(measured)) {
                Some(group) => group.push(measured),
                None => groups.push(vec![measured]),
            }
        }
        // Stable: policies keep their order within a workload and a load.
        let mut rows = vec![HEADER.map(str::to_owned).to_vec()];
        rows.extend(groups.iter().map(|group| row(group, slots)));
        Table(rows)
    }

    /// Columns aligned with spaces.
    pub(super) fn text(&self) -> String {
        let width = |column: usize| self.0.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
        let line = |row: &Vec<String>| {
            let cells: Vec<String> = (0..HEADER.len())
                .map(|n| {
                    let (cell, width) = (&row[n], width(n));
                    if n == 0 || n == 2 { format!("{cell:<width$}") } else { format!("{cell:>width$}") }
                })
                .collect();
            cells.join("  ").trim_end().to_owned() + "\n"
        };
        self.0.iter().map(line).collect()
    }

    /// A Markdown table.
    pub(super) fn markdown(&self) -> String {
        let mut lines: Vec<String> = self.0.iter().map(|row| format!("| {} |\n", row.join(" | "))).collect();
        lines.insert(1, format!("|{}\n", " --- |".repeat(HEADER.len())));
        lines.concat()
    }

    /// CSV.
    pub(super) fn csv(&self) -> anyhow::Result<Vec<u8>> {
        let mut file = csv::Writer::from_writer(Vec::new());
        for row in &self.0 {
            file.write_record(row)?;
        }
        Ok(file.into_inner()?)
    }
}

fn row(group: &[&Measured], slots: u32) -> Vec<String> {
    let figure = |digits: usize, value: &dyn Fn(&Measured) -> f64| {
        let found = interval95(&group.iter().map(|measured| value(measured)).collect::<Vec<_>>());
        if found.half_width.is_nan() {
            format!("{:.digits$}", found.mean)
        } else {
            format!("{:.digits$} ± {:.digits$}", found.mean, found.half_width)
        }
    };
    let cell = &group[0].cell;
    let count = |value: fn(&Measured) -> u64| group.iter().map(|measured| value(measured)).sum::<u64>();
    vec![
        cell.workload.into(),
        format!("{:.2}", cell.load),
        cell.arm.name().into(),
        group.len().to_string(),
        format!("{}/{}", count(|m| m.summary.completed), count(|m| m.cell.tasks.len() as u64)),
        figure(1, &|m| m.summary.throughput_per_s),
        figure(3, &|m| m.summary.latency.p50_s),
        figure(3, &|m| m.summary.latency.p95_s),
        figure(3, &|m| m.summary.latency.p99_s),
        figure(3, &|m| m.summary.wait.max_s),
        figure(1, &|m| m.summary.deadline_miss_rate * 100.0),
        figure(3, &|m| m.summary.jain_service),
        figure(1, &|m| m.utilisation(slots) * 100.0),
    ]
}
