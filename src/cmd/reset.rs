//! `tq reset`.

use super::output::print;
use super::session::with_session;
use super::{Usage, configured};
use crate::broker::Broker;
use crate::cli::{GlobalArgs, ResetArgs};

pub(super) fn run(global: &GlobalArgs, args: &ResetArgs) -> anyhow::Result<()> {
    let config = configured(global, &())?.config;
    let namespace = config.streams.namespace.clone();
    if !args.yes {
        let url = config.redis.shown_url();
        return Err(Usage(format!(
            "this deletes every task, result and dead letter of the namespace {namespace} at {url}; say --yes"
        ))
        .into());
    }
    with_session(config, async |session| {
        session.broker.reset().await?;
        print(&format!("deleted the namespace {namespace}; its epoch and fence are kept\n"))
    })
}
