//! Leadership as terms: campaign, renew, stand down. A leader trusts its lease only until
//! `attempt started + ttl − margin`; a renewal that fails or whose reply is lost means standing down.

use super::watch::{LOOK_INTERVAL, Watch};
use crate::broker::{Broker, BrokerError, Grant, Presence, Wake};
use crate::clock::Clock;
use crate::config::LeaderElectionConfig;
use crate::model::{Epoch, Micros};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// One tenure of one scheduler. Clones share it.
#[derive(Debug, Clone)]
pub struct Term {
    /// The fencing token of its writes.
    pub epoch: Epoch,
    trusted_until: Arc<AtomicI64>,
    over: CancellationToken,
}

impl Term {
    /// A term that nobody contests: no election, an inert fence.
    pub fn uncontested() -> Self {
        Term::new(Epoch::NONE, Micros::MAX)
    }

    fn new(epoch: Epoch, trusted_until: Micros) -> Self {
        Term { epoch, trusted_until: Arc::new(AtomicI64::new(trusted_until.0)), over: CancellationToken::new() }
    }

    /// Whether its holder may still act on it.
    pub fn is_trusted(&self, clock: &Clock) -> bool {
        !self.over.is_cancelled() && clock.raw().0 < self.trusted_until.load(Ordering::Acquire)
    }

    /// Waits until the term is over.
    pub async fn over(&self) {
        self.over.cancelled().await;
    }

    /// Ends it here; the lease itself is left alone.
    pub fn end(&self) {
        self.over.cancel();
    }
}

/// The part of the ttl that a leader does not use: what its clock may run slow by, and a renewal on its way.
fn margin(ttl: Micros) -> Micros {
    Micros(ttl.0 / 10)
}

/// A scheduler that wants to lead.
#[derive(Debug)]
pub struct Candidate<'a, B> {
    broker: &'a B,
    clock: &'a Clock,
    owner: &'a str,
    election: &'a LeaderElectionConfig,
    watch: Watch,
    /// Kept while leading, too: it is what the others look at.
    presence: Option<Presence>,
}

impl<'a, B: Broker> Candidate<'a, B> {
    /// A candidate under the name `owner`.
    pub fn new(broker: &'a B, clock: &'a Clock, owner: &'a str, election: &'a LeaderElectionConfig) -> Self {
        let watch = Watch::new(election.detect_disconnect);
        Candidate { broker, clock, owner, election, watch, presence: None }
    }

    /// Asks for the lease until it is granted; `None` when stopped first.
    pub async fn campaign(&mut self, stop: &CancellationToken) -> Option<Term> {
        let mut wakes = self.broker.wakes();
        let mut reported = false;
        while !stop.is_cancelled() {
            self.announce().await;
            let released = wakes.borrow_and_update().released;
            let started = self.clock.raw();
            let mut pause = self.election.retry_interval;
            match self.broker.lease_acquire(self.owner, self.election.ttl).await {
                Ok(Grant::Granted(epoch)) => {
                    return Some(Term::new(epoch, started + self.election.ttl - margin(self.election.ttl)));
                }
                Ok(Grant::Held { owner, epoch, left }) => {
                    reported = false;
                    self.watch.follow(owner, epoch);
                    // The lease may end before the next regular question.
                    pause = pause.min(left + Micros::from_millis(1)).max(Micros::from_millis(1));
                }
                Err(error) if !reported => {
                    reported = true;
                    tracing::warn!(%error, "cannot campaign for the lease; trying again");
                }
                Err(_) => {}
            }
            self.wait(pause, released, &mut wakes, stop).await;
        }
        None
    }

    /// Shows itself, so that its successor need not wait for the ttl. What fails is tried again with the next question.
    async fn announce(&mut self) {
        if self.presence.is_some() || !self.watch.is_on() {
            return;
        }
        match self.broker.announce(self.owner).await {
            Ok(presence) => self.presence = Some(presence),
            Err(error @ (BrokerError::NoPermission(_) | BrokerError::Unsupported(_))) => self.watch.give_up(&error),
            Err(_) => {}
        }
    }

    /// Waits for `pause`, a lease released since `released`, a leader that is gone, or the stop.
    async fn wait(
        &mut self,
        pause: Micros,
        released: u64,
        wakes: &mut watch::Receiver<Wake>,
        stop: &CancellationToken,
    ) {
        let until = self.clock.raw() + pause;
        loop {
            let left = until - self.clock.raw();
            let step = if self.watch.is_on() { left.min(LOOK_INTERVAL) } else { left };
            tokio::select! {
                biased;
                () = stop.cancelled() => return,
                _ = wakes.wait_for(|wake| wake.released > released) => return,
                () = self.clock.sleep(step) => {}
            }
            let connection = wakes.borrow().connection;
            let deposed = self.watch.is_on() && self.watch.look(self.broker, self.clock, connection).await;
            if deposed || self.clock.raw() >= until {
                return;
            }
        }
    }
}

/// Renews the term until a renewal fails, is ambiguous, or comes too late; then ends it. Returns when the term is over.
pub async fn hold<B: Broker>(broker: B, clock: Clock, owner: String, election: LeaderElectionConfig, term: Term) {
    let mut beat = clock.interval(election.renew_interval);
    loop {
        let left = Micros(term.trusted_until.load(Ordering::Acquire)) - clock.raw();
        tokio::select! {
            biased;
            () = term.over() => return,
            () = beat.tick() => {}
            () = clock.sleep(left.max(Micros(1))) => {
                tracing::warn!(epoch = term.epoch.0, "the lease cannot be trusted any more; standing down");
                return term.end();
            }
        }
        let started = clock.raw();
        match broker.lease_renew(&owner, term.epoch, election.ttl).await {
            Ok(true) => {
                let until = started + election.ttl - margin(election.ttl);
                term.trusted_until.store(until.0, Ordering::Release);
            }
            Ok(false) => {
                tracing::warn!(epoch = term.epoch.0, "the lease belongs to somebody else; standing down");
                return term.end();
            }
            Err(error) => {
                tracing::warn!(%error, epoch = term.epoch.0, "the lease could not be renewed; standing down");
                return term.end();
            }
        }
    }
}

/// Gives the lease back, so that a standby need not wait for its end.
pub async fn release<B: Broker>(broker: &B, owner: &str, term: &Term) -> Result<bool, BrokerError> {
    term.end();
    if term.epoch == Epoch::NONE { Ok(true) } else { broker.lease_release(owner, term.epoch).await }
}
