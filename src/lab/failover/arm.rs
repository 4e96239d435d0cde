//! What is done to the leader.

use super::super::harness::proxy::Link;
use clap::ValueEnum;
use serde::{Deserialize, Serialize};

/// One condition of the experiment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "snake_case")]
#[value(rename_all = "snake_case")]
pub enum Arm {
    /// Nothing: the largest natural gap between dispatches
    None,
    /// SIGTERM: what a rollout costs
    Graceful,
    /// SIGKILL: what a crash costs
    Crash,
    /// SIGKILL where there is no standby: what a standby is worth
    Single,
    /// SIGSTOP for twice the ttl, then SIGCONT: what the fence is worth
    Pause,
    /// SIGKILL where nobody looks for lost connections: what the ttl costs
    CrashTtl,
    /// The leader is cut off from a healthy Redis by a proxy, for twice the ttl: connections reset, then packets dropped
    Partition,
}

impl Arm {
    /// Every arm.
    pub const ALL: [Arm; 7] =
        [Arm::None, Arm::Graceful, Arm::Crash, Arm::Single, Arm::Pause, Arm::CrashTtl, Arm::Partition];

    /// Its name in files.
    pub fn name(self) -> &'static str {
        match self {
            Arm::None => "none",
            Arm::Graceful => "graceful",
            Arm::Crash => "crash",
            Arm::Single => "single",
            Arm::Pause => "pause",
            Arm::CrashTtl => "crash_ttl",
            Arm::Partition => "partition",
        }
    }

    /// How the link of the leader goes bad, in the arm that has several ways.
    pub(super) fn modes(self) -> &'static [Option<Link>] {
        if self == Arm::Partition { &[Some(Link::Reset), Some(Link::BlackHole)] } else { &[None] }
    }

    /// Scheduler processes.
    pub(super) fn schedulers(self) -> usize {
        if self == Arm::Single { 1 } else { 2 }
    }

    /// Whether the old leader comes back.
    pub(super) fn comes_back(self) -> bool {
        matches!(self, Arm::Pause | Arm::Partition)
    }
}

/// The name of a mode in files; empty where there is one way only.
pub(super) fn mode_name(mode: Option<Link>) -> &'static str {
    match mode {
        Some(Link::Reset) => "reset",
        Some(Link::BlackHole) => "black_hole",
        Some(Link::Whole) | None => "",
    }
}
