//! Independent replications: a mean and its standard error.

/// One figure from each replication.
#[derive(Debug, Default)]
pub(super) struct Sample(Vec<f64>);

impl Sample {
    pub(super) fn add(&mut self, value: f64) {
        self.0.push(value);
    }

    /// Fails unless |z| ≤ 4. Waits within a run are correlated (at load 0.8 over 90 service times), so the error is
    /// taken from the spread between runs, which are independent. With 12 of them and Student's t, 4 standard errors are
    /// passed once in 480 comparisons by chance; seeds are fixed, so a pass stays a pass. A standard error above
    /// `error_max` of the expected value would let anything pass, so it fails too.
    pub(super) fn assert_agrees(&self, what: &str, expected: f64, error_max: f64) {
        let n = self.0.len() as f64;
        let mean = self.0.iter().sum::<f64>() / n;
        let variance = self.0.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n - 1.0);
        let error = (variance / n).sqrt();
        let z = (mean - expected) / error;
        println!("{what}: {mean:.5} ± {error:.5}, theory {expected:.5}, z = {z:.2}");
        assert!(z.abs() <= 4.0, "{what}: {mean} ± {error} is not {expected} (z = {z:.2})");
        assert!(error <= error_max * expected, "{what}: the standard error {error} is too large beside {expected}");
    }
}
