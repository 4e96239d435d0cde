//! Connections to the configured Redis.

use crate::broker::redis::RedisBroker;
use crate::broker::{BrokerError, BrokerResult};
use crate::clock::Clock;
use crate::config::Config;
use crate::model::Micros;
use anyhow::Context;
use tokio_util::sync::CancellationToken;

/// The broker of every command but `bench` and `sim`.
pub(super) type Store = RedisBroker;

/// How long to wait between attempts to connect.
const PAUSE: Micros = Micros::from_millis(500);

/// One attempt.
pub(super) async fn open(config: &Config, clock: &Clock) -> BrokerResult<Store> {
    let store = RedisBroker::connect(&config.redis, &config.streams.namespace, clock).await?;
    Ok(store.with_done_retention(config.streams.done_retention))
}

/// Tries until Redis answers; one line says that it waits, one that it is over. `None`: stopped first.
///
/// # Errors
/// What does not pass by itself: too old a server, no permission.
pub(super) async fn open_patiently(
    config: &Config,
    clock: &Clock,
    stop: &CancellationToken,
) -> anyhow::Result<Option<Store>> {
    let url = config.redis.shown_url();
    let mut waiting = false;
    loop {
        let attempt = tokio::select! {
            biased;
            () = stop.cancelled() => return Ok(None),
            attempt = open(config, clock) => attempt,
        };
        match attempt {
            Ok(store) => {
                if waiting {
                    tracing::info!(url, "Redis answers");
                }
                return Ok(Some(store));
            }
            Err(error @ (BrokerError::Unsupported(_) | BrokerError::NoPermission(_))) => {
                return Err(error).with_context(|| format!("Redis at {url}"));
            }
            Err(error) if !waiting => {
                waiting = true;
                tracing::warn!(url, %error, "waiting for Redis");
            }
            Err(_) => {}
        }
        tokio::select! {
            biased;
            () = stop.cancelled() => return Ok(None),
            () = clock.sleep(PAUSE) => {}
        }
    }
}
