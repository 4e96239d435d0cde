//! The flags of the commands that read result directories.

use crate::lab::compare::Metric;
use clap::Args;
use std::path::PathBuf;

/// `tq compare`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  tq compare results/before results/after\n  \
    tq compare results/a results/b --metric p95,miss_rate --json\n  \
    tq compare results/a --policies fifo,wfq,edf --markdown\n\n\
    Repetitions are paired; with one repetition there is no verdict. docs/comparing.md says how it is done.")]
pub struct CompareArgs {
    /// A result directory, or two
    #[arg(required = true, num_args = 1..=2, value_name = "RUN")]
    pub runs: Vec<PathBuf>,
    /// Within one run: the first policy, and those that are held against it
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub policies: Vec<String>,
    /// p50, p95, p99, throughput, miss_rate, max_wait, jain (these unless others are named), mean, p999, max,
    /// utilization, inversions, or a column of aggregate.csv
    #[arg(long = "metric", value_name = "LIST", value_delimiter = ',')]
    pub metrics: Vec<Metric>,
    /// One JSON document
    #[arg(long, conflicts_with = "markdown")]
    pub json: bool,
    /// Markdown tables
    #[arg(long)]
    pub markdown: bool,
}

/// `tq merge`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  tq merge results/full results/full-uniform results/full-bursty\n\n\
    Refuses runs that differ in anything that can change a figure, and those that cover a cell twice.")]
pub struct MergeArgs {
    /// The directory to make; must not exist, or be empty
    #[arg(value_name = "OUT")]
    pub out: PathBuf,
    /// Result directories
    #[arg(required = true, num_args = 2.., value_name = "RUN")]
    pub runs: Vec<PathBuf>,
    /// The outcome as JSON
    #[arg(long)]
    pub json: bool,
}
