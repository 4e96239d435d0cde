//! When tasks arrive.

use super::config::{BurstConfig, WorkloadConfig, WorkloadKind};
use super::rng::{Attribute, Draws};
use crate::model::Micros;

/// Instants as offsets from the start, never decreasing.
pub(super) struct Arrivals {
    draws: Draws,
    kind: WorkloadKind,
    rate_per_s: f64,
    burst: BurstConfig,
    count: u64,
    at_s: f64,
}

impl Arrivals {
    pub(super) fn new(config: &WorkloadConfig) -> Self {
        Arrivals {
            draws: Draws::new(config.seed, Attribute::Arrival),
            kind: config.kind,
            rate_per_s: config.arrival_rate_per_s,
            burst: config.burst,
            count: 0,
            at_s: 0.0,
        }
    }

    /// The instant of the next task.
    pub(super) fn next(&mut self) -> Micros {
        match self.kind {
            WorkloadKind::Uniform => self.at_s = self.count as f64 / self.rate_per_s,
            WorkloadKind::Bursty => self.at_s = burst_after(&self.burst, self.at_s, self.draws.exponential()),
            WorkloadKind::HeavyTailed | WorkloadKind::MultiTenant => {
                self.at_s += self.draws.exponential() / self.rate_per_s;
            }
        }
        self.count += 1;
        Micros::from_secs_f64(self.at_s)
    }
}

/// The instant at which the integral of the rate since `from_s` reaches `work`: exact for a piecewise constant rate, so
/// one draw per task suffices and no candidate is thrown away.
fn burst_after(burst: &BurstConfig, from_s: f64, mut work: f64) -> f64 {
    let (window_s, period_s) = (burst.burst_duration.as_secs_f64(), burst.burst_period.as_secs_f64());
    let mut at_s = from_s;
    let mut period = libm::floor(at_s / period_s);
    loop {
        let pieces = [
            (period * period_s + window_s, burst.burst_rate_per_s),
            ((period + 1.0) * period_s, burst.base_rate_per_s),
        ];
        for (end_s, rate_per_s) in pieces {
            let room = (end_s - at_s) * rate_per_s;
            if room > 0.0 {
                if work < room {
                    return at_s + work / rate_per_s;
                }
                work -= room;
                at_s = end_s;
            }
        }
        period += 1.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_burst_integral_is_exact() {
        let burst = BurstConfig {
            base_rate_per_s: 2.0,
            burst_rate_per_s: 10.0,
            burst_duration: Micros::from_secs(1),
            burst_period: Micros::from_secs(3),
        };
        // A period holds 10 + 4 expected arrivals.
        for (from_s, work, at_s) in [(0.0, 5.0, 0.5), (0.0, 11.0, 1.5), (0.0, 14.0, 3.0), (2.5, 29.5, 9.05)] {
            assert!((burst_after(&burst, from_s, work) - at_s).abs() < 1e-9, "{from_s} {work}");
        }
    }
}
