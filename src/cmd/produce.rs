//! `tq produce`.

use super::configured;
use super::output::{print, print_json};
use super::planned::{Tasks, tasks};
use super::session::{Session, with_session};
use crate::broker::Broker;
use crate::cli::{GlobalArgs, ProduceArgs};
use crate::model::Micros;
use crate::producer::{self, Report};
use crate::runtime::status_table::span;
use anyhow::ensure;
use indicatif::{ProgressBar, ProgressStyle};
use std::io::{IsTerminal, Write};

/// Ids asked after per request.
const KNOWN_BATCH: usize = 512;
/// How often a line tells the progress where there is no terminal.
const LINE_EVERY: Micros = Micros::from_secs(5);

pub(super) fn run(global: &GlobalArgs, args: &ProduceArgs) -> anyhow::Result<()> {
    let config = configured(global, args)?.config;
    let tasks = tasks(&config, args)?;
    if args.dry_run {
        let mut out = std::io::BufWriter::new(std::io::stdout().lock());
        for task in tasks.starting_at(Micros::ZERO) {
            out.write_all(&task.body)?;
            out.write_all(b"\n")?;
        }
        return Ok(out.flush()?);
    }
    with_session(config, async |session| submit(&session, &tasks, args.json).await)
}

async fn submit(session: &Session, tasks: &Tasks, json: bool) -> anyhow::Result<()> {
    let Session { broker, clock, stop, .. } = session;
    if let Some(reason) = broker.unguarded() {
        tracing::warn!(reason, "the server takes writes that a failover may lose; no scheduler will lead here");
    }
    warn_of_known(session, &tasks.ids()).await?;
    let planned = tasks.len() as u64;
    let bar = progress_bar(planned);
    let start = clock.now();
    let mut next_line = start + LINE_EVERY;
    let heard = |submitted: u64| {
        bar.set_position(submitted);
        if bar.is_hidden() && clock.now() >= next_line {
            next_line = clock.now() + LINE_EVERY;
            tracing::info!(submitted, planned, "submitting");
        }
    };
    let ended = producer::run_with(broker, clock, tasks.starting_at(start), stop.clone(), heard).await;
    bar.finish_and_clear();
    let Report { submitted, lag_max, lag_mean } = ended?;
    let took = clock.now() - start;
    if json {
        print_json(&serde_json::json!({
            "planned": planned, "submitted": submitted, "took_us": took, "lag_mean_us": lag_mean, "lag_max_us": lag_max,
        }))?;
    } else {
        let (took, mean, max) = (span(took), span(lag_mean), span(lag_max));
        print(&format!("submitted {submitted} of {planned} tasks in {took}; lag mean {mean}, max {max}\n"))?;
    }
    ensure!(submitted == planned, "stopped with {} tasks not submitted", planned - submitted);
    Ok(())
}

/// Ids that exist already would be dropped as duplicates: somebody who repeats a command should hear of it.
async fn warn_of_known(session: &Session, ids: &[&str]) -> anyhow::Result<()> {
    let mut known = 0;
    for part in ids.chunks(KNOWN_BATCH) {
        let answers = session.broker.known(part, session.clock.now()).await?;
        known += answers.into_iter().filter(|known| *known).count();
    }
    if known > 0 {
        let of = ids.len();
        tracing::warn!(
            known,
            of,
            "ids exist already: these tasks will be dropped as duplicates (--seed or --id-prefix)"
        );
    }
    Ok(())
}

fn progress_bar(planned: u64) -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(planned);
    if let Ok(style) = ProgressStyle::with_template("{bar:40} {pos}/{len} tasks, {per_sec}, {eta} left") {
        bar.set_style(style);
    }
    bar
}
