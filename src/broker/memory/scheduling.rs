//! What the leader does: the lease, admission, dispatch, promotion.

use super::store::{Leader, Store};
use crate::broker::{AdmitBatch, AdmitItem, Admitted, BrokerResult, DispatchBatch, Dispatched, Grant, Promoted};
use crate::model::outcome::Delivery;
use crate::model::{Epoch, Micros, Rank, Record, TaskId};
use std::collections::BTreeSet;

impl Store {
    pub(super) fn lease_acquire(&mut self, owner: &str, ttl: Micros, now: Micros) -> Grant {
        if let Some(leader) = self.leader.as_ref().filter(|leader| leader.expiry > now) {
            return Grant::Held { owner: leader.owner.clone(), epoch: leader.epoch, left: leader.expiry - now };
        }
        // A term below the fence could never write.
        self.epoch = Epoch(self.epoch.max(self.fence).0 + 1);
        // A leader that was cut off may still be writing: nothing of it may come after what its successor reads first.
        self.fence = self.epoch;
        self.leader = Some(Leader { owner: owner.to_owned(), epoch: self.epoch, expiry: now + ttl });
        Grant::Granted(self.epoch)
    }

    fn holds(&self, owner: &str, epoch: Epoch, now: Micros) -> bool {
        self.leader.as_ref().is_some_and(|held| held.owner == owner && held.epoch == epoch && held.expiry > now)
    }

    pub(super) fn lease_renew(&mut self, owner: &str, epoch: Epoch, ttl: Micros, now: Micros) -> bool {
        let holds = self.holds(owner, epoch, now);
        if let Some(leader) = self.leader.as_mut().filter(|_| holds) {
            leader.expiry = now + ttl;
        }
        holds
    }

    pub(super) fn lease_release(&mut self, owner: &str, epoch: Epoch, now: Micros) -> bool {
        let holds = self.holds(owner, epoch, now);
        if holds {
            self.leader = None;
            self.wake.released += 1;
        }
        holds
    }

    pub(super) fn lease_depose(&mut self, owner: &str, epoch: Epoch, now: Micros) -> bool {
        !self.present.contains_key(owner) && self.lease_release(owner, epoch, now)
    }

    pub(super) fn arrive(&mut self, owner: &str) {
        *self.present.entry(owner.to_owned()).or_default() += 1;
    }

    pub(super) fn depart(&mut self, owner: &str) {
        if let Some(signs) = self.present.get_mut(owner) {
            *signs -= 1;
            if *signs == 0 {
                self.present.remove(owner);
            }
        }
    }

    pub(super) fn is_known(&self, id: &str, now: Micros, done_retention: Micros) -> bool {
        self.tasks.contains_key(id) || self.done.contains(id, now, done_retention)
    }

    /// Places of the items that name an id which is known, or stands earlier in the batch.
    fn duplicates(&self, batch: &AdmitBatch) -> Vec<usize> {
        let mut seen = BTreeSet::new();
        let mut places = Vec::new();
        for (place, item) in batch.items.iter().enumerate() {
            let (AdmitItem::Pending { rank, .. } | AdmitItem::Delayed { rank, .. }) = item else { continue };
            let id = rank.member.id();
            if !seen.insert(id) || self.is_known(id, batch.now, batch.done_retention) {
                places.push(place);
            }
        }
        places
    }

    pub(super) fn admit(&mut self, epoch: Epoch, batch: &AdmitBatch, now: Micros) -> BrokerResult<Admitted> {
        self.pass(epoch)?;
        let duplicates = self.duplicates(batch);
        if !duplicates.is_empty() {
            return Ok(Admitted::Duplicates(duplicates));
        }
        for item in &batch.items {
            match item {
                AdmitItem::Pending { rank, record } => {
                    self.remember(rank, record);
                    self.pending.insert(rank.clone());
                }
                AdmitItem::Delayed { rank, record, due } => {
                    self.remember(rank, record);
                    self.delayed.insert(rank.clone(), *due);
                }
                AdmitItem::Duplicate => self.count("duplicate_admissions", 1),
                AdmitItem::Rejected(dead) => {
                    self.count("rejected", 1);
                    self.dead.push(now, (**dead).clone());
                }
            }
        }
        self.apply(&batch.changes);
        self.ingress.trim_below(batch.upto.next());
        Ok(Admitted::Done)
    }

    fn remember(&mut self, rank: &Rank, record: &Record) {
        self.tasks.insert(TaskId::from(rank.member.id()), record.clone());
        self.count("admitted", 1);
    }

    pub(super) fn dispatch(&mut self, epoch: Epoch, batch: &DispatchBatch, now: Micros) -> BrokerResult<Dispatched> {
        self.pass(epoch)?;
        let room = batch.window.map_or(u64::MAX, |window| window.saturating_sub(self.in_flight()));
        let mut moved = 0;
        let mut considered = 0;
        let mut missing = Vec::new();
        for rank in &batch.chosen {
            if moved >= room {
                break;
            }
            let waited = self.pending.remove(&rank.member);
            match self.tasks.get(rank.member.id()).filter(|_| waited) {
                Some(record) => {
                    self.execution.push(now, |entry| Delivery {
                        entry,
                        rank: rank.clone(),
                        record: record.clone(),
                        dispatched: batch.now,
                        epoch,
                    });
                    moved += 1;
                }
                None => missing.push(considered),
            }
            considered += 1;
        }
        self.count("dispatched", moved);
        self.apply(&batch.changes);
        Ok(Dispatched {
            considered,
            missing,
            dispatched_total: self.counter("dispatched"),
            freed_total: self.counter("freed"),
            returned: std::mem::take(&mut self.returned),
        })
    }

    pub(super) fn promote(&mut self, epoch: Epoch, now: Micros, count: usize) -> BrokerResult<Promoted> {
        self.pass(epoch)?;
        let mut promoted = Vec::new();
        while promoted.len() < count {
            let Some(rank) = self.delayed.pop_due(now) else { break };
            self.pending.insert(rank.clone());
            promoted.push(rank);
        }
        Ok(Promoted { promoted, next_due: self.delayed.next_due() })
    }
}
