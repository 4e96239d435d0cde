//! A standby's eye on the leader: whether its connection to the store still stands.
//!
//! A leader is given up only if this standby has seen it connected before, misses it at two looks at least
//! [`LOOK_INTERVAL`] apart, and the store misses it too when it ends the term. So a leader that cannot be seen at all (it
//! does not announce itself, or something between hides it) keeps its ttl, and one that connects again soon keeps its term.

use crate::broker::{Broker, BrokerError};
use crate::clock::Clock;
use crate::model::{Epoch, Micros};

/// Time between two looks; two in a row decide.
pub(super) const LOOK_INTERVAL: Micros = Micros::from_millis(100);

/// What is known of the present leader.
#[derive(Debug)]
pub(super) struct Watch {
    is_on: bool,
    leader: Option<(String, Epoch)>,
    seen: bool,
    missed_at: Option<Micros>,
    /// Reconnects of this process: others were cut off with it, and no more is known of them.
    connection: u64,
}

impl Watch {
    pub(super) fn new(is_on: bool) -> Self {
        Watch { is_on, leader: None, seen: false, missed_at: None, connection: 0 }
    }

    /// Whether it looks at all.
    pub(super) fn is_on(&self) -> bool {
        self.is_on
    }

    /// Never looks again; says so once.
    pub(super) fn give_up(&mut self, error: &BrokerError) {
        if self.is_on {
            tracing::warn!(%error, "cannot see who is connected; a dead leader is followed when its ttl has passed");
        }
        self.is_on = false;
    }

    /// Looks at this term from now on.
    pub(super) fn follow(&mut self, owner: String, epoch: Epoch) {
        let leader = Some((owner, epoch));
        if self.leader != leader {
            self.leader = leader;
            self.forget();
        }
    }

    fn forget(&mut self) {
        self.seen = false;
        self.missed_at = None;
    }

    /// One look; `true`: it ended the leader's term. `connection` counts the reconnects of this process.
    pub(super) async fn look<B: Broker>(&mut self, broker: &B, clock: &Clock, connection: u64) -> bool {
        let Some((owner, epoch)) = self.leader.clone() else { return false };
        if connection != self.connection {
            self.connection = connection;
            self.forget();
        }
        let at = clock.raw();
        match broker.is_connected(&owner).await {
            Ok(true) => {
                self.seen = true;
                self.missed_at = None;
                return false;
            }
            Ok(false) if self.seen => {}
            Ok(false) => return false,
            Err(error @ (BrokerError::NoPermission(_) | BrokerError::Unsupported(_))) => {
                self.give_up(&error);
                return false;
            }
            Err(_) => {
                self.forget();
                return false;
            }
        }
        if at < *self.missed_at.get_or_insert(at) + LOOK_INTERVAL {
            return false;
        }
        self.missed_at = None;
        match broker.lease_depose(&owner, epoch).await {
            Ok(true) => {
                tracing::warn!(owner, epoch = epoch.0, "the leader's connection is gone; its term is over");
                true
            }
            Ok(false) => false,
            Err(_) => {
                self.forget();
                false
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::broker::Grant;
    use crate::broker::memory::MemoryBroker;

    const TTL: Micros = Micros::from_secs(60);

    /// A leader in term 1 that shows itself, and a watch that follows it.
    async fn leading(clock: &Clock) -> (MemoryBroker, crate::broker::Presence, Watch) {
        let broker = MemoryBroker::new(clock.clone());
        let sign = broker.announce("leader").await.unwrap();
        assert_eq!(broker.lease_acquire("leader", TTL).await, Ok(Grant::Granted(Epoch(1))));
        let mut watch = Watch::new(true);
        watch.follow("leader".into(), Epoch(1));
        (broker, sign, watch)
    }

    #[test]
    fn a_leader_that_is_back_at_the_second_look_keeps_its_term() {
        Clock::run_virtual(async |clock| {
            let (broker, sign, mut watch) = leading(&clock).await;
            assert!(!watch.look(&broker, &clock, 0).await);
            drop(sign);
            assert!(!watch.look(&broker, &clock, 0).await);
            let _sign = broker.announce("leader").await.unwrap();
            for _ in 0..5 {
                clock.sleep(LOOK_INTERVAL).await;
                assert!(!watch.look(&broker, &clock, 0).await);
            }
            assert!(broker.lease_renew("leader", Epoch(1), TTL).await.unwrap());
        });
    }

    #[test]
    fn two_looks_too_close_together_are_one() {
        Clock::run_virtual(async |clock| {
            let (broker, sign, mut watch) = leading(&clock).await;
            watch.look(&broker, &clock, 0).await;
            drop(sign);
            for _ in 0..9 {
                assert!(!watch.look(&broker, &clock, 0).await);
                clock.sleep(Micros::from_millis(10)).await;
            }
            clock.sleep(Micros::from_millis(10)).await;
            assert!(watch.look(&broker, &clock, 0).await);
        });
    }

    #[test]
    fn a_leader_that_was_never_seen_keeps_its_term() {
        Clock::run_virtual(async |clock| {
            let (broker, sign, mut watch) = leading(&clock).await;
            drop(sign);
            for _ in 0..5 {
                assert!(!watch.look(&broker, &clock, 0).await);
                clock.sleep(LOOK_INTERVAL).await;
            }
            assert!(broker.lease_renew("leader", Epoch(1), TTL).await.unwrap());
        });
    }

    #[test]
    fn after_a_reconnect_of_its_own_it_must_see_the_leader_anew() {
        Clock::run_virtual(async |clock| {
            let (broker, sign, mut watch) = leading(&clock).await;
            watch.look(&broker, &clock, 0).await;
            drop(sign);
            watch.look(&broker, &clock, 0).await;
            clock.sleep(LOOK_INTERVAL).await;
            assert!(!watch.look(&broker, &clock, 1).await, "all were cut off at once");
            clock.sleep(LOOK_INTERVAL).await;
            assert!(!watch.look(&broker, &clock, 1).await);
        });
    }
}
