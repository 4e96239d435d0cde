//! What short commands run in: a runtime, a connection, the broker's clock.

use super::connect::{Store, open};
use crate::broker::BrokerError;
use crate::clock::Clock;
use crate::config::Config;
use crate::runtime::{logging, offset, shutdown};
use anyhow::Context;
use std::future::Future;
use tokio_util::sync::CancellationToken;

/// What a short command works with.
pub(super) struct Session {
    pub(super) config: Config,
    pub(super) broker: Store,
    /// Set to the broker's clock.
    pub(super) clock: Clock,
    /// Cancelled by the first signal.
    pub(super) stop: CancellationToken,
}

/// Connects once and runs `work`; Redis that does not answer is an error.
pub(super) fn with_session<F: Future<Output = anyhow::Result<()>>>(
    config: Config,
    work: impl FnOnce(Session) -> F,
) -> anyhow::Result<()> {
    logging::init(&config.log).map_err(anyhow::Error::msg)?;
    run_async(async {
        let stop = shutdown::on_signals().context("signals")?;
        let clock = Clock::real();
        let url = config.redis.shown_url();
        let connecting = async {
            let broker = open(&config, &clock).await?;
            offset::measure(&broker, &clock).await?;
            Ok(broker)
        };
        let broker = tokio::select! {
            biased;
            () = stop.cancelled() => anyhow::bail!("stopped before Redis at {url} answered"),
            broker = connecting => broker.map_err(|error: BrokerError| anyhow::anyhow!("Redis at {url}: {error}"))?,
        };
        work(Session { config, broker, clock, stop }).await
    })
}

/// Runs a command's future on a runtime of its own.
pub(super) fn run_async<T>(future: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().context("the runtime")?;
    let ended = runtime.block_on(Box::pin(future));
    // A blocking read or a handler that never yields must not hold up the end.
    runtime.shutdown_background();
    ended
}
