//! Profiles of the benchmark: configuration sections plus `[bench]`.

use crate::config::source::{Violation, Violations};
use crate::config::{Config, LeaderElectionConfig, RecoveryConfig, SchedulerConfig, Window, WorkerConfig, validate};
use crate::model::{Micros, units};
use crate::workload::{WorkloadConfig, WorkloadKind};
use anyhow::{Context, bail};
use serde::{Deserialize, Serialize};

/// The profiles that come with tq, by name: they work wherever the binary is.
const SHIPPED: [(&str, &str); 5] = [
    ("quick", include_str!("../../bench-profiles/quick.toml")),
    ("full", include_str!("../../bench-profiles/full.toml")),
    ("failure", include_str!("../../bench-profiles/failure.toml")),
    ("realwork", include_str!("../../bench-profiles/realwork.toml")),
    ("sweep", include_str!("../../bench-profiles/sweep.toml")),
];

/// Everything that a run of the matrix depends on.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Profile {
    /// The matrix itself.
    pub bench: BenchConfig,
    /// As for `tq scheduler`; the policy comes from the cell.
    pub scheduler: SchedulerConfig,
    /// As for `tq scheduler`.
    pub leader_election: LeaderElectionConfig,
    /// As for `tq worker`; name and concurrency come from `[bench]`.
    pub worker: WorkerConfig,
    /// As for both.
    pub recovery: RecoveryConfig,
    /// As for `tq produce`; the type comes from the cell.
    pub workload: WorkloadConfig,
}

/// `[bench]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct BenchConfig {
    /// Workers.
    pub workers: u32,
    /// Slots of each.
    pub concurrency: u32,
    /// Policies by name; `none` is the control arm without a scheduler.
    pub policies: Vec<Arm>,
    /// Kinds of workload.
    pub workloads: Vec<WorkloadKind>,
    /// Offered loads; none: the rates as they are configured.
    pub loads: Vec<f64>,
    /// Repetitions; each has the next seed.
    pub repetitions: u32,
    /// A task that waits longer counts as starved.
    #[serde(with = "units::span")]
    pub starvation_threshold: Micros,
}

impl Default for BenchConfig {
    fn default() -> Self {
        BenchConfig {
            workers: 2,
            concurrency: 4,
            policies: crate::policy::PolicyKind::ALL.map(Arm::Policy).to_vec(),
            workloads: WorkloadKind::ALL.to_vec(),
            loads: Vec::new(),
            repetitions: 1,
            // Twice what anybody waits in the order of submission in `full` at 1.25 × capacity: only a policy that passes
            // somebody over makes a task wait so long there. (A load of 2 or more does so without any policy's help.)
            starvation_threshold: Micros::from_secs(5),
        }
    }
}

/// What decides the order in a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Arm {
    /// A scheduler with this policy.
    Policy(crate::policy::PolicyKind),
    /// Nobody: workers read ingress themselves. The control.
    None,
}

impl Arm {
    /// Its name in results.
    pub const fn name(self) -> &'static str {
        match self {
            Arm::Policy(kind) => kind.name(),
            Arm::None => "none",
        }
    }
}

impl std::str::FromStr for Arm {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text == "none" {
            Ok(Arm::None)
        } else {
            text.parse().map(Arm::Policy).map_err(|why| format!("{why}, or none"))
        }
    }
}

impl Serialize for Arm {
    fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for Arm {
    fn deserialize<D: serde::Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        String::deserialize(d)?.parse().map_err(serde::de::Error::custom)
    }
}

impl Profile {
    /// A shipped profile by its name, or one from a file.
    ///
    /// # Errors
    /// When there is neither, or it is not a profile; the error names the file and the place.
    pub fn named(name: &str) -> anyhow::Result<Self> {
        if let Some((_, text)) = SHIPPED.iter().find(|(shipped, _)| *shipped == name) {
            return Self::parse(text).with_context(|| format!("profile {name}"));
        }
        match std::fs::read_to_string(name) {
            Ok(text) => Self::parse(&text).with_context(|| format!("profile {name}")),
            Err(error) => {
                let names: Vec<&str> = SHIPPED.iter().map(|(name, _)| *name).collect();
                bail!("`{name}` is neither a profile ({}) nor a file that can be read: {error}", names.join(", "))
            }
        }
    }

    /// Reads a profile.
    ///
    /// # Errors
    /// With the line at fault.
    pub fn parse(text: &str) -> anyhow::Result<Self> {
        Ok(toml::from_str(text)?)
    }

    /// Execution slots of all workers.
    pub fn slots(&self) -> u32 {
        self.bench.workers.saturating_mul(self.bench.concurrency)
    }

    /// Changes the workers or their slots; a fixed window follows in proportion, or it would starve the new slots.
    pub fn resize(&mut self, workers: Option<u32>, concurrency: Option<u32>) {
        let before = u64::from(self.slots()).max(1);
        self.bench.workers = workers.unwrap_or(self.bench.workers);
        self.bench.concurrency = concurrency.unwrap_or(self.bench.concurrency);
        if let Window::Fixed(window) = self.scheduler.max_in_flight
            && window > 0
        {
            let scaled = window.saturating_mul(u64::from(self.slots())).div_ceil(before);
            self.scheduler.max_in_flight = Window::Fixed(scaled.max(1));
        }
    }

    /// Checks everything.
    ///
    /// # Errors
    /// Every violation, by dotted field.
    pub fn check(&self) -> Result<(), Violations> {
        let config = Config {
            scheduler: self.scheduler.clone(),
            leader_election: self.leader_election.clone(),
            worker: self.worker.clone(),
            recovery: self.recovery.clone(),
            ..Config::default()
        };
        let mut found = validate::violations(&config);
        found.extend(
            self.workload.violations().into_iter().map(|(f, why)| Violation::new(format!("workload.{f}"), why)),
        );
        let bench = &self.bench;
        let mut rule = |good: bool, field: &str, why: &str| {
            if !good {
                found.push(Violation::new(field, why.to_owned()));
            }
        };
        rule((1..=1_000).contains(&bench.workers), "bench.workers", "must be between 1 and 1000");
        rule((1..=10_000).contains(&bench.concurrency), "bench.concurrency", "must be between 1 and 10000");
        rule((1..=1_000).contains(&bench.repetitions), "bench.repetitions", "must be between 1 and 1000");
        let threshold = bench.starvation_threshold;
        rule(threshold > Micros::ZERO, "bench.starvation_threshold", "must be above 0");
        rule(self.workload.count > 0, "workload.count", "must be above 0");
        rule(!bench.policies.is_empty(), "bench.policies", "must name at least one policy");
        rule(!bench.workloads.is_empty(), "bench.workloads", "must name at least one workload");
        let positive = bench.loads.iter().all(|load| load.is_finite() && *load > 0.0);
        rule(positive, "bench.loads", "must be above 0");
        if found.is_empty() { Ok(()) } else { Err(Violations(found)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shipped_profile_is_valid() {
        for (name, _) in SHIPPED {
            let profile = Profile::named(name).unwrap();
            assert_eq!(profile.check(), Ok(()), "{name}");
        }
        let full = Profile::named("full").unwrap();
        assert_eq!(crate::workload::load::offered_load(&full.workload, full.slots()), 1.25);
        assert!(Profile::parse("[bench]\nworker = 1").is_err());
    }

    #[test]
    fn the_window_follows_the_slots() {
        let mut quick = Profile::named("quick").unwrap();
        quick.resize(Some(8), None);
        assert_eq!((quick.slots(), quick.scheduler.max_in_flight), (32, Window::Fixed(32)));
    }
}
