//! The leader's loop: the one owner of the waiting room.
//!
//! At most one admission, one dispatch, one promotion, one chunk and one count are on their way at a time; while they
//! are, the next batch accumulates (group commit). Whatever ends one of them wakes the loop.

use super::admission::Admission;
use super::dispatch::{self, InFlight};
use super::loading::Loading;
use super::observe::Observer;
use super::window::WindowSize;
use super::{Scheduler, ingest};
use crate::broker::{
    AdmitBatch, AdmitItem, Admitted, Broker, BrokerError, BrokerResult, DispatchBatch, Dispatched, Promoted, Snapshot,
    Wake,
};
use crate::model::wire::IngressEntry;
use crate::model::{Micros, Rank};
use crate::policy::{self, Policy, Weights};
use crate::runtime::lease::Term;
use futures::future::BoxFuture;
use std::future::pending;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// How often places are counted, slots looked up and delayed tasks looked for without a wake-up.
const COUNT_INTERVAL: Micros = Micros::from_secs(1);
/// Delayed tasks per promotion.
const PROMOTE_BATCH: usize = 512;

/// Why the loop ended.
#[derive(Debug)]
pub(super) enum End {
    /// It was asked to.
    Stopped,
    /// The lease is gone or cannot be trusted.
    TermOver,
    /// A newer term has written.
    Fenced(BrokerError),
    /// The room must be loaded anew: a reply was lost, or room and record differ (`None`).
    StartOver(Option<BrokerError>),
}

impl From<BrokerError> for End {
    fn from(error: BrokerError) -> Self {
        if matches!(error, BrokerError::Fenced { .. }) { End::Fenced(error) } else { End::StartOver(Some(error)) }
    }
}

type Pending<T> = Option<BoxFuture<'static, T>>;

/// Waits for what is on its way; for ever if nothing is.
async fn arrived<T>(slot: &mut Pending<T>) -> T {
    let value = match slot {
        Some(future) => future.await,
        None => pending().await,
    };
    *slot = None;
    value
}

pub(super) struct Leader<'a, B> {
    parts: &'a Scheduler<B>,
    term: &'a Term,
    observer: &'a Observer,
    policy: Box<dyn Policy>,
    loading: Loading,
    window: WindowSize,
    in_flight: InFlight,
    wake: Wake,
    next_due: Option<Micros>,
    /// Something may have been returned or delayed that the room has not heard of.
    collect: bool,
    look_for_due: bool,
    queued: Option<Vec<IngressEntry>>,
    admitting: Pending<(Admission, AdmitBatch, BrokerResult<Admitted>)>,
    dispatching: Pending<(DispatchBatch, Micros, BrokerResult<Dispatched>)>,
    promoting: Pending<BrokerResult<Promoted>>,
    chunk: Pending<BrokerResult<Vec<Rank>>>,
    counting: Pending<(u64, BrokerResult<Snapshot>)>,
    /// Grows with everything that changes the room or the record, so that a count knows whether it is comparable.
    changes: u64,
}

impl<'a, B: Broker> Leader<'a, B> {
    /// Loads the policy's state and leads until something ends it.
    pub(super) async fn run(
        parts: &'a Scheduler<B>,
        term: &'a Term,
        observer: &'a Observer,
        stop: &CancellationToken,
    ) -> End {
        let scheduler = &parts.settings.scheduler;
        let weights = Weights { by_tenant: scheduler.tenant_weights.clone(), default: scheduler.default_tenant_weight };
        let mut policy = policy::build(scheduler.policy, weights);
        let mut wakes = parts.broker.wakes();
        let wake = *wakes.borrow_and_update();
        match parts.broker.policy_load().await {
            Ok(state) => {
                if let Err(why) = policy.load(&state) {
                    // A policy that starts afresh is fair from now on; refusing to lead would stop everything.
                    tracing::error!(why, "the saved policy state cannot be read; starting with an empty one");
                }
            }
            Err(error) => return error.into(),
        }
        let mut leader = Leader {
            parts,
            term,
            observer,
            policy,
            loading: Loading::default(),
            window: WindowSize::new(scheduler.max_in_flight),
            in_flight: InFlight::default(),
            wake,
            next_due: None,
            collect: true,
            look_for_due: true,
            queued: None,
            admitting: None,
            dispatching: None,
            promoting: None,
            chunk: None,
            counting: None,
            changes: 0,
        };
        // What is in flight must be known before anything is added to it.
        match parts.broker.snapshot(parts.clock.now()).await {
            Ok(snapshot) => leader.learn(&snapshot),
            Err(error) => return error.into(),
        }
        leader.lead(&mut wakes, stop).await
    }

    async fn lead(&mut self, wakes: &mut tokio::sync::watch::Receiver<Wake>, stop: &CancellationToken) -> End {
        let (sender, mut batches) = mpsc::channel(1);
        let (broker, clock) = (self.parts.broker.clone(), self.parts.clock.clone());
        let _reader = tokio_util::task::AbortOnDropHandle::new(tokio::spawn(ingest::read(
            broker,
            clock.clone(),
            self.parts.settings.scheduler.ingest_batch,
            sender,
        )));
        let mut tick = clock.interval(self.parts.settings.scheduler.safety_interval);
        let mut count_due = clock.raw();
        let end = loop {
            if !self.term.is_trusted(&clock) {
                break End::TermOver;
            }
            if clock.raw() >= count_due && self.counting.is_none() {
                count_due = clock.raw() + COUNT_INTERVAL;
                self.look_for_due = true;
                self.count();
            }
            self.start_what_can_start();
            let next_due = self.next_due;
            let step = tokio::select! {
                biased;
                () = stop.cancelled() => break End::Stopped,
                () = self.term.over() => break End::TermOver,
                (admission, batch, reply) = arrived(&mut self.admitting) => self.admitted(admission, batch, reply),
                (batch, started, reply) = arrived(&mut self.dispatching) => self.dispatched(&batch, started, reply),
                reply = arrived(&mut self.promoting) => reply.map(|promoted| self.promoted(promoted)).map_err(End::from),
                reply = arrived(&mut self.chunk) => reply.map(|chunk| self.loaded(chunk)).map_err(End::from),
                (changes, reply) = arrived(&mut self.counting) => self.counted(changes, reply),
                Some(entries) = batches.recv(), if self.queued.is_none() => {
                    self.queued = Some(entries);
                    Ok(())
                }
                _ = wakes.changed() => {
                    self.woken(*wakes.borrow_and_update());
                    Ok(())
                }
                () = tick.tick() => Ok(()),
                () = async { clock.sleep_until(next_due.unwrap_or(Micros::MAX)).await }, if next_due.is_some() => {
                    self.next_due = None;
                    self.look_for_due = true;
                    Ok(())
                }
            };
            if let Err(end) = step {
                break end;
            }
        };
        self.finish().await;
        end
    }

    /// Lets what is on its way arrive, so that a lease is never given back under a write.
    async fn finish(&mut self) {
        if self.admitting.is_some() {
            let _ = arrived(&mut self.admitting).await;
        }
        if self.dispatching.is_some() {
            let _ = arrived(&mut self.dispatching).await;
        }
        if self.promoting.is_some() {
            let _ = arrived(&mut self.promoting).await;
        }
    }

    fn start_what_can_start(&mut self) {
        if self.chunk.is_none() && !self.loading.is_complete() {
            let (broker, after) = (self.parts.broker.clone(), self.loading.after());
            self.chunk = Some(Box::pin(Loading::read(broker, after)));
        }
        if self.promoting.is_none() && self.look_for_due {
            self.look_for_due = false;
            let (broker, epoch, now) = (self.parts.broker.clone(), self.term.epoch, self.parts.clock.now());
            self.promoting = Some(Box::pin(async move { broker.promote(epoch, now, PROMOTE_BATCH).await }));
        }
        // Dispatch before admission: the state that travels with a later write is the later one.
        self.start_dispatch();
        if self.admitting.is_none()
            && let Some(entries) = self.queued.take()
        {
            let scheduler = &self.parts.settings.scheduler;
            let admission = Admission::read(&entries, scheduler.task_bytes_max, self.parts.clock.now());
            self.start_admission(admission);
        }
    }

    fn start_dispatch(&mut self) {
        if self.dispatching.is_some() {
            return;
        }
        let now = self.parts.clock.now();
        let batch = self.parts.settings.scheduler.dispatch_batch;
        let collect = std::mem::take(&mut self.collect);
        let window = self.window.size();
        let chosen =
            dispatch::choose(self.policy.as_mut(), &mut self.loading, self.in_flight, window, batch, collect, now);
        let Some(batch) = chosen else { return };
        self.changes += 1;
        let (broker, epoch, started) = (self.parts.broker.clone(), self.term.epoch, self.parts.clock.raw());
        self.dispatching = Some(Box::pin(async move {
            let reply = broker.dispatch(epoch, &batch).await;
            (batch, started, reply)
        }));
    }

    fn start_admission(&mut self, admission: Admission) {
        let settings = &self.parts.settings;
        let now = self.parts.clock.now();
        let retention = settings.streams.done_retention;
        let batch = admission.rank(self.policy.as_mut(), settings.recovery.max_retries, now, retention);
        self.changes += 1;
        let (broker, epoch) = (self.parts.broker.clone(), self.term.epoch);
        self.admitting = Some(Box::pin(async move {
            let reply = broker.admit(epoch, &batch).await;
            (admission, batch, reply)
        }));
    }

    fn admitted(
        &mut self,
        mut admission: Admission,
        batch: AdmitBatch,
        reply: BrokerResult<Admitted>,
    ) -> Result<(), End> {
        match reply? {
            Admitted::Duplicates(places) => {
                self.policy.rollback();
                admission.strike(&places);
                self.start_admission(admission);
            }
            Admitted::Done => {
                self.policy.commit();
                self.changes += 1;
                let tally = admission.tally();
                self.observer.admitted.increment(tally.admitted);
                self.observer.duplicates.increment(tally.duplicates);
                self.observer.rejected.increment(tally.rejected);
                for item in batch.items {
                    match item {
                        AdmitItem::Pending { rank, .. } => self.policy.insert(rank),
                        AdmitItem::Delayed { due, .. } => {
                            self.next_due = Some(self.next_due.map_or(due, |earlier| earlier.min(due)));
                        }
                        AdmitItem::Duplicate | AdmitItem::Rejected(_) => {}
                    }
                }
            }
        }
        Ok(())
    }

    fn dispatched(
        &mut self,
        batch: &DispatchBatch,
        started: Micros,
        reply: BrokerResult<Dispatched>,
    ) -> Result<(), End> {
        let reply = reply.inspect_err(|_| self.observer.dispatch_errors.increment(1))?;
        self.changes += 1;
        self.window.round_trip(self.parts.clock.raw() - started);
        let went = batch.chosen[..reply.considered.min(batch.chosen.len())].iter().enumerate();
        let went = went.filter(|(place, _)| !reply.missing.contains(place)).map(|(_, rank)| rank);
        self.observer.dispatched(went, batch.now);
        dispatch::settle(self.policy.as_mut(), &mut self.in_flight, batch, reply);
        Ok(())
    }

    fn promoted(&mut self, reply: Promoted) {
        self.changes += u64::from(!reply.promoted.is_empty());
        self.look_for_due |= reply.promoted.len() == PROMOTE_BATCH;
        for rank in reply.promoted {
            self.policy.insert(rank);
        }
        self.next_due = reply.next_due;
    }

    fn loaded(&mut self, chunk: Vec<Rank>) {
        self.changes += 1;
        self.loading.take(chunk, self.policy.as_mut());
    }

    fn woken(&mut self, wake: Wake) {
        if wake.returned > self.wake.returned || wake.connection > self.wake.connection {
            self.collect = true;
            self.look_for_due = true;
        }
        if wake.workers > self.wake.workers || wake.connection > self.wake.connection {
            self.count();
        }
        if wake.freed > self.wake.freed {
            self.changes += 1;
            self.in_flight.learn(0, wake.freed);
        }
        self.wake = wake;
    }

    fn count(&mut self) {
        if self.counting.is_none() {
            let (broker, now, changes) = (self.parts.broker.clone(), self.parts.clock.now(), self.changes);
            self.counting = Some(Box::pin(async move { (changes, broker.snapshot(now).await) }));
        }
    }

    fn learn(&mut self, snapshot: &Snapshot) {
        let (dispatched, freed) = (snapshot.counter("dispatched"), snapshot.counter("freed"));
        self.in_flight.learn(dispatched, freed);
        let now = self.parts.clock.now();
        // A killed worker stays in the register for a while; its slots must not widen the window until then.
        let silence = self.parts.settings.recovery.min_idle;
        self.window.observe(snapshot.slots_seen_since(now - silence), self.in_flight.freed_total(), now);
    }

    /// Compares room and record when nothing moved meanwhile, and shows the figures.
    fn counted(&mut self, changes: u64, reply: BrokerResult<Snapshot>) -> Result<(), End> {
        let snapshot = reply?;
        self.learn(&snapshot);
        self.collect |= snapshot.returned > 0;
        self.observer.pending.set(snapshot.pending as f64);
        self.observer.in_flight.set(snapshot.in_flight as f64);
        let now = self.parts.clock.now();
        let oldest = self.policy.ranks().map(|rank| rank.member.submitted()).min();
        self.observer.longest_wait.set(oldest.map_or(0.0, |at| now.since(at).as_secs_f64()));
        let still = changes == self.changes && self.loading.is_complete() && snapshot.returned == 0;
        let idle = self.admitting.is_none() && self.dispatching.is_none() && self.promoting.is_none();
        if still && idle && snapshot.pending != self.policy.len() as u64 {
            self.observer.differences.increment(1);
            tracing::warn!(room = self.policy.len(), record = snapshot.pending, "waiting room and record differ");
            return Err(End::StartOver(None));
        }
        Ok(())
    }
}
