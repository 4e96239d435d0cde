//! How long tasks take.

use super::config::{WorkloadConfig, WorkloadKind};
use super::rng::Draws;
use crate::model::Micros;

/// The next duration, at least 1 µs; one draw per task.
pub(super) fn next(config: &WorkloadConfig, draws: &mut Draws) -> Micros {
    let unit = draws.unit();
    let ms = match config.kind {
        WorkloadKind::HeavyTailed => {
            let tail = &config.heavy_tail;
            // U in (0, 1]; the portable power, since the platform's may differ in the last bit.
            (tail.min_ms * libm::pow(1.0 - unit, -1.0 / tail.alpha)).min(tail.max_ms)
        }
        _ => config.exec.min_ms + (config.exec.max_ms - config.exec.min_ms) * unit,
    };
    Micros((ms * 1_000.0).round() as i64).max(Micros(1))
}
