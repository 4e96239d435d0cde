//! Reports outcomes in groups: while one report is on its way, the next accumulates.

use super::held::Held;
use super::{Report, observe};
use crate::broker::fate::retry_of;
use crate::broker::{Broker, BrokerResult, Fate, Source};
use crate::clock::Clock;
use crate::model::Micros;
use crate::model::outcome::{Completion, Delivery};
use crate::model::retry::{Backoff, Failure};
use std::future::Future;
use std::sync::Arc;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// Outcomes per report at most.
const BATCH_MAX: usize = 512;
/// How long to wait before reporting again after an error.
const PAUSE: Micros = Micros::from_millis(100);
/// How often a report is tried once the worker is being stopped: Redis may never come back.
const LAST_TRIES: u32 = 20;

/// How an attempt ended on this worker.
#[derive(Debug)]
pub(super) enum Outcome {
    /// The handler succeeded.
    Completed(Completion),
    /// It did not.
    Failed { delivery: Delivery, failure: Failure, busy: Micros },
    /// Injected: nobody will hear of it.
    Abandoned { busy: Micros },
}

pub(super) struct Reporter<B> {
    pub(super) broker: B,
    pub(super) clock: Clock,
    pub(super) source: Source,
    pub(super) held: Arc<Held>,
    pub(super) backoff: Backoff,
    pub(super) slots: u32,
    /// Cancelled when the worker has interrupted its slots: reports are tried a bounded number of times from then on.
    pub(super) give_up: CancellationToken,
}

impl<B: Broker> Reporter<B> {
    /// Runs until every sender is gone and everything has been reported.
    pub(super) async fn run(self, mut outcomes: mpsc::UnboundedReceiver<Outcome>) -> Report {
        let mut report = Report::default();
        let began = self.clock.raw();
        let mut batch = Vec::new();
        while outcomes.recv_many(&mut batch, BATCH_MAX).await > 0 {
            let mut completions = Vec::with_capacity(batch.len());
            let mut failed = Vec::new();
            for outcome in batch.drain(..) {
                match outcome {
                    Outcome::Completed(completion) => {
                        report.busy_us += completion.measured();
                        completions.push(completion);
                    }
                    Outcome::Failed { delivery, failure, busy } => {
                        report.busy_us += busy;
                        failed.push((delivery, failure));
                    }
                    Outcome::Abandoned { busy } => report.busy_us += busy,
                }
            }
            self.completed(&completions, &mut report).await;
            self.failed(&failed, &mut report).await;
            observe::slot_time(report.busy_us, (self.clock.raw() - began) * i64::from(self.slots));
        }
        report
    }

    async fn completed(&self, completions: &[Completion], report: &mut Report) {
        if completions.is_empty() {
            return;
        }
        let reply =
            self.insist("completions", || self.broker.complete(self.source, completions, self.clock.now())).await;
        if let Some(reply) = reply {
            report.duplicates += reply.duplicates.len() as u64;
            report.completed += (completions.len() - reply.duplicates.len()) as u64;
            observe::completed(completions, &reply.duplicates);
        }
        for completion in completions {
            self.held.forget(completion.delivery.entry);
        }
    }

    async fn failed(&self, failed: &[(Delivery, Failure)], report: &mut Report) {
        if failed.is_empty() {
            return;
        }
        let now = self.clock.now();
        let worker = self.held.worker();
        let batch: Vec<_> = failed
            .iter()
            .map(|(delivery, failure)| retry_of(delivery, failure, worker, &self.backoff, now, None))
            .collect();
        if self.insist("failures", || self.broker.retry(&batch, now)).await.is_some() {
            let handler = batch.iter().filter(|retry| retry.handler_failed).count() as u64;
            let dead = batch.iter().filter(|retry| matches!(retry.fate, Fate::Dead(_))).count() as u64;
            report.failures += handler;
            report.interrupted += batch.iter().filter(|retry| !retry.spent).count() as u64;
            observe::failed(handler, batch.len() as u64 - dead, dead);
        }
        for (delivery, _) in failed {
            self.held.forget(delivery.entry);
        }
    }

    /// Repeats a report until it is answered. Repeating is safe: a completion is recorded once, a retry acts only on a live
    /// attempt. `None` when the worker ends first; the attempts' leases then run out.
    async fn insist<T, F: Future<Output = BrokerResult<T>>>(
        &self,
        what: &str,
        mut call: impl FnMut() -> F,
    ) -> Option<T> {
        let mut last_tries = 0;
        let mut reported = false;
        loop {
            match call().await {
                Ok(reply) => return Some(reply),
                Err(error) => {
                    if !reported {
                        reported = true;
                        tracing::warn!(%error, what, "a report failed; trying again");
                    }
                    if self.give_up.is_cancelled() {
                        last_tries += 1;
                        if last_tries >= LAST_TRIES {
                            tracing::error!(%error, what, "giving up a report; the attempts will be recovered");
                            return None;
                        }
                    }
                    self.clock.sleep(PAUSE).await;
                }
            }
        }
    }
}
