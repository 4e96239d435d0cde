//! A row of `aggregate.csv` or `tenants.csv`.

use anyhow::Context;
use std::collections::BTreeMap;

/// Who it is about, and its fields by the names of the columns.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// The run that measured it; in an assembled directory they differ.
    pub run_id: String,
    /// The policy, or `none`.
    pub policy: String,
    /// The workload, or `trace`.
    pub workload: String,
    /// Offered load.
    pub load: f64,
    /// From 1.
    pub repetition: u32,
    /// Of the workload.
    pub seed: u64,
    /// Which broker.
    pub broker: String,
    fields: BTreeMap<String, String>,
}

impl Row {
    pub(super) fn read(header: &csv::StringRecord, record: &csv::StringRecord) -> anyhow::Result<Self> {
        let fields: BTreeMap<String, String> =
            header.iter().map(str::to_owned).zip(record.iter().map(str::to_owned)).collect();
        let text = |name: &str| fields.get(name).cloned().with_context(|| format!("column `{name}` is missing"));
        let number = |name: &str| {
            let found = text(name)?;
            found.parse::<f64>().with_context(|| format!("column `{name}`: `{found}` is no number"))
        };
        Ok(Row {
            run_id: text("run_id")?,
            policy: text("scheduler")?,
            workload: text("workload")?,
            load: number("load")?,
            repetition: text("repetition")?.parse().context("column `repetition`")?,
            seed: text("seed")?.parse().context("column `seed`")?,
            broker: text("broker")?,
            fields,
        })
    }

    /// A figure; not-a-number when the column is absent or holds none (an older tq wrote fewer columns).
    pub fn figure(&self, column: &str) -> f64 {
        match self.text(column) {
            "true" => 1.0,
            "false" => 0.0,
            other => other.parse().unwrap_or(f64::NAN),
        }
    }

    /// A field as it was written; empty when the column is absent.
    pub fn text(&self, column: &str) -> &str {
        self.fields.get(column).map_or("", String::as_str)
    }

    /// Its name in file names: `<policy>_<workload>[_l1p25]_rep<N>`.
    pub fn label(&self, load_given: bool) -> String {
        let load = if load_given { format!("_l{}", self.load).replace('.', "p") } else { String::new() };
        format!("{}_{}{load}_rep{}", self.policy, self.workload, self.repetition)
    }
}
