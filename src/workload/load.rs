//! Offered load ρ = λ·E\[S\]/c: from a configuration or a trace, and back to arrival rates.

use super::config::{WorkloadConfig, WorkloadKind};
use super::plan::Arrival;
use crate::model::Micros;

/// Mean duration in seconds, in closed form: (min+max)/2 for uniform durations; for the clamped Pareto
/// E\[min(X, max)\] = m + m^α·(max^(1−α) − m^(1−α))/(1−α), and m + m·ln(max/m) for α = 1.
pub fn mean_service_s(config: &WorkloadConfig) -> f64 {
    let ms = match config.kind {
        WorkloadKind::HeavyTailed => {
            let (min, max, alpha) = (config.heavy_tail.min_ms, config.heavy_tail.max_ms, config.heavy_tail.alpha);
            // Below this distance from 1 the quotient loses more than the limit is wrong.
            if (alpha - 1.0).abs() < 1e-9 {
                min + min * libm::log(max / min)
            } else {
                min + libm::pow(min, alpha) * (libm::pow(max, 1.0 - alpha) - libm::pow(min, 1.0 - alpha))
                    / (1.0 - alpha)
            }
        }
        _ => (config.exec.min_ms + config.exec.max_ms) / 2.0,
    };
    ms / 1_000.0
}

/// Mean arrival rate per second; for bursty, over a whole period.
pub fn mean_rate_per_s(config: &WorkloadConfig) -> f64 {
    match config.kind {
        WorkloadKind::Bursty => {
            let burst = &config.burst;
            let share = burst.burst_duration.as_secs_f64() / burst.burst_period.as_secs_f64();
            burst.burst_rate_per_s * share + burst.base_rate_per_s * (1.0 - share)
        }
        _ => config.arrival_rate_per_s,
    }
}

/// Offered load on `slots` slots; above 1 the queue grows for as long as tasks arrive.
pub fn offered_load(config: &WorkloadConfig, slots: u32) -> f64 {
    mean_rate_per_s(config) * mean_service_s(config) / f64::from(slots)
}

/// The same workload at offered load `load` on `slots` slots: its rates scaled, everything else as it is.
pub fn at_load(config: &WorkloadConfig, load: f64, slots: u32) -> WorkloadConfig {
    let factor = load / offered_load(config, slots);
    let mut scaled = config.clone();
    scaled.arrival_rate_per_s *= factor;
    scaled.burst.base_rate_per_s *= factor;
    scaled.burst.burst_rate_per_s *= factor;
    scaled
}

/// Replays tasks `speed` times as fast: instants, durations and deadlines are divided by it, so the offered load stays
/// what it was.
pub fn speed_up(tasks: &mut [Arrival], speed: f64) {
    let divide = |span: Micros| Micros((span.0 as f64 / speed).round() as i64);
    for task in tasks {
        task.at = divide(task.at);
        task.service = divide(task.service).max(Micros(1));
        task.deadline_in = task.deadline_in.map(divide);
    }
}

/// Offered load of given tasks on `slots` slots: Σ durations / (span of the arrivals × slots). Infinite where all arrive
/// at once.
pub fn offered_by(tasks: &[Arrival], slots: u32) -> f64 {
    let work: Micros = tasks.iter().map(|task| task.service).sum();
    let span = tasks.iter().map(|task| task.at).max().unwrap_or_default();
    work.as_secs_f64() / span.as_secs_f64() / f64::from(slots)
}

/// Stretches (or squeezes) the arrivals of given tasks so that they offer `load` on `slots` slots. Durations and slack
/// stay; order and the shape of bursts stay. Tasks that all arrive at once stay as they are.
pub fn stretch_to(tasks: &mut [Arrival], load: f64, slots: u32) {
    let factor = offered_by(tasks, slots) / load;
    if factor.is_finite() {
        for task in tasks {
            task.at = Micros((task.at.0 as f64 * factor).round() as i64);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::plan;
    use super::*;

    #[test]
    fn closed_forms_agree_with_plans() {
        for kind in WorkloadKind::ALL {
            let config = WorkloadConfig { kind, count: 200_000, ..WorkloadConfig::default() };
            let tasks = plan(&config);
            let mean = tasks.iter().map(|task| task.service).sum::<Micros>().as_secs_f64() / 200_000.0;
            // The clamped Pareto's standard error here is 0.6 %.
            assert!((mean / mean_service_s(&config) - 1.0).abs() < 0.02, "{kind} {mean}");
            let rate = 200_000.0 / tasks[199_999].at.as_secs_f64();
            assert!((rate / mean_rate_per_s(&config) - 1.0).abs() < 0.02, "{kind} {rate}");
            assert!((offered_load(&at_load(&config, 0.7, 9), 9) - 0.7).abs() < 1e-12);
        }
    }

    #[test]
    fn the_pareto_is_continuous_at_one() {
        let mut config = WorkloadConfig { kind: WorkloadKind::HeavyTailed, ..WorkloadConfig::default() };
        config.heavy_tail.alpha = 1.0;
        let limit = mean_service_s(&config);
        config.heavy_tail.alpha = 1.000_001;
        assert!((mean_service_s(&config) / limit - 1.0).abs() < 1e-4);
    }

    #[test]
    fn speed_keeps_the_load_and_stretching_sets_it() {
        let mut tasks = plan(&WorkloadConfig::default());
        let before = offered_by(&tasks, 4);
        speed_up(&mut tasks, 7.0);
        assert!((offered_by(&tasks, 4) / before - 1.0).abs() < 1e-3);
        let service = tasks[5].service;
        stretch_to(&mut tasks, 0.9, 4);
        assert!((offered_by(&tasks, 4) - 0.9).abs() < 1e-3);
        assert_eq!(tasks[5].service, service);
    }
}
