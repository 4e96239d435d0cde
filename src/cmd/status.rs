//! `tq status`.

use super::configured;
use super::output::print;
use super::session::{Session, with_session};
use crate::cli::{GlobalArgs, StatusArgs};
use crate::model::Micros;
use crate::runtime::{status_table, status_view};
use std::io::IsTerminal;

/// How often `--watch` looks.
const REFRESH: Micros = Micros::from_secs(1);
/// Cursor home, clear to the end of the screen.
const CLEAR: &str = "\u{1b}[H\u{1b}[2J";

pub(super) fn run(global: &GlobalArgs, args: &StatusArgs) -> anyhow::Result<()> {
    let config = configured(global, &())?.config;
    with_session(config, async |session| show(&session, args).await)
}

async fn show(session: &Session, args: &StatusArgs) -> anyhow::Result<()> {
    let clear = args.watch && !args.json && std::io::stdout().is_terminal();
    loop {
        match status_view::collect(&session.broker, &session.clock).await {
            // One document a line while watching, so that a reader can tell them apart.
            Ok(view) if args.json && args.watch => print(&format!("{}\n", serde_json::to_string(&view)?))?,
            Ok(view) if args.json => super::output::print_json(&view)?,
            Ok(view) => {
                let namespace = &session.config.streams.namespace;
                let head = format!("{}namespace {namespace} at {}\n", if clear { CLEAR } else { "" }, utc(view.at_us));
                print(&format!("{head}{}", status_table::render(&view)))?;
            }
            Err(error) if args.watch => tracing::warn!(%error, "no status; trying again"),
            Err(error) => return Err(error.into()),
        }
        if !args.watch {
            return Ok(());
        }
        tokio::select! {
            biased;
            () = session.stop.cancelled() => return Ok(()),
            () = session.clock.sleep(REFRESH) => {}
        }
        if !clear && !args.json {
            print("\n")?;
        }
    }
}

fn utc(instant: Micros) -> String {
    crate::runtime::utc::utc(instant)
}
