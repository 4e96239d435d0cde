//! The figures that describe one distribution of times.

use super::percentile;
use serde::Serialize;

/// Mean, percentiles and maximum, in seconds; all not-a-number for no values.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[expect(missing_docs, reason = "the names say it")]
pub struct Spread {
    pub mean_s: f64,
    pub p50_s: f64,
    pub p95_s: f64,
    pub p99_s: f64,
    pub p999_s: f64,
    pub max_s: f64,
}

impl Spread {
    /// Of values in any order.
    pub fn of(mut values: Vec<f64>) -> Self {
        values.sort_unstable_by(f64::total_cmp);
        let at = |share| percentile(&values, share);
        Spread {
            mean_s: values.iter().sum::<f64>() / values.len() as f64,
            p50_s: at(0.5),
            p95_s: at(0.95),
            p99_s: at(0.99),
            p999_s: at(0.999),
            max_s: at(1.0),
        }
    }
}
