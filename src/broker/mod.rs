//! The seam between tq and its store: every operation that moves a task, batch first.
//!
//! Two implementations, [`redis`](self) scripts and in-process memory, satisfy one conformance suite
//! (`tests/conformance`) and one differential test. Instants are passed in (`now`), so that an operation means the same in
//! both; only the age of leases and attempt leases is measured by the store's own clock.

mod error;
pub mod fate;
pub mod memory;
pub mod moves;
pub mod presence;
pub mod redis;
pub mod view;

use crate::model::outcome::{Completion, Delivery};
use crate::model::wire::IngressEntry;
use crate::model::{EntryId, Epoch, Micros, Rank};
use bytes::Bytes;
pub use error::{BrokerError, BrokerResult};
pub use moves::{
    AdmitBatch, AdmitItem, Admitted, Completed, DispatchBatch, Dispatched, Fate, Grant, Promoted, Retried, Retry,
};
pub use presence::Presence;
use std::future::Future;
use tokio::sync::watch;
pub use view::{DeadEntry, ResultEntry, Snapshot, TenantTotals, Wake, WorkerBeat, WorkerSeen};

/// Where a worker takes its deliveries from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Source {
    /// The execution stream: what the leader dispatched.
    Execution,
    /// Ingress itself, in arrival order: the control arm without a scheduler. Admission, dedupe and rank do not happen.
    Ingress,
}

/// A store in which tasks live. Clones share one connection set.
///
/// Every operation is atomic: it did everything that it says, or nothing. An error for which
/// [`BrokerError::is_ambiguous`] holds leaves open which.
pub trait Broker: Clone + Send + Sync + 'static {
    /// The store's clock.
    fn time(&self) -> impl Future<Output = BrokerResult<Micros>> + Send;

    /// What has happened lately, for waking up. Values only grow; missing one does no harm, since the next includes it.
    fn wakes(&self) -> watch::Receiver<Wake>;

    /// Asks for the lease for `ttl`; a grant carries the next epoch, to which it raises the fence. `lease_acquire.lua`.
    fn lease_acquire(&self, owner: &str, ttl: Micros) -> impl Future<Output = BrokerResult<Grant>> + Send;

    /// Extends exactly the term `(owner, epoch)`; `false`: it is no longer the holder. `lease_renew.lua`.
    fn lease_renew(&self, owner: &str, epoch: Epoch, ttl: Micros) -> impl Future<Output = BrokerResult<bool>> + Send;

    /// Ends exactly the term `(owner, epoch)` and wakes the standbys; `false`: it was not the holder. `lease_release.lua`.
    fn lease_release(&self, owner: &str, epoch: Epoch) -> impl Future<Output = BrokerResult<bool>> + Send;

    /// Shows the store that `owner` is here, until the sign is dropped or the connection ends.
    fn announce(&self, owner: &str) -> impl Future<Output = BrokerResult<Presence>> + Send;

    /// Whether a process that announced itself as `owner` is still connected. A process that did not is never seen.
    fn is_connected(&self, owner: &str) -> impl Future<Output = BrokerResult<bool>> + Send;

    /// Ends exactly the term `(owner, epoch)` if its holder is not connected, and wakes the standbys; `false`: it is
    /// connected, or was not the holder. `lease_depose.lua`.
    fn lease_depose(&self, owner: &str, epoch: Epoch) -> impl Future<Output = BrokerResult<bool>> + Send;

    /// Appends tasks to ingress as given (the value of the field `task`); their entry ids in order.
    fn submit(&self, tasks: &[Bytes]) -> impl Future<Output = BrokerResult<Vec<EntryId>>> + Send;

    /// Which of these ids would be taken for duplicates now: admitted and unfinished, or finished lately.
    fn known(&self, ids: &[&str], now: Micros) -> impl Future<Output = BrokerResult<Vec<bool>>> + Send;

    /// Reads ingress entries after `after`, at most `count`, waiting up to `block` for the first one. Takes nothing out.
    fn ingress_read(
        &self,
        after: EntryId,
        count: usize,
        block: Micros,
    ) -> impl Future<Output = BrokerResult<Vec<IngressEntry>>> + Send;

    /// Deals with a whole prefix of ingress and trims it, unless an item is a duplicate: then it does nothing and names the
    /// duplicates. Fenced. `admit.lua`.
    fn admit(&self, epoch: Epoch, batch: &AdmitBatch) -> impl Future<Output = BrokerResult<Admitted>> + Send;

    /// The saved policy state, as (field, value) pairs. Any order.
    fn policy_load(&self) -> impl Future<Output = BrokerResult<Vec<(String, String)>>> + Send;

    /// Up to `count` pending ranks in stored order, strictly after `after`. Members that cannot be read are left out and
    /// counted in the snapshot.
    fn pending_scan(&self, after: Option<&Rank>, count: usize) -> impl Future<Output = BrokerResult<Vec<Rank>>> + Send;

    /// Moves the chosen ranks, in order, from pending to execution until the window is full; names those that were no longer
    /// pending (or whose task is gone, which it removes). Hands over what `retry` returned since. Fenced. `dispatch.lua`.
    fn dispatch(&self, epoch: Epoch, batch: &DispatchBatch) -> impl Future<Output = BrokerResult<Dispatched>> + Send;

    /// Moves up to `count` delayed tasks whose time has come to pending, at their rank. Fenced. `promote.lua`.
    fn promote(&self, epoch: Epoch, now: Micros, count: usize) -> impl Future<Output = BrokerResult<Promoted>> + Send;

    /// Takes up to `count` deliveries for `worker`, waiting up to `block` for the first. What cannot be read is
    /// dead-lettered by the implementation. Never drop this future once polled: deliveries would wait for their lease to end.
    fn fetch(
        &self,
        source: Source,
        worker: &str,
        count: usize,
        block: Micros,
    ) -> impl Future<Output = BrokerResult<Vec<Delivery>>> + Send;

    /// Records each completion once per task id, frees the slots, accounts the tenants, acknowledges and trims.
    /// `complete.lua`.
    fn complete(
        &self,
        source: Source,
        batch: &[Completion],
        now: Micros,
    ) -> impl Future<Output = BrokerResult<Completed>> + Send;

    /// Ends attempts that did not complete: back to pending at their rank, to delayed, or to the dead letters.
    /// An attempt that is no longer live is left alone. `retry.lua`.
    fn retry(&self, batch: &[Retry], now: Micros) -> impl Future<Output = BrokerResult<Retried>> + Send;

    /// A heartbeat: registers the worker and renews the leases of the attempts it runs; gives back those that it no longer
    /// owns. `extend.lua`.
    fn extend(
        &self,
        beat: &WorkerBeat,
        attempts: &[EntryId],
        now: Micros,
    ) -> impl Future<Output = BrokerResult<Vec<EntryId>>> + Send;

    /// Removes a worker from the register, after its last heartbeat.
    fn leave(&self, worker: &str) -> impl Future<Output = BrokerResult<()>> + Send;

    /// Up to `count` deliveries whose attempt lease has been idle for at least `min_idle`, with the worker that held each.
    fn expired(
        &self,
        min_idle: Micros,
        count: usize,
    ) -> impl Future<Output = BrokerResult<Vec<(Delivery, String)>>> + Send;

    /// Drops what has outlived its retention (results, finished ids; zero keeps for ever) and workers silent for
    /// `worker_silence`. Any process may call it, at a slow interval.
    fn housekeep(
        &self,
        now: Micros,
        results_retention: Micros,
        done_retention: Micros,
        worker_silence: Micros,
    ) -> impl Future<Output = BrokerResult<()>> + Send;

    /// What is where, by counting.
    fn snapshot(&self, now: Micros) -> impl Future<Output = BrokerResult<Snapshot>> + Send;

    /// Results after `after`, up to about `count`, oldest first (an entry, which may hold many, is never split).
    fn results(&self, after: EntryId, count: usize) -> impl Future<Output = BrokerResult<Vec<ResultEntry>>> + Send;

    /// Dead letters after `after`, up to `count`, oldest first.
    fn dead(&self, after: EntryId, count: usize) -> impl Future<Output = BrokerResult<Vec<DeadEntry>>> + Send;

    /// Removes dead letters; with `requeue`, each goes to ingress again as it was sent, and its id is forgotten. How many
    /// were there.
    fn dead_take(&self, entries: &[EntryId], requeue: bool) -> impl Future<Output = BrokerResult<u64>> + Send;

    /// Deletes the namespace, never its epoch and fence.
    fn reset(&self) -> impl Future<Output = BrokerResult<()>> + Send;
}
