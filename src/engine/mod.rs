//! The scheduler: campaigns for the lease and, while it leads, reads ingress, ranks, admits and dispatches.
//!
//! One task, the leader's loop, owns the policy and its waiting room; nobody else touches it. Recovery runs beside it on
//! every replica. After an ambiguous reply the loop starts over from the broker's record, within the same term.

mod admission;
mod dispatch;
mod ingest;
mod leader;
mod loading;
mod observe;
mod window;

use crate::broker::{Broker, BrokerError};
use crate::clock::Clock;
use crate::config::{LeaderElectionConfig, RecoveryConfig, SchedulerConfig, StreamsConfig};
use crate::model::Micros;
use crate::recovery;
use crate::runtime::lease::{self, Candidate, Term};
use leader::{End, Leader};
use observe::Observer;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

/// What a scheduler needs to know.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Settings {
    /// Policy, batches, window.
    pub scheduler: SchedulerConfig,
    /// Lease.
    pub election: LeaderElectionConfig,
    /// Attempt leases, retries.
    pub recovery: RecoveryConfig,
    /// Retentions.
    pub streams: StreamsConfig,
}

/// How long to wait before starting over after an error.
const PAUSE: Micros = Micros::from_millis(100);

/// One scheduler process.
#[derive(Debug)]
pub struct Scheduler<B> {
    broker: B,
    clock: Clock,
    owner: String,
    settings: Settings,
}

impl<B: Broker> Scheduler<B> {
    /// A scheduler that campaigns under the name `owner`, to which it adds its incarnation: a restarted process must not be
    /// taken for its predecessor.
    pub fn new(broker: B, clock: Clock, owner: impl Into<String>, settings: Settings) -> Self {
        let owner = format!("{}#{:x}", owner.into(), clock.raw().0);
        Scheduler { broker, clock, owner, settings }
    }

    /// Campaigns and leads until stopped; then gives the lease back.
    ///
    /// # Errors
    /// None that passes by itself: those are waited out. Only the loss of the permission to work at all is reported.
    pub async fn run(self, stop: CancellationToken) -> Result<(), BrokerError> {
        let recovering = self.settings.recovery.enabled.then(|| {
            let Settings { recovery, streams, .. } = self.settings.clone();
            let running = recovery::run(self.broker.clone(), self.clock.clone(), recovery, streams, stop.clone());
            AbortOnDropHandle::new(tokio::spawn(running))
        });
        let observer = Observer::new();
        let mut candidate = Candidate::new(&self.broker, &self.clock, &self.owner, &self.settings.election);
        while !stop.is_cancelled() {
            let term = match self.settings.election.enabled {
                true => candidate.campaign(&stop).await,
                false => Some(Term::uncontested()),
            };
            let Some(term) = term else { break };
            self.lead(&term, &observer, &stop).await;
        }
        if let Some(task) = recovering {
            let _ = task.await;
        }
        Ok(())
    }

    /// One term: leads, and starts over while the term can be trusted.
    async fn lead(&self, term: &Term, observer: &Observer, stop: &CancellationToken) {
        observer.begins(term.epoch);
        tracing::info!(owner = self.owner, epoch = term.epoch.0, policy = %self.settings.scheduler.policy, "leading");
        let renewal = self.settings.election.enabled.then(|| {
            let (broker, clock, owner) = (self.broker.clone(), self.clock.clone(), self.owner.clone());
            let holding = lease::hold(broker, clock, owner, self.settings.election.clone(), term.clone());
            // A term must not be renewed for a leader that is no more.
            AbortOnDropHandle::new(tokio::spawn(holding))
        });
        let mut reported = None;
        while term.is_trusted(&self.clock) && !stop.is_cancelled() {
            match Leader::run(self, term, observer, stop).await {
                End::Stopped | End::TermOver => break,
                End::Fenced(error) => {
                    observer.fenced();
                    tracing::warn!(%error, "superseded; standing down");
                    term.end();
                }
                End::StartOver(error) => {
                    let kind = error.as_ref().map(BrokerError::kind);
                    if reported != Some(kind) {
                        reported = Some(kind);
                        let why = error.map_or_else(|| "room and record differ".into(), |error| error.to_string());
                        tracing::warn!(why, "starting over from the broker's record");
                    }
                    tokio::select! {
                        biased;
                        () = stop.cancelled() => {}
                        () = self.clock.sleep(PAUSE) => {}
                    }
                }
            }
        }
        observer.ends();
        // Also after a term that is over: the release acts on this exact term, so it cannot hurt a successor.
        match lease::release(&self.broker, &self.owner, term).await {
            Ok(true) => tracing::info!(epoch = term.epoch.0, "gave the lease back"),
            Ok(false) => {}
            Err(error) => tracing::warn!(%error, "could not give the lease back; it will run out"),
        }
        if let Some(task) = renewal {
            let _ = task.await;
        }
    }
}
