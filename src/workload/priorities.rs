//! How important tasks are.

use super::config::PriorityConfig;
use super::rng::Draws;

/// The priority of the next task: an index into the weights.
pub(super) fn next(config: &PriorityConfig, draws: &mut Draws) -> u8 {
    u8::try_from(draws.weighted(&config.weights)).unwrap_or(u8::MAX)
}
