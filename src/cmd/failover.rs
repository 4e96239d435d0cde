//! `tq failover`.

use super::configured;
use super::output::{print, print_json};
use super::run_id::run_id;
use super::session::run_async;
use super::{Usage, command_line};
use crate::cli::{FailoverArgs, GlobalArgs};
use crate::config::LogConfig;
use crate::lab::failover::{Arm, Failover, Row, Settings};
use crate::lab::store::{Choice, Store};
use crate::model::Micros;
use crate::model::units::{format_span, parse_span};
use crate::runtime::{logging, shutdown};
use anyhow::{Context, bail};
use serde_json::json;

pub(super) fn run(global: &GlobalArgs, args: &FailoverArgs) -> anyhow::Result<()> {
    let mut args = args.clone();
    if args.lease_renew.is_none()
        && let Some(ttl) = args.lease_ttl.as_deref().and_then(|text| parse_span(text).ok())
    {
        args.lease_renew = Some(format_span(Micros(ttl.0 / 10 * 3)));
    }
    let mut config = configured(global, &args)?.config;
    if config.log == LogConfig::default() {
        config.log.level = "warn,fred=error".into();
    }
    logging::init(&config.log).map_err(anyhow::Error::msg)?;
    if args.broker == Choice::Memory {
        return Err(Usage("--broker memory: processes cannot share it; use private or redis".into()).into());
    }
    let (run_id, arms) =
        (run_id(args.run_id.as_ref())?, if args.arms.is_empty() { Arm::ALL.to_vec() } else { args.arms });
    let executable = std::env::current_exe().context("the path of this executable")?;
    let report = run_async(async {
        let stop = shutdown::on_signals().context("signals")?;
        let store = Store::open(args.broker, false, &config.redis).await?;
        if !args.json {
            print(&format!("broker: {}; run {run_id}\n", store.description()))?;
        }
        let settings = Settings::new(config.leader_election, executable);
        let (repetitions, results_dir, command) = (args.repetitions, args.results_dir, command_line());
        let failover = Failover { settings, arms, repetitions, store, run_id, results_dir, command };
        failover
            .run(stop, |row| {
                if !args.json {
                    let _ = print(&line(row));
                }
            })
            .await
    })?;
    if args.json {
        print_json(&json!({ "directory": report.directory, "trials": report.rows }))?;
    } else {
        print(&format!("\n{}\nresults: {}\n", report.table, report.directory.display()))?;
    }
    if report.interrupted {
        bail!("interrupted after {} trials; {} holds them", report.rows.len(), report.directory.display());
    }
    let broken = report.rows.iter().filter(|row| row.is_violation()).count();
    if broken > 0 {
        bail!("{broken} trials lost a task, recorded one twice, or dispatched under a dead term");
    }
    Ok(())
}

/// One trial in a line.
fn line(row: &Row) -> String {
    let outage = if row.recovered { format!("{:.0} ms", row.outage_ms) } else { "no recovery".into() };
    let Row { repetition, unfinished, submitted, .. } = row;
    format!("{} {repetition}: {outage}, {unfinished} of {submitted} unfinished\n", row.label())
}
