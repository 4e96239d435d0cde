//! What can be typed: types only. What it means is decided by `config` and `cmd`.
//!
//! Whatever overrides a configured field is a text here: the configuration checks flags, variables and file by the same
//! rules and reports everything that is wrong at once.

use clap::{Args, Parser, Subcommand};
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
