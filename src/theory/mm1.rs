//! M/M/1, first in first out (Kleinrock, *Queueing Systems* I, §3.2 and §5.12).

/// Mean sojourn time: 1/(μ − λ).
pub fn sojourn_mean(lambda: f64, mu: f64) -> f64 {
    if lambda < mu { 1.0 / (mu - lambda) } else { f64::INFINITY }
}

/// Mean wait: ρ/(μ − λ).
pub fn wait_mean(lambda: f64, mu: f64) -> f64 {
    lambda / mu * sojourn_mean(lambda, mu)
}

/// The sojourn time is exponential with rate μ − λ: its quantile `p`.
pub fn sojourn_quantile(lambda: f64, mu: f64, p: f64) -> f64 {
    -(-p).ln_1p() / (mu - lambda)
}

/// P(W > t) = ρe^{−(μ−λ)t}: its quantile `p`, zero up to p = 1 − ρ.
pub fn wait_quantile(lambda: f64, mu: f64, p: f64) -> f64 {
    ((lambda / mu / (1.0 - p)).ln() / (mu - lambda)).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::theory::assert_close;

    #[test]
    fn worked_values_at_load_four_fifths() {
        assert_close!(sojourn_mean(0.8, 1.0), 5.0);
        assert_close!(wait_mean(0.8, 1.0), 4.0);
        assert_close!(sojourn_quantile(0.8, 1.0, 0.99), 100f64.ln() / 0.2);
        assert_close!(wait_quantile(0.8, 1.0, 0.99), 80f64.ln() / 0.2);
        assert_eq!(wait_quantile(0.8, 1.0, 0.2), 0.0, "a fifth of the tasks do not wait");
        assert_eq!(sojourn_mean(1.0, 1.0), f64::INFINITY);
    }
}
