//! `tq compare`.

use super::Usage;
use super::output::{print, print_json};
use crate::cli::CompareArgs;
use crate::lab::compare::{Comparison, Metric};
use crate::lab::results::Run;
use std::path::Path;

pub(super) fn run(args: &CompareArgs) -> anyhow::Result<()> {
    let metrics = if args.metrics.is_empty() { Metric::usual() } else { args.metrics.clone() };
    let comparison = match &args.runs[..] {
        [run] if !args.policies.is_empty() => Comparison::of_policies(&read(run)?, &args.policies, &metrics),
        [_] => return wrong("one run: name its policies to compare (--policies fifo,wfq), or a second run"),
        [_, _] if !args.policies.is_empty() => return wrong("--policies compares within one run; two were given"),
        [left, right, ..] => Comparison::of_runs(&read(left)?, &read(right)?, &metrics),
        [] => return wrong("name a run"),
    };
    let comparison = comparison.map_err(usage)?;
    if args.json {
        return print_json(&comparison);
    }
    print(&if args.markdown { comparison.markdown() } else { comparison.text() })
}

fn read(directory: &Path) -> anyhow::Result<Run> {
    Run::read(directory).map_err(usage)
}

fn wrong(why: &str) -> anyhow::Result<()> {
    Err(Usage(why.into()).into())
}

/// What was named cannot be compared.
#[expect(clippy::needless_pass_by_value, reason = "`map_err` hands over the error")]
fn usage(error: anyhow::Error) -> anyhow::Error {
    Usage(format!("{error:#}")).into()
}
