//! The flags of `tq bench`.

use crate::config::ExecMode;
use crate::lab::profile::Arm;
use crate::lab::store::Choice;
use crate::workload::WorkloadKind;
use clap::Args;
use std::path::PathBuf;

/// `tq bench`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  tq bench --matrix\n  tq bench --matrix --profile full --repetitions 5\n  \
    tq bench --matrix --broker memory --virtual --profile full\n  \
    tq bench --matrix --policies none,fifo,wfq --workloads multi_tenant --loads 0.8,1.25\n  \
    tq bench --matrix --trace trace.csv --speed 60 --policies fifo,wfq")]
pub struct BenchArgs {
    /// Every policy × workload cell of a profile (the only experiment so far, and the default)
    #[arg(long)]
    pub matrix: bool,
    /// quick, full, failure, realwork, sweep, or a file
    #[arg(long, value_name = "NAME|FILE", default_value = "quick")]
    pub profile: String,
    /// Where the tasks live
    #[arg(long, value_enum, default_value = "auto")]
    pub broker: Choice,
    /// In virtual time (memory only)
    #[arg(long = "virtual")]
    pub is_virtual: bool,
    /// fifo, priority, edf, wfq; none is the control without a scheduler
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub policies: Vec<Arm>,
    /// uniform, bursty, heavy_tailed, multi_tenant
    #[arg(long, value_name = "LIST", value_delimiter = ',', conflicts_with = "trace")]
    pub workloads: Vec<WorkloadKind>,
    /// Offered loads; arrivals are scaled to them
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub loads: Vec<f64>,
    /// How often everything is repeated, with the next seed each time
    #[arg(long, value_name = "N")]
    pub repetitions: Option<u32>,
    /// Workers
    #[arg(long, value_name = "N")]
    pub workers: Option<u32>,
    /// Slots of each worker
    #[arg(long, value_name = "N")]
    pub concurrency: Option<u32>,
    /// Tasks per cell; of a trace, the first so many
    #[arg(long, value_name = "N")]
    pub count: Option<u64>,
    /// Of the first repetition
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// sleep or cpu
    #[arg(long, value_name = "MODE")]
    pub exec_mode: Option<ExecMode>,
    /// Replay a trace instead of the workloads
    #[arg(long, value_name = "FILE.csv")]
    pub trace: Option<PathBuf>,
    /// Replay it so many times as fast, durations and deadlines too
    #[arg(long, value_name = "X", requires = "trace")]
    pub speed: Option<f64>,
    /// Name of the run
    #[arg(long, value_name = "ID")]
    pub run_id: Option<String>,
    /// Where its directory goes
    #[arg(long, value_name = "DIR", default_value = "results")]
    pub results_dir: PathBuf,
    /// The summary as JSON
    #[arg(long)]
    pub json: bool,
}
