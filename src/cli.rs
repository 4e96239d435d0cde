//! What can be typed: types only. What it means is decided by `config` and `cmd`.
//!
//! Whatever overrides a configured field is a text here: the configuration checks flags, variables and file by the same
//! rules and reports everything that is wrong at once.

mod bench;
mod failover;
mod lab;

pub use bench::BenchArgs;
use clap::{Args, Parser, Subcommand};
pub use failover::FailoverArgs;
pub use lab::{CompareArgs, MergeArgs};
use serde::Serialize;
use std::path::PathBuf;

/// A distributed task queue on Redis whose scheduling policy is a component you choose.
#[derive(Debug, Parser)]
#[command(name = "tq", version, propagate_version = true, max_term_width = 110)]
#[command(after_help = "Examples:\n  tq scheduler --policy edf\n  tq worker --concurrency 8\n  \
    tq produce --workload bursty --count 1000\n  tq status --watch\n\n\
    Exit status: 0 done; 1 the work failed; 2 the arguments or the configuration are wrong.")]
pub struct Cli {
    /// Flags of every command.
    #[command(flatten)]
    pub global: GlobalArgs,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// Flags of every command.
#[derive(Debug, Clone, Default, Args, Serialize)]
#[command(next_help_heading = "Everywhere")]
pub struct GlobalArgs {
    /// Configuration file (TOML); also TQ_CONFIG
    #[arg(long, global = true, value_name = "FILE")]
    #[serde(skip)]
    pub config: Option<PathBuf>,
    /// Where Redis is; also TQ_REDIS_URL
    #[arg(long, global = true, value_name = "URL")]
    #[serde(rename = "redis.url", skip_serializing_if = "Option::is_none")]
    pub redis: Option<String>,
    /// Prefix and hash tag of every key; also TQ_NAMESPACE
    #[arg(long, global = true, value_name = "NS")]
    #[serde(rename = "streams.namespace", skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// error, warn, info, debug, trace, or a filter; also TQ_LOG_LEVEL
    #[arg(long, global = true, value_name = "LEVEL")]
    #[serde(rename = "log.level", skip_serializing_if = "Option::is_none")]
    pub log_level: Option<String>,
    /// text or json, to stderr; also TQ_LOG_FORMAT
    #[arg(long, global = true, value_name = "FORMAT")]
    #[serde(rename = "log.format", skip_serializing_if = "Option::is_none")]
    pub log_format: Option<String>,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Campaign for the lease; while leading, admit, rank and dispatch
    Scheduler(SchedulerArgs),
    /// Execute tasks
    Worker(WorkerArgs),
    /// Submit a workload, a trace or given tasks, each at its instant
    Produce(ProduceArgs),
    /// Show leader, depths, tenants and workers
    Status(StatusArgs),
    /// Look at dead letters, send them again, or drop them
    Dlq(DlqArgs),
    /// Delete everything in the namespace, except its epoch and fence
    Reset(ResetArgs),
    /// Measure what the policies do to workloads
    Bench(Box<BenchArgs>),
    /// Say which differences between two runs, or two policies, are real
    Compare(CompareArgs),
    /// Put runs of the same settings together
    Merge(MergeArgs),
    /// Measure what it costs, and whether anything breaks, when the leader goes
    Failover(FailoverArgs),
    /// Show the effective configuration and where each value came from
    Config(ConfigArgs),
    /// Print a shell's completion script
    Completions(CompletionsArgs),
}

/// `tq config`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  tq config\n  tq config --config config/edf.toml --json\n  \
    TQ_SCHEDULER__POLICY=wfq tq config --check")]
pub struct ConfigArgs {
    /// Only say whether it is valid
    #[arg(long)]
    pub check: bool,
    /// One JSON document: values and sources
    #[arg(long)]
    pub json: bool,
}

/// `tq completions`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  tq completions bash > /etc/bash_completion.d/tq\n  \
    tq completions zsh > ~/.zfunc/_tq")]
pub struct CompletionsArgs {
    /// Which shell
    pub shell: clap_complete::Shell,
}

/// `tq scheduler`.
#[derive(Debug, Default, Args, Serialize)]
#[command(
    after_help = "Examples:\n  tq scheduler --policy wfq\n  tq scheduler --config config/edf.toml --max-in-flight 64\n  tq scheduler --policy fifo --lease-ttl 3s --lease-renew 1s --metrics-addr \"\""
)]
pub struct SchedulerArgs {
    /// fifo, priority, edf or wfq
    #[arg(long, value_name = "POLICY")]
    #[serde(rename = "scheduler.policy", skip_serializing_if = "Option::is_none")]
    pub policy: Option<String>,
    /// Tasks dispatched and not ended: a number, 0 for unlimited, or auto
    #[arg(long, value_name = "N|auto")]
    #[serde(rename = "scheduler.max_in_flight", skip_serializing_if = "Option::is_none")]
    pub max_in_flight: Option<String>,
    /// Tasks per dispatch
    #[arg(long, value_name = "N")]
    #[serde(rename = "scheduler.dispatch_batch", skip_serializing_if = "Option::is_none")]
    pub dispatch_batch: Option<String>,
    /// How long a grant of the lease lasts
    #[arg(long, value_name = "SPAN")]
    #[serde(rename = "leader_election.ttl", skip_serializing_if = "Option::is_none")]
    pub lease_ttl: Option<String>,
    /// How often the leader renews it
    #[arg(long, value_name = "SPAN")]
    #[serde(rename = "leader_election.renew_interval", skip_serializing_if = "Option::is_none")]
    pub lease_renew: Option<String>,
    /// Whether a lost connection ends a term before its ttl
    #[arg(long, value_name = "true|false")]
    #[serde(rename = "leader_election.detect_disconnect", skip_serializing_if = "Option::is_none")]
    pub detect_disconnect: Option<String>,
    /// Whether this replica recovers expired attempts
    #[arg(long, value_name = "true|false")]
    #[serde(rename = "recovery.enabled", skip_serializing_if = "Option::is_none")]
    pub recovery: Option<String>,
    /// Where /metrics, /healthz and /readyz are; empty: nowhere
    #[arg(long, value_name = "HOST:PORT")]
    #[serde(rename = "scheduler.metrics_addr", skip_serializing_if = "Option::is_none")]
    pub metrics_addr: Option<String>,
}

/// `tq worker`.
#[derive(Debug, Default, Args, Serialize)]
#[command(
    after_help = "Examples:\n  tq worker --concurrency 8\n  tq worker --exec-mode cpu --concurrency 2 --name gpu-1\n  tq worker --fail-rate 0.05 --fail-before-ack-rate 0.2 --fail-seed 7"
)]
pub struct WorkerArgs {
    /// Execution slots
    #[arg(long, value_name = "N")]
    #[serde(rename = "worker.concurrency", skip_serializing_if = "Option::is_none")]
    pub concurrency: Option<String>,
    /// sleep waits for the service time, cpu burns it
    #[arg(long, value_name = "MODE")]
    #[serde(rename = "worker.exec_mode", skip_serializing_if = "Option::is_none")]
    pub exec_mode: Option<String>,
    /// Probability that the handler fails
    #[arg(long, value_name = "P")]
    #[serde(rename = "worker.fail_rate", skip_serializing_if = "Option::is_none")]
    pub fail_rate: Option<String>,
    /// Probability that an executed attempt is abandoned before it is acknowledged
    #[arg(long, value_name = "P")]
    #[serde(rename = "worker.fail_before_ack_rate", skip_serializing_if = "Option::is_none")]
    pub fail_before_ack_rate: Option<String>,
    /// Seed of injected failures
    #[arg(long, value_name = "N")]
    #[serde(rename = "worker.fail_seed", skip_serializing_if = "Option::is_none")]
    pub fail_seed: Option<String>,
    /// How long running work may go on after a stop
    #[arg(long, value_name = "SPAN")]
    #[serde(rename = "worker.shutdown_grace", skip_serializing_if = "Option::is_none")]
    pub shutdown_grace: Option<String>,
    /// Name; else host name and process id
    #[arg(long, value_name = "NAME")]
    #[serde(rename = "worker.name", skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Where /metrics, /healthz and /readyz are; empty: nowhere
    #[arg(long, value_name = "HOST:PORT")]
    #[serde(rename = "worker.metrics_addr", skip_serializing_if = "Option::is_none")]
    pub metrics_addr: Option<String>,
}

/// `tq produce`.
#[derive(Debug, Default, Args, Serialize)]
#[command(after_help = "Examples:\n  tq produce --workload bursty --count 1000 --seed 7\n  \
    tq produce --trace trace.csv --load 0.9 --slots 8\n  tq produce --trace trace.csv --speed 60 --count 1000\n  \
    echo '{\"id\": \"mail-1\", \"service_us\": 20000}' | tq produce --from -\n  \
    tq produce --count 10 --dry-run")]
pub struct ProduceArgs {
    /// uniform, bursty, heavy_tailed or multi_tenant
    #[arg(long, value_name = "KIND", conflicts_with_all = ["trace", "from"])]
    #[serde(rename = "workload.type", skip_serializing_if = "Option::is_none")]
    pub workload: Option<String>,
    /// How many tasks; of a trace, the first so many
    #[arg(long, value_name = "N")]
    #[serde(rename = "workload.count", skip_serializing_if = "Option::is_none")]
    pub count: Option<String>,
    /// Fixes every draw, and is part of the ids
    #[arg(long, value_name = "N")]
    #[serde(rename = "workload.seed", skip_serializing_if = "Option::is_none")]
    pub seed: Option<String>,
    /// Mean arrivals per second
    #[arg(long, value_name = "R", conflicts_with = "trace")]
    #[serde(rename = "workload.arrival_rate_per_s", skip_serializing_if = "Option::is_none")]
    pub rate: Option<String>,
    /// Ids are PREFIX-SEED-NUMBER
    #[arg(long, value_name = "PREFIX")]
    #[serde(rename = "workload.id_prefix", skip_serializing_if = "Option::is_none")]
    pub id_prefix: Option<String>,
    /// Replay a trace: submit_ms,duration_ms,tenant,priority,deadline_ms,kind
    #[arg(long, value_name = "FILE.csv", conflicts_with = "from")]
    #[serde(skip)]
    pub trace: Option<PathBuf>,
    /// Replay it so many times as fast, durations and deadlines too
    #[arg(long, value_name = "X", requires = "trace", conflicts_with = "load")]
    #[serde(skip)]
    pub speed: Option<f64>,
    /// Stretch its arrivals to this offered load
    #[arg(long, value_name = "RHO", requires_all = ["trace", "slots"])]
    #[serde(skip)]
    pub load: Option<f64>,
    /// Execution slots that --load is meant for
    #[arg(long, value_name = "N", requires = "load")]
    #[serde(skip)]
    pub slots: Option<u32>,
    /// Submit given tasks, one JSON object a line; - is standard input. At once, or at --rate
    #[arg(long, value_name = "FILE.jsonl|-")]
    #[serde(skip)]
    pub from: Option<PathBuf>,
    /// Print the tasks instead, one JSON object a line; instants count from the start
    #[arg(long)]
    #[serde(skip)]
    pub dry_run: bool,
    /// Report as JSON
    #[arg(long)]
    #[serde(skip)]
    pub json: bool,
}

/// `tq status`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  tq status\n  tq status --watch\n  tq status --json | jq .places")]
pub struct StatusArgs {
    /// Look again every second, until a signal
    #[arg(long)]
    pub watch: bool,
    /// One JSON document; with --watch, one a line
    #[arg(long)]
    pub json: bool,
}

/// `tq dlq`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  tq dlq list\n  tq dlq show task-42-000007\n  tq dlq requeue --all\n  \
    tq dlq purge --older-than 24h")]
pub struct DlqArgs {
    /// What to do
    #[command(subcommand)]
    pub command: DlqCommand,
}

/// What to do with dead letters. They are named by entry id or task id.
#[derive(Debug, Subcommand)]
pub enum DlqCommand {
    /// List them, oldest first
    List {
        /// How many; 0 for all
        #[arg(long, default_value_t = 100)]
        limit: usize,
        /// A JSON array
        #[arg(long)]
        json: bool,
    },
    /// Show everything that is known of some
    Show {
        /// Entry or task ids
        #[arg(required = true, value_name = "ID")]
        ids: Vec<String>,
    },
    /// Send them to ingress again, as they were sent
    Requeue {
        /// Entry or task ids
        #[arg(value_name = "ID", required_unless_present = "all")]
        ids: Vec<String>,
        /// All of them
        #[arg(long, conflicts_with = "ids")]
        all: bool,
    },
    /// Drop them
    Purge {
        /// Entry or task ids
        #[arg(value_name = "ID", required_unless_present_any = ["all", "older_than"])]
        ids: Vec<String>,
        /// All of them
        #[arg(long, conflicts_with_all = ["ids", "older_than"])]
        all: bool,
        /// Those given up longer ago than this, such as 24h
        #[arg(long, value_name = "SPAN", conflicts_with = "ids")]
        older_than: Option<String>,
    },
}

/// `tq reset`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  tq reset --yes\n  tq reset --namespace trial --yes")]
pub struct ResetArgs {
    /// Yes, delete
    #[arg(long)]
    pub yes: bool,
}
