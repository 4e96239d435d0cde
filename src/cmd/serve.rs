//! What `scheduler` and `worker` share: logs, signals, endpoints, connection, clock offset, then the work.

use super::connect::{Store, open_patiently};
use super::session::run_async;
use crate::clock::Clock;
use crate::config::Config;
use crate::runtime::http::{self, Endpoints, Started};
use crate::runtime::metrics::{self, Component};
use crate::runtime::{logging, offset, shutdown};
use anyhow::{Context, anyhow};
use std::future::Future;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// Runs `work` between start and signal, with the endpoints at `address` (`field` sets it; empty: none).
pub(super) fn serve<F: Future<Output = anyhow::Result<()>>>(
    config: &Config,
    component: Component,
    (field, address): (&str, &str),
    work: impl FnOnce(Store, Clock, CancellationToken) -> F,
) -> anyhow::Result<()> {
    logging::init(&config.log).map_err(anyhow::Error::msg)?;
    run_async(async {
        let stop = shutdown::on_signals().context("signals")?;
        let clock = Clock::real();
        let tenants = config.scheduler.tenant_weights.keys().map(String::as_str);
        let exporter = metrics::install(component, config.scheduler.policy.name(), tenants).map_err(|e| anyhow!(e))?;
        let (connected, broker) = watch::channel(None);
        let started = Started::default();
        // Until the work has ended, draining included: whoever scrapes sees the end of it.
        let over = CancellationToken::new();
        let _over = over.clone().drop_guard();
        let mut endpoints = None;
        if !address.is_empty() {
            let listener = http::bind(field, address).await.map_err(|e| anyhow!(e))?;
            let parts = Endpoints { exporter, broker, clock: clock.clone(), started: started.clone() };
            endpoints = Some(tokio::spawn(http::serve(listener, parts, over.clone())));
        }
        let Some(store) = open_patiently(config, &clock, &stop).await? else { return Ok(()) };
        if let Err(error) = offset::measure(&store, &clock).await {
            tracing::warn!(%error, "the offset to the broker's clock is not known yet");
        }
        let keeping = tokio::spawn(offset::keep(store.clone(), clock.clone(), over.clone()));
        let _ = connected.send(Some(store.clone()));
        started.set();
        let ended = work(store, clock, stop).await;
        over.cancel();
        let _ = keeping.await;
        if let Some(endpoints) = endpoints {
            let _ = endpoints.await;
        }
        ended
    })
}

/// `<host name>-<process id>`, the name of a process that was given none.
pub(super) fn process_name() -> String {
    let host = nix::unistd::gethostname().ok().and_then(|host| host.into_string().ok());
    // `#` separates the incarnation.
    let host = host.unwrap_or_else(|| "host".into()).replace(|c: char| c == '#' || c.is_control(), "-");
    format!("{host}-{}", std::process::id())
}
