//! Non-preemptive priorities (Cobham 1954, erratum 1955).

use super::mmc;

/// A class of M/G/1: arrival rate, and first two moments of its service time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Class {
    /// λ.
    pub lambda: f64,
    /// E\[S\].
    pub service_mean: f64,
    /// E\[S²\].
    pub service_second_moment: f64,
}

impl Class {
    /// Exponential service of rate `mu`.
    pub fn exponential(lambda: f64, mu: f64) -> Self {
        Class { lambda, service_mean: 1.0 / mu, service_second_moment: 2.0 / (mu * mu) }
    }
}

/// Mean wait of each class on one server, most urgent first: W₀/((1−σ₍ₖ₋₁₎)(1−σₖ)), W₀ = ΣλE\[S²\]/2.
///
/// A class with σₖ ≥ 1 waits for ever. W₀ here is that of a stable queue: where the total load passes 1, the waits of the
/// stable classes are upper bounds.
pub fn cobham(classes: &[Class]) -> Vec<f64> {
    let residual = classes.iter().map(|class| class.lambda * class.service_second_moment / 2.0).sum();
    waits(residual, classes.iter().map(|class| class.lambda * class.service_mean))
}

/// The same on c servers with one exponential service rate μ: W₀ = C/(cμ), shares λᵢ/(cμ).
pub fn cobham_mmc(lambdas: &[f64], mu: f64, servers: u32) -> Vec<f64> {
    let capacity = f64::from(servers) * mu;
    let total: f64 = lambdas.iter().sum();
    waits(mmc::erlang_c(servers, total / mu) / capacity, lambdas.iter().map(|lambda| lambda / capacity))
}

fn waits(residual: f64, loads: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut before = 0.0;
    let wait = |load| {
        let after = before + load;
        let wait = if after < 1.0 { residual / ((1.0 - before) * (1.0 - after)) } else { f64::INFINITY };
        before = after;
        wait
    };
    loads.map(wait).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::theory::{assert_close, mm1};

    #[test]
    fn worked_values_for_two_equal_classes() {
        // ρ = 0.4 + 0.4, W₀ = 0.8: 0.8/0.6 and 0.8/(0.6 · 0.2).
        let waits = cobham(&[Class::exponential(0.4, 1.0); 2]);
        assert_close!(waits[0], 4.0 / 3.0);
        assert_close!(waits[1], 20.0 / 3.0);
        assert_eq!(cobham(&[Class::exponential(0.6, 1.0); 2])[1], f64::INFINITY);
    }

    #[test]
    fn work_is_conserved() {
        // Σ ρᵢWᵢ = ρW₀/(1−ρ) (Kleinrock 1965).
        let constant = Class { lambda: 0.2, service_mean: 0.5, service_second_moment: 0.25 };
        let classes = [Class::exponential(0.3, 1.0), constant, Class::exponential(0.1, 0.4)];
        let loads: Vec<f64> = classes.iter().map(|class| class.lambda * class.service_mean).collect();
        let load: f64 = loads.iter().sum();
        let residual: f64 = classes.iter().map(|class| class.lambda * class.service_second_moment / 2.0).sum();
        let weighted: f64 = cobham(&classes).iter().zip(&loads).map(|(wait, load)| wait * load).sum();
        assert_close!(weighted, load * residual / (1.0 - load));
    }

    #[test]
    fn several_servers_reduce_to_one_and_to_erlang() {
        let (one, many) = (cobham_mmc(&[0.3, 0.5], 1.0, 1), cobham_mmc(&[3.2], 1.0, 4));
        assert_close!(one[0], cobham(&[Class::exponential(0.3, 1.0), Class::exponential(0.5, 1.0)])[0]);
        assert_close!((0.3 * one[0] + 0.5 * one[1]) / 0.8, mm1::wait_mean(0.8, 1.0));
        assert_close!(many[0], mmc::wait_mean(3.2, 1.0, 4));
    }
}
