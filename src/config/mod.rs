//! The configuration: sections with defaults, layers, validation, units.

pub mod sections;
pub mod units;

pub use sections::{
    ExecMode, LeaderElectionConfig, LogConfig, RecoveryConfig, RedisConfig, SchedulerConfig, StreamsConfig, Window,
    WorkerConfig,
};
