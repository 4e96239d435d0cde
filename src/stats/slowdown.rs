//! How much longer a task took than its work.

use super::percentile;
use crate::model::Micros;
use crate::model::outcome::TaskResult;
use serde::Serialize;

/// Sojourn over measured service, without unit: 1 for a task that never waited. Short tasks dominate it. All not-a-number for
/// no tasks.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[expect(missing_docs, reason = "the names say it")]
pub struct Slowdown {
    pub mean: f64,
    pub p95: f64,
    pub p99: f64,
}

impl Slowdown {
    /// Of tasks in any order; a service below 1 µs counts as 1 µs.
    pub fn of<'a>(results: impl IntoIterator<Item = &'a TaskResult>) -> Self {
        let ratio = |r: &TaskResult| r.sojourn().as_secs_f64() / r.measured_service_us.max(Micros(1)).as_secs_f64();
        let mut values: Vec<f64> = results.into_iter().map(ratio).collect();
        values.sort_unstable_by(f64::total_cmp);
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        Slowdown { mean, p95: percentile(&values, 0.95), p99: percentile(&values, 0.99) }
    }
}
