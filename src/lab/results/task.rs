//! A row of a raw file: one task.

use serde::Deserialize;

/// What became of one planned task. Instants in µs since the Unix epoch by the broker's clock; absent where the task did
/// not get so far.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[expect(missing_docs, reason = "the names are those of the columns")]
pub struct Task {
    pub task_id: String,
    pub tenant: String,
    pub priority: u8,
    /// `completed`, `dead_lettered` or `unfinished`.
    pub outcome: String,
    pub submitted_us: i64,
    pub admitted_us: Option<i64>,
    pub dispatched_us: Option<i64>,
    pub started_us: Option<i64>,
    pub finished_us: Option<i64>,
    pub deadline_us: Option<i64>,
    pub service_us: i64,
    pub measured_service_us: Option<i64>,
    pub attempts: Option<u32>,
    pub epoch: Option<u64>,
    pub wait_s: Option<f64>,
    pub latency_s: Option<f64>,
    pub deadline_missed: Option<bool>,
    pub worker: String,
}
