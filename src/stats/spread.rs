//! The figures that describe one distribution of times.

use super::{interval95, percentile};
use serde::Serialize;

/// Mean, standard deviation (n − 1), percentiles and maximum, in seconds; all not-a-number for no values.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[expect(missing_docs, reason = "the names say it")]
pub struct Spread {
    pub mean_s: f64,
    pub sd_s: f64,
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
        let moments = interval95(&values);
        let at = |share| percentile(&values, share);
        Spread {
            mean_s: moments.mean,
            sd_s: moments.sd,
            p50_s: at(0.5),
            p95_s: at(0.95),
            p99_s: at(0.99),
            p999_s: at(0.999),
            max_s: at(1.0),
        }
    }
}
