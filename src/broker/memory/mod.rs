//! The broker in this process's memory: the same operations and meaning as the Redis broker, deterministic, for simulation,
//! tests and `--broker memory`.

mod places;
mod register;
mod scheduling;
mod store;
mod working;

use super::{
    AdmitBatch, Admitted, Broker, BrokerResult, Completed, DeadEntry, DispatchBatch, Dispatched, Grant, Presence,
    Promoted, ResultEntry, Retried, Retry, Snapshot, Source, Wake, WorkerBeat,
};
use crate::clock::Clock;
use crate::model::outcome::{Completion, Delivery};
use crate::model::wire::IngressEntry;
use crate::model::{EntryId, Epoch, Micros, Rank};
use bytes::Bytes;
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use store::Store;
use tokio::sync::{Notify, watch};

/// Finished ids are remembered for this long unless set otherwise.
const DONE_RETENTION: Micros = Micros::from_secs(24 * 3_600);

/// A store in memory. Clones share it.
#[derive(Debug, Clone)]
pub struct MemoryBroker {
    clock: Clock,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    store: Mutex<Store>,
    wakes: watch::Sender<Wake>,
    /// Something new in ingress.
    submitted: Notify,
    /// Something new in execution.
    dispatched: Notify,
}

impl MemoryBroker {
    /// An empty store that goes by `clock`.
    pub fn new(clock: Clock) -> Self {
        let store = Store { done_retention: DONE_RETENTION, ..Store::default() };
        let shared = Shared {
            store: Mutex::new(store),
            wakes: watch::Sender::new(Wake::default()),
            submitted: Notify::new(),
            dispatched: Notify::new(),
        };
        MemoryBroker { clock, shared: Arc::new(shared) }
    }

    /// The same store; it remembers finished ids for `retention` from now on (zero: for ever).
    #[must_use]
    pub fn with_done_retention(self, retention: Micros) -> Self {
        self.step(|store, _| store.done_retention = retention);
        self
    }

    /// One atomic step at the store's present instant; publishes the wake-ups that it noted.
    fn step<T>(&self, step: impl FnOnce(&mut Store, Micros) -> T) -> T {
        let (value, wake) = {
            let mut store = self.shared.store.lock().unwrap_or_else(PoisonError::into_inner);
            let value = step(&mut store, self.clock.now());
            (value, store.wake)
        };
        self.shared.wakes.send_if_modified(|seen| {
            // Another thread may have published a later state already; wake-ups never go back.
            let grew = wake.freed > seen.freed
                || wake.returned > seen.returned
                || wake.released > seen.released
                || wake.workers > seen.workers;
            seen.freed = seen.freed.max(wake.freed);
            seen.returned = seen.returned.max(wake.returned);
            seen.released = seen.released.max(wake.released);
            seen.workers = seen.workers.max(wake.workers);
            grew
        });
        value
    }

    /// Repeats `step` after every notification until it finds something or `block` has passed.
    async fn wait_for<T>(
        &self,
        news: &Notify,
        block: Micros,
        step: impl Fn(&mut Store, Micros) -> Vec<T>,
    ) -> BrokerResult<Vec<T>> {
        let until = self.clock.raw() + block;
        loop {
            let mut notified = pin!(news.notified());
            notified.as_mut().enable();
            let found = self.step(&step);
            let left = until - self.clock.raw();
            if !found.is_empty() || left <= Micros::ZERO {
                return Ok(found);
            }
            if self.clock.timeout(left, notified).await.is_err() {
                return Ok(self.step(&step));
            }
        }
    }
}

impl Broker for MemoryBroker {
    async fn time(&self) -> BrokerResult<Micros> {
        Ok(self.clock.now())
    }

    fn wakes(&self) -> watch::Receiver<Wake> {
        self.shared.wakes.subscribe()
    }

    async fn lease_acquire(&self, owner: &str, ttl: Micros) -> BrokerResult<Grant> {
        Ok(self.step(|store, stamp| store.lease_acquire(owner, ttl, stamp)))
    }

    async fn lease_renew(&self, owner: &str, epoch: Epoch, ttl: Micros) -> BrokerResult<bool> {
        Ok(self.step(|store, stamp| store.lease_renew(owner, epoch, ttl, stamp)))
    }

    async fn lease_release(&self, owner: &str, epoch: Epoch) -> BrokerResult<bool> {
        Ok(self.step(|store, stamp| store.lease_release(owner, epoch, stamp)))
    }

    async fn announce(&self, owner: &str) -> BrokerResult<Presence> {
        self.step(|store, _| store.arrive(owner));
        let (broker, owner) = (self.clone(), owner.to_owned());
        Ok(Presence::new(move || broker.step(|store, _| store.depart(&owner))))
    }

    async fn is_connected(&self, owner: &str) -> BrokerResult<bool> {
        Ok(self.step(|store, _| store.present.contains_key(owner)))
    }

    async fn lease_depose(&self, owner: &str, epoch: Epoch) -> BrokerResult<bool> {
        Ok(self.step(|store, stamp| store.lease_depose(owner, epoch, stamp)))
    }

    async fn submit(&self, tasks: &[Bytes]) -> BrokerResult<Vec<EntryId>> {
        let push =
            |store: &mut Store, stamp| tasks.iter().map(|task| store.ingress.push(stamp, Some(task.clone()))).collect();
        let entries = self.step(push);
        self.shared.submitted.notify_waiters();
        Ok(entries)
    }

    async fn known(&self, ids: &[&str], now: Micros) -> BrokerResult<Vec<bool>> {
        let look = |store: &mut Store, _| ids.iter().map(|id| store.is_known(id, now, store.done_retention)).collect();
        Ok(self.step(look))
    }

    async fn ingress_read(&self, after: EntryId, count: usize, block: Micros) -> BrokerResult<Vec<IngressEntry>> {
        let entry = |(id, task): (&EntryId, &Option<Bytes>)| IngressEntry { id: *id, task: task.clone() };
        let read = |store: &mut Store, _| store.ingress.after(after).take(count).map(entry).collect();
        self.wait_for(&self.shared.submitted, block, read).await
    }

    async fn admit(&self, epoch: Epoch, batch: &AdmitBatch) -> BrokerResult<Admitted> {
        self.step(|store, stamp| store.admit(epoch, batch, stamp))
    }

    async fn policy_load(&self) -> BrokerResult<Vec<(String, String)>> {
        Ok(self.step(|store, _| store.policy.clone().into_iter().collect()))
    }

    async fn pending_scan(&self, after: Option<&Rank>, count: usize) -> BrokerResult<Vec<Rank>> {
        Ok(self.step(|store, _| store.pending.after(after).take(count).cloned().collect()))
    }

    async fn dispatch(&self, epoch: Epoch, batch: &DispatchBatch) -> BrokerResult<Dispatched> {
        let dispatched = self.step(|store, stamp| store.dispatch(epoch, batch, stamp))?;
        if dispatched.considered > dispatched.missing.len() {
            self.shared.dispatched.notify_waiters();
        }
        Ok(dispatched)
    }

    async fn promote(&self, epoch: Epoch, now: Micros, count: usize) -> BrokerResult<Promoted> {
        self.step(|store, _| store.promote(epoch, now, count))
    }

    async fn fetch(&self, source: Source, worker: &str, count: usize, block: Micros) -> BrokerResult<Vec<Delivery>> {
        let news = match source {
            Source::Execution => &self.shared.dispatched,
            Source::Ingress => &self.shared.submitted,
        };
        self.wait_for(news, block, |store, stamp| store.take(source, worker, count, stamp)).await
    }

    async fn complete(&self, source: Source, batch: &[Completion], now: Micros) -> BrokerResult<Completed> {
        Ok(self.step(|store, stamp| store.complete(source, batch, now, stamp)))
    }

    async fn retry(&self, batch: &[Retry], now: Micros) -> BrokerResult<Retried> {
        Ok(self.step(|store, stamp| store.retry(batch, now, stamp)))
    }

    async fn extend(&self, beat: &WorkerBeat, attempts: &[EntryId], now: Micros) -> BrokerResult<Vec<EntryId>> {
        Ok(self.step(|store, stamp| store.extend(beat, attempts, now, stamp)))
    }

    async fn leave(&self, worker: &str) -> BrokerResult<()> {
        self.step(|store, _| store.leave(worker));
        Ok(())
    }

    async fn expired(&self, min_idle: Micros, count: usize) -> BrokerResult<Vec<(Delivery, String)>> {
        Ok(self.step(|store, stamp| store.expired(min_idle, count, stamp)))
    }

    async fn housekeep(
        &self,
        now: Micros,
        results_retention: Micros,
        done_retention: Micros,
        worker_silence: Micros,
    ) -> BrokerResult<()> {
        self.step(|store, _| store.housekeep(now, results_retention, done_retention, worker_silence));
        Ok(())
    }

    async fn snapshot(&self, _now: Micros) -> BrokerResult<Snapshot> {
        Ok(self.step(|store, stamp| store.snapshot(stamp)))
    }

    async fn results(&self, after: EntryId, count: usize) -> BrokerResult<Vec<ResultEntry>> {
        Ok(self.step(|store, _| store.results(after, count)))
    }

    async fn dead(&self, after: EntryId, count: usize) -> BrokerResult<Vec<DeadEntry>> {
        Ok(self.step(|store, _| store.dead(after, count)))
    }

    async fn dead_take(&self, entries: &[EntryId], requeue: bool) -> BrokerResult<u64> {
        let taken = self.step(|store, stamp| store.dead_take(entries, requeue, stamp));
        if requeue && taken > 0 {
            self.shared.submitted.notify_waiters();
        }
        Ok(taken)
    }

    async fn reset(&self) -> BrokerResult<()> {
        self.step(|store, _| store.reset());
        Ok(())
    }
}
