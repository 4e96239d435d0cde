//! Draws: one ChaCha8 stream per attribute, so that adding an attribute reshuffles nothing.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// The attributes of a task that are drawn. The numbers are part of what a seed means: never change one.
#[derive(Debug, Clone, Copy)]
pub(super) enum Attribute {
    /// Interarrival times.
    Arrival = 0,
    /// Tenants.
    Tenant = 1,
    /// Durations.
    Service = 2,
    /// Priorities.
    Priority = 3,
    /// Deadline jitter.
    Deadline = 4,
}

/// The stream of one attribute under a seed.
#[derive(Debug)]
pub(super) struct Draws(ChaCha8Rng);

impl Draws {
    pub(super) fn new(seed: u64, attribute: Attribute) -> Self {
        // The key is spelled out, not `seed_from_u64`: that expansion belongs to the crate and may change.
        let mut key = [0u8; 32];
        key[..8].copy_from_slice(&seed.to_le_bytes());
        let mut stream = ChaCha8Rng::from_seed(key);
        stream.set_stream(attribute as u64);
        Draws(stream)
    }

    /// Uniform in [0, 1): the upper 53 bits. Our own conversion, for the same reason.
    pub(super) fn unit(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Exponential with mean 1. `libm` and not `f64::ln`: the latter is the platform's and may differ in the last bit.
    pub(super) fn exponential(&mut self) -> f64 {
        -libm::log(1.0 - self.unit())
    }

    /// An index with probability proportional to its weight; the weights are not all zero.
    pub(super) fn weighted(&mut self, weights: &[f64]) -> usize {
        let mut left = self.unit() * weights.iter().sum::<f64>();
        for (index, weight) in weights.iter().enumerate() {
            if left < *weight {
                return index;
            }
            left -= weight;
        }
        // Rounding may leave a little: the last one that weighs anything.
        weights.iter().rposition(|weight| *weight > 0.0).unwrap_or(0)
    }
}
