//! M/G/1, first in first out (Pollaczek 1930, Khinchine 1932; Kleinrock I §5.7) and the wait of M/D/1 (Erlang 1909).

/// Mean wait: ρ/(1−ρ) · (1+C²)/2 · E\[S\], with C² = variance/mean² of the service time.
pub fn wait_mean(lambda: f64, service_mean: f64, service_scv: f64) -> f64 {
    let load = lambda * service_mean;
    if load < 1.0 { load / (1.0 - load) * (1.0 + service_scv) / 2.0 * service_mean } else { f64::INFINITY }
}

/// P(W ≤ t) of M/D/1: (1−ρ) Σ_{j=0}^{⌊t/D⌋} (−λ(t−jD))^j/j! · e^{λ(t−jD)}. The sum alternates: good to 10⁻⁶ for t ≤ 15 D, and
/// not meant for more.
pub fn md1_wait_cdf(lambda: f64, service: f64, t: f64) -> f64 {
    if t < 0.0 {
        return 0.0;
    }
    let load = lambda * service;
    let scaled = t / service;
    let mut sum = 0.0;
    for j in 0..=scaled.floor() as u32 {
        let x = load * (scaled - f64::from(j));
        let term = (1..=j).fold(1.0, |term, k| term * -x / f64::from(k));
        sum += term * x.exp();
    }
    (1.0 - load) * sum
}

/// The quantile `p` of the wait of M/D/1, by bisection; zero up to p = 1 − ρ. Within the limits of [`md1_wait_cdf`].
pub fn md1_wait_quantile(lambda: f64, service: f64, p: f64) -> f64 {
    let (mut low, mut high) = (0.0, 15.0 * service);
    if md1_wait_cdf(lambda, service, 0.0) >= p {
        return 0.0;
    }
    for _ in 0..100 {
        let middle = 0.5 * (low + high);
        if md1_wait_cdf(lambda, service, middle) < p { low = middle } else { high = middle }
    }
    0.5 * (low + high)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::theory::{assert_close, mm1};

    #[test]
    fn constant_service_halves_the_wait_of_exponential_service() {
        assert_close!(wait_mean(0.8, 1.0, 0.0), 2.0);
        assert_close!(wait_mean(0.8, 1.0, 1.0), mm1::wait_mean(0.8, 1.0));
        assert_close!(wait_mean(0.05, 10.0, 4.0), 25.0);
        assert_eq!(wait_mean(1.0, 1.0, 0.0), f64::INFINITY);
    }

    #[test]
    fn the_law_of_md1_has_the_mean_of_pollaczek_and_khinchine() {
        let (lambda, step) = (0.5, 1e-3);
        assert_close!(md1_wait_cdf(lambda, 1.0, 0.0), 0.5);
        let tail: f64 = (1..15_000).map(|n| 1.0 - md1_wait_cdf(lambda, 1.0, f64::from(n) * step)).sum();
        assert_close!((tail + 0.25) * step, wait_mean(lambda, 1.0, 0.0), 1e-5);
        let p95 = md1_wait_quantile(lambda, 1.0, 0.95);
        assert_close!(md1_wait_cdf(lambda, 1.0, p95), 0.95);
        assert_eq!(md1_wait_quantile(lambda, 1.0, 0.4), 0.0);
    }
}
