//! Follows the execution stream from outside: the dispatches in the order of the store.

use super::dispatches::Dispatch;
use crate::broker::redis::RedisBroker;
use crate::clock::Clock;
use crate::model::{EntryId, Epoch, Micros};
use std::sync::{Arc, Mutex, PoisonError};
use tokio_util::task::AbortOnDropHandle;

const BLOCK: Micros = Micros::from_millis(500);
const PAGE: usize = 1_000;
const PAUSE: Micros = Micros::from_millis(10);

pub(super) struct Follower {
    log: Arc<Mutex<Vec<Dispatch>>>,
    _reading: AbortOnDropHandle<()>,
}

impl Follower {
    pub(super) fn start(broker: RedisBroker, clock: Clock) -> Self {
        let log = Arc::new(Mutex::new(Vec::new()));
        let written = log.clone();
        let reading = tokio::spawn(async move {
            let mut after = EntryId::ZERO;
            loop {
                let Ok(page) = broker.execution_after(after, PAGE, BLOCK).await else {
                    clock.sleep(PAUSE).await;
                    continue;
                };
                after = page.last().map_or(after, |delivery| delivery.entry);
                let seen = page.iter().map(|delivery| Dispatch { at: delivery.dispatched, epoch: delivery.epoch });
                written.lock().unwrap_or_else(PoisonError::into_inner).extend(seen);
            }
        });
        Follower { log, _reading: AbortOnDropHandle::new(reading) }
    }

    /// Whether something was dispatched under a term after `epoch`.
    pub(super) fn has_term_after(&self, epoch: Epoch) -> bool {
        let log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        log.last().is_some_and(|dispatch| dispatch.epoch > epoch)
    }

    /// Everything so far.
    pub(super) fn log(&self) -> Vec<Dispatch> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
