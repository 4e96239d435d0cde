//! `tq config`: the effective configuration and the source of each value.

use super::configured;
use super::output::{print, print_json};
use crate::cli::{ConfigArgs, GlobalArgs};

pub(super) fn run(global: &GlobalArgs, args: &ConfigArgs) -> anyhow::Result<()> {
    let loaded = configured(global, &())?;
    match (args.check, args.json) {
        (true, true) => print_json(&serde_json::json!({ "valid": true })),
        (true, false) => print("the configuration is valid\n"),
        (false, true) => print_json(&loaded.to_json()),
        (false, false) => print(&loaded.to_toml()),
    }
}
