//! Intervals for values that depend on their neighbours.

use super::interval95;

/// Few enough that each batch is long against the memory of the queue, enough for Student's t.
const BATCHES: usize = 20;

/// Half of the 95 % confidence interval of a figure of one run by batch means: values in order of time are cut into 20 batches,
/// the figure is taken of each, and Student's t with 19 degrees of freedom does the rest (Law and Kelton, *Simulation Modeling
/// and Analysis*, 3rd ed., §9.5.3; for quantiles Seila 1982). Successive waits are correlated, so the textbook interval of
/// independent values would be several times too narrow.
///
/// It speaks about a queue in steady state. Where the queue grows for as long as tasks arrive (offered load above 1), batches differ
/// because time passes, and only repetitions say how sure a figure is. Not-a-number when a batch would have fewer than
/// `batch_min` values.
pub fn batch_half_width(in_order: &[f64], batch_min: usize, figure: impl Fn(&[f64]) -> f64) -> f64 {
    let n = in_order.len();
    if n / BATCHES < batch_min.max(1) {
        return f64::NAN;
    }
    let batch = |k: usize| figure(&in_order[n * k / BATCHES..n * (k + 1) / BATCHES]);
    interval95(&(0..BATCHES).map(batch).collect::<Vec<_>>()).half_width
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn worked_values() {
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        // Batch means 0.5, 2.5, … 38.5: sd = 2·√35 = 11.832, t₁₉ = 2.0930, /√20.
        let values: Vec<f64> = (0..40).map(f64::from).collect();
        let found = batch_half_width(&values, 2, mean);
        assert!((found - 2.093_024 * 11.832_159_566 / 20f64.sqrt()).abs() < 1e-6, "{found}");
        assert!(batch_half_width(&values, 3, mean).is_nan() && batch_half_width(&[], 0, mean).is_nan());
    }
}
