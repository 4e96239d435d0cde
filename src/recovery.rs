//! Decides the fate of attempts whose worker fell silent, and drops what has outlived its retention. Runs on every
//! scheduler replica; the scripts make concurrent passes harmless.

use crate::broker::fate::retry_of;
use crate::broker::{Broker, BrokerError, Fate};
use crate::clock::Clock;
use crate::config::{RecoveryConfig, StreamsConfig};
use crate::model::Micros;
use crate::model::retry::Failure;
use crate::runtime::metrics as names;
use metrics::counter;
use tokio_util::sync::CancellationToken;

/// How often finished things are looked over for what has outlived its retention.
const HOUSEKEEPING_INTERVAL: Micros = Micros::from_secs(30);
/// A worker that has been silent for this long leaves the register.
const WORKER_SILENCE: Micros = Micros::from_secs(60);

/// Looks for expired attempts every `interval` until stopped.
pub async fn run<B: Broker>(
    broker: B,
    clock: Clock,
    config: RecoveryConfig,
    streams: StreamsConfig,
    stop: CancellationToken,
) {
    let mut beat = clock.interval(config.interval);
    let mut housekeeping_due = clock.raw();
    let mut failing = false;
    loop {
        tokio::select! {
            biased;
            () = stop.cancelled() => return,
            () = beat.tick() => {}
        }
        let mut outcome = pass(&broker, &clock, &config).await;
        if outcome.is_ok() && clock.raw() >= housekeeping_due {
            housekeeping_due = clock.raw() + HOUSEKEEPING_INTERVAL;
            let silence = WORKER_SILENCE.max(config.min_idle * 2);
            outcome = broker
                .housekeep(clock.now(), streams.results_retention, streams.done_retention, silence)
                .await
                .map(|()| 0);
        }
        match outcome {
            Ok(reclaimed) => {
                if failing {
                    tracing::info!("recovery works again");
                }
                failing = false;
                if reclaimed > 0 {
                    tracing::info!(reclaimed, "took over attempts of silent workers");
                }
            }
            Err(error) if !failing => {
                failing = true;
                tracing::warn!(%error, "recovery cannot look for expired attempts; it keeps trying");
            }
            Err(_) => {}
        }
    }
}

/// One pass: every attempt that is expired now; how many were taken over.
///
/// # Errors
/// The broker's; what was not dealt with is found again by the next pass.
pub async fn pass<B: Broker>(broker: &B, clock: &Clock, config: &RecoveryConfig) -> Result<usize, BrokerError> {
    let mut reclaimed = 0;
    loop {
        let expired = broker.expired(config.min_idle, config.batch).await?;
        if expired.is_empty() {
            return Ok(reclaimed);
        }
        let now = clock.now();
        let backoff = config.backoff();
        let batch: Vec<_> = expired
            .iter()
            .map(|(delivery, worker)| {
                retry_of(delivery, &Failure::WorkerLost, worker, &backoff, now, Some(config.min_idle))
            })
            .collect();
        let stale = broker.retry(&batch, now).await?.stale;
        let acted = batch.len() - stale.len();
        let dead = batch
            .iter()
            .enumerate()
            .filter(|(place, retry)| matches!(retry.fate, Fate::Dead(_)) && !stale.contains(place))
            .count();
        counter!(names::RECOVERY_RECLAIMED).increment(acted as u64);
        counter!(names::TASK_RETRIES).increment((acted - dead) as u64);
        counter!(names::TASKS_DEAD_LETTERED).increment(dead as u64);
        reclaimed += acted;
        // A full batch means that there may be more; one in which nothing could be done would come back unchanged.
        if expired.len() < config.batch || acted == 0 {
            return Ok(reclaimed);
        }
    }
}
