//! The multicall binary: parse, dispatch, exit code.

use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    // Threads inherit it: before any other one starts.
    tq::clock::lower_timer_slack();
    match tq::cli::Cli::try_parse() {
        Ok(cli) => ExitCode::from(tq::cmd::run(cli)),
        Err(error) => {
            // Help and version are errors to clap as well, with exit code 0. A closed pipe ends quietly.
            let _ = error.print();
            ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2))
        }
    }
}
