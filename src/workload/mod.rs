//! What arrives: seeded plans of tasks, and traces. Pure: a plan is a function of its configuration, byte-identical on
//! every machine.

mod arrivals;
mod config;
mod deadlines;
pub mod load;
mod plan;
mod priorities;
mod rng;
mod service;
mod tenants;
pub mod trace;

pub use config::{
    BurstConfig, DeadlineConfig, ExecConfig, HeavyTailConfig, PriorityConfig, WorkloadConfig, WorkloadKind,
};
pub use plan::{Arrival, plan};
