//! A broker between a process and its store that freezes, cuts and drops: the process's view of a bad day.

use crate::broker::{
    AdmitBatch, Admitted, Broker, BrokerError, BrokerResult, Completed, DeadEntry, DispatchBatch, Dispatched, Grant,
    Presence, Promoted, ResultEntry, Retried, Retry, Snapshot, Source, Wake, WorkerBeat,
};
use crate::model::outcome::{Completion, Delivery};
use crate::model::wire::IngressEntry;
use crate::model::{EntryId, Epoch, Micros, Rank};
use bytes::Bytes;
use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::watch;

/// What happens to one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Loss {
    /// It never arrives.
    Request,
    /// It is carried out, but its reply never arrives.
    Reply,
}

/// One loss that waits for its moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Planned {
    operation: &'static str,
    /// How many calls of the operation go well first.
    after: u32,
    loss: Loss,
}

#[derive(Debug, Default)]
struct Plan {
    losses: Vec<Planned>,
    injected: u32,
    fenced: u32,
    signs: Vec<Presence>,
    forbidden: Vec<&'static str>,
}

/// A broker with faults. Clones share them: one process, one `FaultyBroker`.
#[derive(Debug, Clone)]
pub struct FaultyBroker<B> {
    inner: B,
    frozen: watch::Sender<bool>,
    plan: Arc<Mutex<Plan>>,
}

impl<B: Broker> FaultyBroker<B> {
    /// Without any fault yet.
    pub fn new(inner: B) -> Self {
        FaultyBroker { inner, frozen: watch::Sender::new(false), plan: Arc::default() }
    }

    fn plan(&self) -> MutexGuard<'_, Plan> {
        self.plan.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// From now on no request leaves; those in progress wait too. Without a later [`FaultyBroker::thaw`] the process is as
    /// good as killed.
    pub fn freeze(&self) {
        self.frozen.send_replace(true);
    }

    /// Requests leave again, the waiting ones first.
    pub fn thaw(&self) {
        self.frozen.send_replace(false);
    }

    /// Loses one call of `operation` (a method of [`Broker`]) after `after` of them went well.
    pub fn lose(&self, operation: &'static str, after: u32, loss: Loss) {
        self.plan().losses.push(Planned { operation, after, loss });
    }

    /// From now on the store refuses `operation` for want of permission.
    pub fn forbid(&self, operation: &'static str) {
        self.plan().forbidden.push(operation);
    }

    /// How many losses took place.
    pub fn injected(&self) -> u32 {
        self.plan().injected
    }

    /// How many writes the fence refused.
    pub fn fenced(&self) -> u32 {
        self.plan().fenced
    }

    /// Ends the connection that shows the store that this process is here; the process lives on.
    pub fn disconnect(&self) {
        let signs = std::mem::take(&mut self.plan().signs);
        drop(signs);
    }

    fn due(&self, operation: &'static str) -> Option<Loss> {
        let mut plan = self.plan();
        let place = plan.losses.iter().position(|planned| planned.operation == operation)?;
        if plan.losses[place].after > 0 {
            plan.losses[place].after -= 1;
            return None;
        }
        plan.injected += 1;
        Some(plan.losses.remove(place).loss)
    }

    async fn pass<T>(&self, operation: &'static str, call: impl Future<Output = BrokerResult<T>>) -> BrokerResult<T> {
        let mut frozen = self.frozen.subscribe();
        // The sender lives as long as this broker.
        let _ = frozen.wait_for(|frozen| !frozen).await;
        if self.plan().forbidden.contains(&operation) {
            return Err(BrokerError::NoPermission(format!("injected: {operation} is forbidden")));
        }
        let loss = self.due(operation);
        if loss == Some(Loss::Request) {
            return Err(BrokerError::Unavailable("injected: the request was lost".into()));
        }
        let reply = call.await;
        let _ = frozen.wait_for(|frozen| !frozen).await;
        if matches!(reply, Err(BrokerError::Fenced { .. })) {
            self.plan().fenced += 1;
        }
        match loss {
            Some(_) => Err(BrokerError::Unavailable("injected: the reply was lost".into())),
            None => reply,
        }
    }
}

macro_rules! pass_through {
    ($(fn $name:ident($($arg:ident: $kind:ty),*) -> $reply:ty;)*) => {
        $(async fn $name(&self, $($arg: $kind),*) -> BrokerResult<$reply> {
            self.pass(stringify!($name), self.inner.$name($($arg),*)).await
        })*
    };
}

impl<B: Broker> Broker for FaultyBroker<B> {
    fn wakes(&self) -> watch::Receiver<Wake> {
        self.inner.wakes()
    }

    async fn announce(&self, owner: &str) -> BrokerResult<Presence> {
        let sign = self.pass("announce", self.inner.announce(owner)).await?;
        self.plan().signs.push(sign);
        let faults = self.clone();
        Ok(Presence::new(move || faults.disconnect()))
    }

    pass_through! {
        fn time() -> Micros;
        fn lease_acquire(owner: &str, ttl: Micros) -> Grant;
        fn lease_renew(owner: &str, epoch: Epoch, ttl: Micros) -> bool;
        fn lease_release(owner: &str, epoch: Epoch) -> bool;
        fn is_connected(owner: &str) -> bool;
        fn lease_depose(owner: &str, epoch: Epoch) -> bool;
        fn submit(tasks: &[Bytes]) -> Vec<EntryId>;
        fn known(ids: &[&str], now: Micros) -> Vec<bool>;
        fn ingress_read(after: EntryId, count: usize, block: Micros) -> Vec<IngressEntry>;
        fn admit(epoch: Epoch, batch: &AdmitBatch) -> Admitted;
        fn policy_load() -> Vec<(String, String)>;
        fn pending_scan(after: Option<&Rank>, count: usize) -> Vec<Rank>;
        fn dispatch(epoch: Epoch, batch: &DispatchBatch) -> Dispatched;
        fn promote(epoch: Epoch, now: Micros, count: usize) -> Promoted;
        fn fetch(source: Source, worker: &str, count: usize, block: Micros) -> Vec<Delivery>;
        fn complete(source: Source, batch: &[Completion], now: Micros) -> Completed;
        fn retry(batch: &[Retry], now: Micros) -> Retried;
        fn extend(beat: &WorkerBeat, attempts: &[EntryId], now: Micros) -> Vec<EntryId>;
        fn leave(worker: &str) -> ();
        fn expired(min_idle: Micros, count: usize) -> Vec<(Delivery, String)>;
        fn housekeep(now: Micros, results_retention: Micros, done_retention: Micros, worker_silence: Micros) -> ();
        fn snapshot(now: Micros) -> Snapshot;
        fn results(after: EntryId, count: usize) -> Vec<ResultEntry>;
        fn dead(after: EntryId, count: usize) -> Vec<DeadEntry>;
        fn dead_take(entries: &[EntryId], requeue: bool) -> u64;
        fn reset() -> ();
    }
}
