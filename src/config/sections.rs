//! The sections of the configuration with their defaults (`contract.md` lists them for users: `docs/`).

use super::units;
use crate::model::Micros;
use crate::model::retry::Backoff;
use crate::policy::PolicyKind;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

const fn ms(n: i64) -> Micros {
    Micros::from_millis(n)
}

/// `[redis]`: where the store is.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RedisConfig {
    /// `redis://`, `rediss://`, `redis-sentinel://`, `redis-cluster://` or `redis+unix://`.
    pub url: String,
    /// ACL user.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub username: Option<String>,
    /// Never printed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub password: Option<String>,
    /// File whose first line is the password.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub password_file: Option<String>,
    /// Database number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub db: Option<u8>,
    /// How long connecting may take.
    #[serde(with = "units::span")]
    pub connect_timeout: Micros,
    /// How long a command may take.
    #[serde(with = "units::span")]
    pub command_timeout: Micros,
    /// Refuse to lead unless the server refuses writes that fewer replicas would receive.
    pub min_replicas_required: u32,
}

impl Default for RedisConfig {
    fn default() -> Self {
        RedisConfig {
            url: "redis://127.0.0.1:6379".into(),
            username: None,
            password: None,
            password_file: None,
            db: None,
            connect_timeout: ms(5_000),
            command_timeout: ms(3_000),
            min_replicas_required: 0,
        }
    }
}

/// Secrets do not get into logs by way of a `{:?}`.
impl std::fmt::Debug for RedisConfig {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RedisConfig")
            .field("url", &self.shown_url())
            .field("username", &self.username)
            .field("password", &self.password.as_ref().map(|_| super::show::REDACTED))
            .field("password_file", &self.password_file)
            .field("db", &self.db)
            .finish_non_exhaustive()
    }
}

/// `[streams]`: the namespace and how long finished things are kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct StreamsConfig {
    /// Hash tag and prefix of every key.
    pub namespace: String,
    /// How long results are kept; zero: for ever.
    #[serde(with = "units::span")]
    pub results_retention: Micros,
    /// How long finished ids are remembered; zero: for ever.
    #[serde(with = "units::span")]
    pub done_retention: Micros,
}

impl Default for StreamsConfig {
    fn default() -> Self {
        let day = ms(86_400_000);
        StreamsConfig { namespace: "tq".into(), results_retention: day, done_retention: day }
    }
}

/// The in-flight window: `"auto"` or a number (0: unlimited).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Window {
    /// Follows the live slots.
    Auto,
    /// Fixed; 0 is unlimited.
    Fixed(u64),
}

impl std::str::FromStr for Window {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "auto" => Ok(Window::Auto),
            _ => {
                text.parse().map(Window::Fixed).map_err(|_| format!("`{text}` is neither \"auto\" nor a number from 0"))
            }
        }
    }
}

impl Serialize for Window {
    fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        match self {
            Window::Auto => s.serialize_str("auto"),
            Window::Fixed(n) => s.serialize_u64(*n),
        }
    }
}

impl<'de> Deserialize<'de> for Window {
    fn deserialize<D: serde::Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Given {
            Number(u64),
            Text(String),
        }
        match Given::deserialize(d).map_err(|_| serde::de::Error::custom("neither \"auto\" nor a number from 0"))? {
            Given::Number(n) => Ok(Window::Fixed(n)),
            Given::Text(text) => text.parse().map_err(serde::de::Error::custom),
        }
    }
}

/// `[scheduler]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SchedulerConfig {
    /// Which policy.
    pub policy: PolicyKind,
    /// Ingress entries per admission.
    pub ingest_batch: usize,
    /// Tasks per dispatch.
    pub dispatch_batch: usize,
    /// In-flight window.
    pub max_in_flight: Window,
    /// Net under the wake-ups.
    #[serde(with = "units::span")]
    pub safety_interval: Micros,
    /// Largest task in bytes.
    pub task_bytes_max: usize,
    /// Weight of each tenant named here.
    pub tenant_weights: BTreeMap<String, f64>,
    /// Weight of the others.
    pub default_tenant_weight: f64,
    /// Address of the metrics and health endpoints; empty: off.
    pub metrics_addr: String,
}

impl Default for SchedulerConfig {
    fn default() -> Self {
        SchedulerConfig {
            policy: PolicyKind::Fifo,
            ingest_batch: 512,
            dispatch_batch: 256,
            max_in_flight: Window::Auto,
            safety_interval: ms(100),
            task_bytes_max: 1 << 20,
            tenant_weights: BTreeMap::new(),
            default_tenant_weight: 1.0,
            metrics_addr: "127.0.0.1:9101".into(),
        }
    }
}

/// `[leader_election]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LeaderElectionConfig {
    /// Off only where something else guarantees one scheduler.
    pub enabled: bool,
    /// How long a grant lasts without renewal.
    #[serde(with = "units::span")]
    pub ttl: Micros,
    /// How often the leader renews.
    #[serde(with = "units::span")]
    pub renew_interval: Micros,
    /// How often a standby asks.
    #[serde(with = "units::span")]
    pub retry_interval: Micros,
    /// Whether a standby takes over as soon as the leader's connection is gone, and this process may be seen so.
    pub detect_disconnect: bool,
}

impl Default for LeaderElectionConfig {
    fn default() -> Self {
        LeaderElectionConfig {
            enabled: true,
            ttl: ms(5_000),
            renew_interval: ms(1_500),
            retry_interval: ms(1_000),
            detect_disconnect: true,
        }
    }
}

/// What a worker does for a task's service time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExecMode {
    /// Waits.
    Sleep,
    /// Computes.
    Cpu,
}

impl std::str::FromStr for ExecMode {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "sleep" => Ok(ExecMode::Sleep),
            "cpu" => Ok(ExecMode::Cpu),
            _ => Err(format!("`{text}` is neither sleep nor cpu")),
        }
    }
}

/// `[worker]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct WorkerConfig {
    /// Name; empty: host name and process id.
    pub name: String,
    /// Execution slots.
    pub concurrency: u32,
    /// Sleep or compute.
    pub exec_mode: ExecMode,
    /// How often attempt leases are renewed.
    #[serde(with = "units::span")]
    pub heartbeat_interval: Micros,
    /// Probability that the handler reports an error.
    pub fail_rate: f64,
    /// Probability that an attempt is abandoned after execution, before it is acknowledged.
    pub fail_before_ack_rate: f64,
    /// Seed of injected failures.
    pub fail_seed: u64,
    /// How long running work may go on after shutdown begins.
    #[serde(with = "units::span")]
    pub shutdown_grace: Micros,
    /// Address of the metrics and health endpoints; empty: off.
    pub metrics_addr: String,
}

impl Default for WorkerConfig {
    fn default() -> Self {
        WorkerConfig {
            name: String::new(),
            concurrency: 4,
            exec_mode: ExecMode::Sleep,
            heartbeat_interval: ms(2_000),
            fail_rate: 0.0,
            fail_before_ack_rate: 0.0,
            fail_seed: 0,
            shutdown_grace: ms(15_000),
            metrics_addr: "127.0.0.1:9102".into(),
        }
    }
}

/// `[recovery]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RecoveryConfig {
    /// Whether this process recovers expired attempts.
    pub enabled: bool,
    /// How often it looks.
    #[serde(with = "units::span")]
    pub interval: Micros,
    /// Attempt lease: how long a delivery may go without heartbeat.
    #[serde(with = "units::span")]
    pub min_idle: Micros,
    /// Expired attempts per pass.
    pub batch: usize,
    /// Retry budget of tasks that name none.
    pub max_retries: u32,
    /// First backoff; zero: back to pending at once.
    #[serde(with = "units::span")]
    pub backoff_base: Micros,
    /// Largest backoff.
    #[serde(with = "units::span")]
    pub backoff_max: Micros,
    /// Share of the backoff drawn by lot.
    pub backoff_jitter: f64,
}

impl RecoveryConfig {
    /// The backoff that these fields describe.
    pub fn backoff(&self) -> Backoff {
        Backoff { base: self.backoff_base, max: self.backoff_max, jitter: self.backoff_jitter }
    }
}

impl Default for RecoveryConfig {
    fn default() -> Self {
        RecoveryConfig {
            enabled: true,
            interval: ms(500),
            min_idle: ms(10_000),
            batch: 128,
            max_retries: 3,
            backoff_base: Micros::ZERO,
            backoff_max: ms(300_000),
            backoff_jitter: 0.2,
        }
    }
}

/// `[log]`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LogConfig {
    /// `error`, `warn`, `info`, `debug`, `trace`, or a filter such as `tq=debug`.
    pub level: String,
    /// `text` or `json`.
    pub format: String,
}

impl Default for LogConfig {
    fn default() -> Self {
        LogConfig { level: "info".into(), format: "text".into() }
    }
}
