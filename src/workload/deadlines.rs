//! By when tasks are due.

use super::config::DeadlineConfig;
use super::rng::Draws;
use crate::model::Micros;

/// The span from submission to the deadline of the next task.
pub(super) fn next(config: &DeadlineConfig, service: Micros, draws: &mut Draws) -> Micros {
    let us = config.base_ms * 1_000.0
        + service.0 as f64 * config.exec_multiplier
        + config.jitter_ms * 1_000.0 * draws.unit();
    Micros(us.round() as i64)
}
