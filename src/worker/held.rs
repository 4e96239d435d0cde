//! The attempts that a worker holds: what its heartbeats keep alive.

use crate::broker::WorkerBeat;
use crate::model::EntryId;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;

/// Shared between slots, reporter and heartbeats.
#[derive(Debug)]
pub(super) struct Held {
    worker: Arc<str>,
    slots: u32,
    inner: Mutex<Inner>,
    changed: Notify,
}

#[derive(Debug, Default)]
struct Inner {
    attempts: BTreeSet<EntryId>,
    busy: u32,
    draining: bool,
}

impl Held {
    pub(super) fn new(worker: Arc<str>, slots: u32) -> Self {
        Held { worker, slots, inner: Mutex::default(), changed: Notify::new() }
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn worker(&self) -> &Arc<str> {
        &self.worker
    }

    /// A delivery occupies a slot.
    pub(super) fn begin(&self, attempt: EntryId) {
        let mut inner = self.inner();
        inner.attempts.insert(attempt);
        inner.busy += 1;
    }

    /// The slot is free; the attempt is still held until it is reported.
    pub(super) fn end(&self) {
        let mut inner = self.inner();
        inner.busy = inner.busy.saturating_sub(1);
    }

    /// The attempt has been reported, or is abandoned.
    pub(super) fn forget(&self, attempt: EntryId) {
        self.inner().attempts.remove(&attempt);
    }

    /// How many attempts are held.
    pub(super) fn len(&self) -> usize {
        self.inner().attempts.len()
    }

    /// From now on the worker offers no slots; the next heartbeat, at once, says so.
    pub(super) fn drain(&self) {
        self.inner().draining = true;
        self.changed.notify_one();
    }

    /// Waits until a heartbeat should be sent at once.
    pub(super) async fn changed(&self) {
        self.changed.notified().await;
    }

    /// What the next heartbeat says.
    pub(super) fn beat(&self) -> (WorkerBeat, Vec<EntryId>) {
        let inner = self.inner();
        let slots = if inner.draining { 0 } else { self.slots };
        let beat = WorkerBeat { worker: self.worker.to_string(), slots, busy: inner.busy };
        (beat, inner.attempts.iter().copied().collect())
    }
}
