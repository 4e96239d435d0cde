//! Paced, open-loop submission: each task is due at its instant, whether or not the system keeps up; lag is reported.

use crate::broker::{Broker, BrokerError};
use crate::clock::Clock;
use crate::model::Micros;
use bytes::Bytes;
use tokio_util::sync::CancellationToken;

/// Tasks per submission at most; what is due accumulates while one is on its way (group commit).
const BATCH_MAX: usize = 512;
/// How long to wait before trying again where the broker refused for now.
const PAUSE: Micros = Micros::from_millis(100);

/// A task and the instant at which it is due.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Planned {
    /// The intended arrival instant; `submitted_us` of the body says the same.
    pub at: Micros,
    /// The task in the wire format.
    pub body: Bytes,
}

/// What a producer did.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Report {
    /// Tasks that the broker confirmed.
    pub submitted: u64,
    /// Largest delay of a submission behind its instant.
    pub lag_max: Micros,
    /// Mean delay of a submission behind its instant.
    pub lag_mean: Micros,
}

/// A producer's end that was not the end of its tasks.
#[derive(Debug, thiserror::Error)]
#[error("{error} (confirmed so far: {} tasks)", report.submitted)]
pub struct Interrupted {
    /// What had been done.
    pub report: Report,
    /// Why it ended. If it is ambiguous, the last batch may or may not have been submitted.
    #[source]
    pub error: BrokerError,
}

/// Submits `tasks` (in ascending `at`) until they end or `stop`; `progress` hears the number confirmed so far.
///
/// # Errors
/// When a submission failed in a way that leaves open whether it was done. What the broker certainly refused (out of
/// memory, not writable now) is tried again until `stop`.
pub async fn run_with<B: Broker>(
    broker: &B,
    clock: &Clock,
    tasks: impl Iterator<Item = Planned>,
    stop: CancellationToken,
    mut progress: impl FnMut(u64),
) -> Result<Report, Interrupted> {
    let mut tasks = tasks.peekable();
    let mut report = Report::default();
    let mut lag_sum = Micros::ZERO;
    while let Some(first) = tasks.peek() {
        tokio::select! {
            biased;
            () = stop.cancelled() => break,
            () = clock.sleep_until(first.at) => {}
        }
        let now = clock.now();
        let mut batch = Vec::new();
        let mut due = Vec::new();
        while batch.len() < BATCH_MAX {
            let Some(task) = tasks.next_if(|task| task.at <= now) else { break };
            due.push(task.at);
            batch.push(task.body);
        }
        if batch.is_empty() {
            continue;
        }
        while let Err(error) = broker.submit(&batch).await {
            let for_now = matches!(error, BrokerError::OutOfMemory(_) | BrokerError::NotWritable(_));
            if !for_now || stop.is_cancelled() {
                return Err(Interrupted { report, error });
            }
            tracing::warn!(%error, "a submission was refused; trying again");
            clock.sleep(PAUSE).await;
        }
        let confirmed = clock.now();
        for at in due {
            let lag = confirmed.since(at);
            report.lag_max = report.lag_max.max(lag);
            lag_sum += lag;
            report.submitted += 1;
        }
        report.lag_mean = Micros(lag_sum.0 / report.submitted as i64);
        progress(report.submitted);
    }
    Ok(report)
}

/// [`run_with`] without progress.
///
/// # Errors
/// As [`run_with`].
pub async fn run<B: Broker>(
    broker: &B,
    clock: &Clock,
    tasks: impl Iterator<Item = Planned>,
    stop: CancellationToken,
) -> Result<Report, Interrupted> {
    run_with(broker, clock, tasks, stop, |_| {}).await
}
