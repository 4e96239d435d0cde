//! The commands: each one puts library parts together. Exit codes are decided here.

mod bench;
mod compare;
mod completions;
mod config;
mod connect;
mod dlq;
mod failover;
mod given;
mod merge;
mod output;
mod planned;
mod produce;
mod reset;
mod run_id;
mod scheduler;
mod serve;
mod session;
mod status;
mod worker;

use crate::cli::{Cli, Command, GlobalArgs};
use crate::config::{Loaded, Violations, load};
use serde::Serialize;
use std::io::ErrorKind;

/// The work failed.
const FAILED: u8 = 1;
/// The arguments or the configuration are wrong.
const WRONG: u8 = 2;

/// The arguments ask for something that makes no sense.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Usage(pub String);

/// Runs what was typed; the exit code.
pub fn run(cli: Cli) -> u8 {
    match dispatch(cli) {
        Ok(()) => 0,
        Err(error) => exit_code(&error),
    }
}

fn dispatch(cli: Cli) -> anyhow::Result<()> {
    let global = cli.global;
    match cli.command {
        Command::Scheduler(args) => scheduler::run(&global, &args),
        Command::Worker(args) => worker::run(&global, &args),
        Command::Produce(args) => produce::run(&global, &args),
        Command::Status(args) => status::run(&global, &args),
        Command::Dlq(args) => dlq::run(&global, &args),
        Command::Reset(args) => reset::run(&global, &args),
        Command::Bench(args) => bench::run(&global, &args),
        Command::Compare(args) => compare::run(&args),
        Command::Merge(args) => merge::run(&args),
        Command::Failover(args) => failover::run(&global, &args),
        Command::Config(args) => config::run(&global, &args),
        Command::Completions(args) => completions::run(&args),
    }
}

/// Reports an error, unless nobody listens any more.
fn exit_code(error: &anyhow::Error) -> u8 {
    let io = error.chain().find_map(|cause| cause.downcast_ref::<std::io::Error>());
    if io.is_some_and(|io| io.kind() == ErrorKind::BrokenPipe) {
        return 0;
    }
    // Not `eprintln!`: that panics where stderr is closed.
    let _ = std::io::Write::write_fmt(&mut std::io::stderr(), format_args!("tq: {error:#}\n"));
    let wrong = error.is::<Violations>() || error.is::<Usage>();
    if wrong { WRONG } else { FAILED }
}

/// The effective configuration: defaults, file, environment, and the flags of `global` and `own`.
fn configured(global: &GlobalArgs, own: &impl Serialize) -> anyhow::Result<Loaded> {
    let mut flags = serde_json::Map::new();
    for part in [serde_json::to_value(global)?, serde_json::to_value(own)?] {
        if let serde_json::Value::Object(part) = part {
            flags.extend(part);
        }
    }
    // A variable that is not Unicode cannot be meant for a field; `vars` would panic on it.
    let vars =
        std::env::vars_os().filter_map(|(name, text)| Some((name.into_string().ok()?, text.into_string().ok()?)));
    Ok(load(global.config.as_deref(), vars, &flags)?)
}

/// What was typed, for manifests.
fn command_line() -> String {
    std::env::args().collect::<Vec<_>>().join(" ")
}
