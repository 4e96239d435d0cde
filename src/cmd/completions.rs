//! `tq completions`.

use super::output::print;
use crate::cli::{Cli, CompletionsArgs};
use clap::CommandFactory;

pub(super) fn run(args: &CompletionsArgs) -> anyhow::Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "tq", &mut script);
    print(&String::from_utf8_lossy(&script))
}
