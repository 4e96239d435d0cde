//! The section `[workload]`: fields, defaults, and what is wrong with given ones.

use crate::model::{Micros, units};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

/// The kinds of workload by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WorkloadKind {
    /// Evenly spaced arrivals, uniform durations.
    Uniform,
    /// Poisson with windows at a higher rate, uniform durations.
    Bursty,
    /// Poisson, clamped Pareto durations.
    HeavyTailed,
    /// Poisson, uniform durations, skewed tenants.
    MultiTenant,
}

impl WorkloadKind {
    /// Every kind, in the order in which results list them.
    pub const ALL: [WorkloadKind; 4] =
        [WorkloadKind::Uniform, WorkloadKind::Bursty, WorkloadKind::HeavyTailed, WorkloadKind::MultiTenant];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            WorkloadKind::Uniform => "uniform",
            WorkloadKind::Bursty => "bursty",
            WorkloadKind::HeavyTailed => "heavy_tailed",
            WorkloadKind::MultiTenant => "multi_tenant",
        }
    }
}

impl fmt::Display for WorkloadKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for WorkloadKind {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        WorkloadKind::ALL
            .into_iter()
            .find(|kind| kind.name() == text)
            .ok_or_else(|| format!("`{text}` is not a workload (uniform, bursty, heavy_tailed, multi_tenant)"))
    }
}

/// `[workload]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct WorkloadConfig {
    /// Which kind.
    #[serde(rename = "type")]
    pub kind: WorkloadKind,
    /// Fixes every draw.
    pub seed: u64,
    /// How many tasks.
    pub count: u64,
    /// Ids are `<prefix>-<seed>-<number>`.
    pub id_prefix: String,
    /// Mean arrival rate of every kind but bursty.
    pub arrival_rate_per_s: f64,
    /// Retry budget of every task.
    pub max_retries: u32,
    /// Uniform durations.
    pub exec: ExecConfig,
    /// Shares of the priorities.
    pub priority: PriorityConfig,
    /// Deadlines.
    pub deadline: DeadlineConfig,
    /// Shares of the tenants, relative to their sum, except for multi_tenant.
    pub tenants: BTreeMap<String, f64>,
    /// Shares of the tenants for multi_tenant.
    pub skew_tenants: BTreeMap<String, f64>,
    /// Rates and windows of bursty.
    pub burst: BurstConfig,
    /// Durations of heavy_tailed.
    pub heavy_tail: HeavyTailConfig,
}

/// `[workload.exec]`: durations U(min, max).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ExecConfig {
    /// Shortest, in ms.
    pub min_ms: f64,
    /// Longest, in ms.
    pub max_ms: f64,
}

/// `[workload.priority]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PriorityConfig {
    /// Relative frequency; the index is the priority, higher is more important.
    pub weights: Vec<f64>,
}

/// `[workload.deadline]`: submitted + base + duration × multiplier + U(0, jitter).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DeadlineConfig {
    /// Fixed part, in ms.
    pub base_ms: f64,
    /// Part proportional to the duration.
    pub exec_multiplier: f64,
    /// Largest random part, in ms.
    pub jitter_ms: f64,
}

/// `[workload.burst]`: each period begins with a window at the burst rate.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct BurstConfig {
    /// Rate outside the windows.
    pub base_rate_per_s: f64,
    /// Rate inside.
    pub burst_rate_per_s: f64,
    /// Length of a window.
    #[serde(with = "units::span")]
    pub burst_duration: Micros,
    /// From the start of one window to that of the next.
    #[serde(with = "units::span")]
    pub burst_period: Micros,
}

/// `[workload.heavy_tail]`: durations min·U^(−1/alpha), clamped at max.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct HeavyTailConfig {
    /// Shortest, in ms.
    pub min_ms: f64,
    /// Longest, in ms.
    pub max_ms: f64,
    /// Tail index; smaller is heavier.
    pub alpha: f64,
}

fn shares(given: [(&str, f64); 5]) -> BTreeMap<String, f64> {
    given.into_iter().map(|(name, share)| (name.to_owned(), share)).collect()
}

impl Default for WorkloadConfig {
    fn default() -> Self {
        WorkloadConfig {
            kind: WorkloadKind::Uniform,
            seed: 42,
            count: 500,
            id_prefix: "task".into(),
            arrival_rate_per_s: 120.0,
            max_retries: 3,
            exec: ExecConfig::default(),
            priority: PriorityConfig::default(),
            deadline: DeadlineConfig::default(),
            tenants: shares([("A", 0.2), ("B", 0.2), ("C", 0.2), ("D", 0.2), ("E", 0.2)]),
            skew_tenants: shares([("A", 0.90), ("B", 0.03), ("C", 0.03), ("D", 0.02), ("E", 0.02)]),
            burst: BurstConfig::default(),
            heavy_tail: HeavyTailConfig::default(),
        }
    }
}

impl Default for ExecConfig {
    fn default() -> Self {
        ExecConfig { min_ms: 40.0, max_ms: 60.0 }
    }
}

impl Default for PriorityConfig {
    fn default() -> Self {
        PriorityConfig { weights: vec![40.0, 25.0, 20.0, 10.0, 5.0] }
    }
}

impl Default for DeadlineConfig {
    fn default() -> Self {
        DeadlineConfig { base_ms: 250.0, exec_multiplier: 3.0, jitter_ms: 250.0 }
    }
}

impl Default for BurstConfig {
    fn default() -> Self {
        BurstConfig {
            base_rate_per_s: 60.0,
            burst_rate_per_s: 600.0,
            burst_duration: Micros::from_millis(500),
            burst_period: Micros::from_secs(5),
        }
    }
}

impl Default for HeavyTailConfig {
    fn default() -> Self {
        HeavyTailConfig { min_ms: 15.0, max_ms: 4_000.0, alpha: 1.3 }
    }
}

impl WorkloadConfig {
    /// The tenants of this kind.
    pub fn shares(&self) -> &BTreeMap<String, f64> {
        if self.kind == WorkloadKind::MultiTenant { &self.skew_tenants } else { &self.tenants }
    }

    /// Everything that is wrong, as (field within the section, sentence). A configuration without violations cannot
    /// make [`super::plan`] loop or panic.
    pub fn violations(&self) -> Vec<(String, String)> {
        let mut found = Vec::new();
        let mut rule = |good: bool, field: &str, why: String| {
            if !good {
                found.push((field.to_owned(), why));
            }
        };
        let positive = |x: f64| x.is_finite() && x > 0.0;
        let natural = |x: f64| x.is_finite() && x >= 0.0;
        rule(self.count <= 100_000_000, "count", format!("{} is above 100000000", self.count));
        let prefix_bytes = self.id_prefix.len();
        rule((1..=200).contains(&prefix_bytes), "id_prefix", "must have 1 to 200 bytes".into());
        rule(!self.id_prefix.chars().any(char::is_control), "id_prefix", "has a control character".into());
        let rates = [
            ("arrival_rate_per_s", self.arrival_rate_per_s),
            ("burst.base_rate_per_s", self.burst.base_rate_per_s),
            ("burst.burst_rate_per_s", self.burst.burst_rate_per_s),
            ("heavy_tail.alpha", self.heavy_tail.alpha),
            ("heavy_tail.min_ms", self.heavy_tail.min_ms),
        ];
        for (field, value) in rates {
            rule(positive(value), field, format!("{value} must be above 0"));
        }
        let spans = [
            ("exec.min_ms", self.exec.min_ms),
            ("deadline.base_ms", self.deadline.base_ms),
            ("deadline.exec_multiplier", self.deadline.exec_multiplier),
            ("deadline.jitter_ms", self.deadline.jitter_ms),
        ];
        for (field, value) in spans {
            rule(natural(value), field, format!("{value} must not be negative"));
        }
        for (field, min, max) in [
            ("exec.max_ms", self.exec.min_ms, self.exec.max_ms),
            ("heavy_tail.max_ms", self.heavy_tail.min_ms, self.heavy_tail.max_ms),
        ] {
            rule(max.is_finite() && max >= min, field, format!("{max} must not be below min_ms = {min}"));
        }
        let BurstConfig { burst_duration, burst_period, .. } = self.burst;
        rule(burst_period > Micros::ZERO, "burst.burst_period", "must be positive".into());
        rule(burst_duration <= burst_period, "burst.burst_duration", "must not exceed burst_period".into());
        let weights = &self.priority.weights;
        rule((1..=256).contains(&weights.len()), "priority.weights", "must have 1 to 256 weights".into());
        rule(weighs(weights.iter().copied()), "priority.weights", "must not be negative nor all zero".into());
        for (field, list) in [("tenants", &self.tenants), ("skew_tenants", &self.skew_tenants)] {
            rule(weighs(list.values().copied()), field, "shares must not be negative nor all zero".into());
            let named = |t: &String| (1..=128).contains(&t.len()) && !t.chars().any(char::is_control);
            rule(list.keys().all(named), field, "names must have 1 to 128 bytes, no control characters".into());
        }
        found
    }
}

fn weighs(mut weights: impl Iterator<Item = f64>) -> bool {
    let sum = weights.try_fold(0.0, |sum, weight| (weight.is_finite() && weight >= 0.0).then_some(sum + weight));
    sum.is_some_and(|sum| sum > 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_are_valid_and_every_violation_is_named() {
        assert_eq!(WorkloadConfig::default().violations(), []);
        let mut bad =
            WorkloadConfig { arrival_rate_per_s: f64::NAN, tenants: BTreeMap::new(), ..WorkloadConfig::default() };
        bad.exec.max_ms = 1.0;
        let fields: Vec<String> = bad.violations().into_iter().map(|(field, _)| field).collect();
        assert_eq!(fields, ["arrival_rate_per_s", "exec.max_ms", "tenants"]);
    }

    #[test]
    fn unknown_fields_are_refused() {
        assert!(serde_json::from_str::<WorkloadConfig>(r#"{"type": "bursty"}"#).is_ok());
        assert!(serde_json::from_str::<WorkloadConfig>(r#"{"burst": {"rate": 1}}"#).is_err());
    }
}
