//! The flags of `tq failover`.

use crate::lab::failover::Arm;
use crate::lab::store::Choice;
use clap::Args;
use serde::Serialize;
use std::path::PathBuf;

/// `tq failover`.
#[derive(Debug, Clone, Args, Serialize)]
#[command(after_help = "Examples:\n  tq failover\n  tq failover --arms crash,graceful --repetitions 15\n  \
    tq failover --arms crash_ttl --lease-ttl 2s --run-id ttl-2s\n  tq report results/ttl-2s results/ttl-5s")]
pub struct FailoverArgs {
    /// What is done to the leader; all unless given
    #[arg(long, value_enum, value_name = "LIST", value_delimiter = ',')]
    #[serde(skip)]
    pub arms: Vec<Arm>,
    /// Trials of each arm
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    #[serde(skip)]
    pub repetitions: u32,
    /// How long a grant of the lease lasts
    #[arg(long, value_name = "SPAN")]
    #[serde(rename = "leader_election.ttl", skip_serializing_if = "Option::is_none")]
    pub lease_ttl: Option<String>,
    /// How often the leader renews it; with --lease-ttl, 0.3 of it unless given
    #[arg(long, value_name = "SPAN")]
    #[serde(rename = "leader_election.renew_interval", skip_serializing_if = "Option::is_none")]
    pub lease_renew: Option<String>,
    /// private (a redis-server of its own) or redis (the configured one)
    #[arg(long, value_enum, default_value = "private")]
    #[serde(skip)]
    pub broker: Choice,
    /// Name of the run, and of its directory; one that exists is continued
    #[arg(long, value_name = "ID")]
    #[serde(skip)]
    pub run_id: Option<String>,
    /// Where result directories go
    #[arg(long, value_name = "DIR", default_value = "results")]
    #[serde(skip)]
    pub results_dir: PathBuf,
    /// Report as JSON
    #[arg(long)]
    #[serde(skip)]
    pub json: bool,
}
