//! `tq merge`.

use super::Usage;
use super::output::{print, print_json};
use crate::cli::MergeArgs;
use crate::lab::merge;
use crate::lab::results::Run;
use serde_json::json;

pub(super) fn run(args: &MergeArgs) -> anyhow::Result<()> {
    let wrong = |error: anyhow::Error| Usage(format!("{error:#}"));
    let runs: Result<Vec<Run>, _> = args.runs.iter().map(|run| Run::read(run).map_err(wrong)).collect();
    let plan = merge::plan(runs?, &args.out).map_err(wrong)?;
    let table = plan.write()?;
    if args.json {
        return print_json(&json!({ "directory": args.out, "runs": args.runs.len(), "cells": plan.cells() }));
    }
    print(&format!("{table}\nresults: {} ({} cells of {} runs)\n", args.out.display(), plan.cells(), args.runs.len()))
}
