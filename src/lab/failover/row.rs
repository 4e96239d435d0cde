//! A row of `failover.csv`, and the file.

use anyhow::Context;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::path::Path;

/// One trial. Times in ms; fields that have no meaning in an arm are empty.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Name of the run.
    pub run_id: String,
    /// From 1, within its arm and mode.
    pub repetition: u32,
    /// What was done to the leader.
    pub arm: String,
    /// In which way, where there are several.
    pub mode: String,
    /// How long nothing was dispatched; −1 where the trial ended before that. In arm `none` the largest natural gap.
    pub outage_ms: f64,
    /// Whether dispatch came back.
    pub recovered: bool,
    /// The largest time between two dispatches of the whole trial.
    pub max_gap_ms: f64,
    /// Schedulers that said they lead, before the fault.
    pub leaders_before_kill: u32,
    /// Tasks whose completion was recorded twice, or reported a second time.
    pub duplicate_completions: u64,
    /// Dispatches under a term that had been superseded.
    pub epoch_inversions: u64,
    /// How long the leader was frozen or cut off.
    pub pause_ms: Option<f64>,
    /// Schedulers that say they lead, after it came back.
    pub leaders_after_resume: Option<u32>,
    /// Writes of the leader that came back which the fence refused; zero: it stood down before it wrote.
    pub fenced_operations: Option<u64>,
    /// Submitted tasks that neither completed nor were given up.
    pub unfinished: u64,
    /// Submitted tasks.
    pub submitted: u64,
    /// Terms granted after the fault.
    pub terms: u64,
}

impl Row {
    /// Arm and mode.
    pub fn label(&self) -> String {
        format!("{} {}", self.arm, self.mode).trim_end().to_owned()
    }

    /// Whether the trial broke a promise: with a standby every task ends, none twice, and no dead term dispatches.
    pub fn is_violation(&self) -> bool {
        let lost = self.arm != "single" && (self.unfinished > 0 || !self.recovered);
        lost || self.epoch_inversions > 0 || self.duplicate_completions > 0
    }
}

/// The rows of a file; none where there is no file.
pub(super) fn read(path: &Path) -> anyhow::Result<Vec<Row>> {
    if !path.exists() {
        return Ok(Vec::new());
    }
    let rows: Result<Vec<Row>, _> = csv::Reader::from_path(path)?.deserialize().collect();
    rows.with_context(|| format!("{} cannot be continued", path.display()))
}

/// Writes all rows anew; a trial is rare, and the file is whole whenever the run is interrupted.
pub(super) fn write(path: &Path, rows: &[Row]) -> anyhow::Result<()> {
    let draft = path.with_extension("csv.part");
    let mut file = csv::Writer::from_writer(File::create(&draft).with_context(|| format!("{}", draft.display()))?);
    for row in rows {
        file.serialize(row)?;
    }
    file.flush()?;
    std::fs::rename(&draft, path).with_context(|| format!("cannot write {}", path.display()))
}
