//! Execution slots.

use super::execute::Handler;
use super::held::Held;
use super::inject::{Injected, draw};
use super::report::Outcome;
use crate::clock::Clock;
use crate::config::WorkerConfig;
use crate::model::outcome::{Completion, Delivery};
use crate::model::retry::Failure;
use futures::FutureExt;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio_util::sync::CancellationToken;

/// The slots of one worker.
pub(super) struct Slots<H> {
    pub(super) clock: Clock,
    pub(super) held: Arc<Held>,
    pub(super) outcomes: mpsc::UnboundedSender<Outcome>,
    pub(super) handler: Arc<H>,
    pub(super) config: WorkerConfig,
    pub(super) interrupt: CancellationToken,
    pub(super) free: Arc<Semaphore>,
}

impl<H: Handler> Slots<H> {
    /// Waits for a free slot and takes every one that is free; `None` once stopped.
    pub(super) async fn take_free(&self, stop: &CancellationToken) -> Option<OwnedSemaphorePermit> {
        let mut permits = tokio::select! {
            biased;
            () = stop.cancelled() => return None,
            permit = self.free.clone().acquire_owned() => permit.ok()?,
        };
        while let Ok(more) = self.free.clone().try_acquire_owned() {
            permits.merge(more);
        }
        Some(permits)
    }

    /// Waits until every slot is free.
    pub(super) async fn idle(&self, slots: u32) {
        let _ = self.free.acquire_many(slots).await;
    }

    /// Executes `delivery` on the slot that `permit` stands for.
    pub(super) fn start(&self, delivery: Delivery, permit: OwnedSemaphorePermit) {
        self.held.begin(delivery.entry);
        let (clock, handler) = (self.clock.clone(), self.handler.clone());
        let (held, outcomes, interrupt) = (self.held.clone(), self.outcomes.clone(), self.interrupt.clone());
        let (seed, fail, abandon) = (self.config.fail_seed, self.config.fail_rate, self.config.fail_before_ack_rate);
        tokio::spawn(async move {
            let started = clock.now();
            // A handler that panics has failed; its slot must not be lost with it.
            let work = AssertUnwindSafe(handler.run(&delivery, &clock)).catch_unwind();
            let done = tokio::select! {
                biased;
                done = work => Some(done.unwrap_or_else(|_| Err("the handler panicked".into()))),
                () = interrupt.cancelled() => None,
            };
            let finished = clock.now();
            let injected = draw(seed, delivery.member().id(), delivery.member().attempt(), fail, abandon);
            let busy = finished.since(started);
            let outcome = match (done, injected) {
                (None, _) => Outcome::Failed { delivery, failure: Failure::Interrupted, busy },
                (Some(Ok(())), Injected::Abandon) => {
                    held.forget(delivery.entry);
                    Outcome::Abandoned { busy }
                }
                (Some(Ok(())), Injected::Fail) => {
                    Outcome::Failed { delivery, failure: Failure::Handler("injected".into()), busy }
                }
                (Some(Err(error)), _) => Outcome::Failed { delivery, failure: Failure::Handler(error), busy },
                (Some(Ok(())), Injected::Nothing) => {
                    let worker = held.worker().clone();
                    Outcome::Completed(Completion { delivery, started, finished, worker })
                }
            };
            held.end();
            let _ = outcomes.send(outcome);
            drop(permit);
        });
    }

    /// Gives back a delivery that came after the stop.
    pub(super) fn give_back(&self, delivery: Delivery, permit: OwnedSemaphorePermit) {
        self.held.begin(delivery.entry);
        self.held.end();
        let busy = crate::model::Micros::ZERO;
        let _ = self.outcomes.send(Outcome::Failed { delivery, failure: Failure::Interrupted, busy });
        drop(permit);
    }
}
