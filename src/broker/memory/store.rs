//! Everything that the memory broker holds: one struct behind one lock, and the small steps that several moves share.

use super::places::{Delayed, Done, Execution, Pending, Stream};
use crate::broker::{BrokerError, BrokerResult, TenantTotals, Wake, WorkerSeen};
use crate::model::outcome::{Completion, Dead, TaskResult};
use crate::model::{EntryId, Epoch, Micros, Rank, Record, StateChange, TaskId};
use bytes::Bytes;
use std::collections::BTreeMap;

/// Who leads, until when.
#[derive(Debug)]
pub(super) struct Leader {
    pub(super) owner: String,
    pub(super) epoch: Epoch,
    pub(super) expiry: Micros,
}

/// The state of one namespace.
#[derive(Debug, Default)]
pub(super) struct Store {
    pub(super) ingress: Stream<Option<Bytes>>,
    /// The control arm's group: how far it has read, and what its workers hold.
    pub(super) ingress_read_upto: EntryId,
    pub(super) ingress_group: Execution,
    pub(super) pending: Pending,
    pub(super) tasks: BTreeMap<TaskId, Record>,
    pub(super) delayed: Delayed,
    pub(super) execution: Execution,
    pub(super) results: Stream<Vec<TaskResult>>,
    pub(super) dead: Stream<Dead>,
    pub(super) returned: Vec<Rank>,
    pub(super) done: Done,
    pub(super) done_retention: Micros,
    pub(super) policy: BTreeMap<String, String>,
    pub(super) tenants: BTreeMap<String, TenantTotals>,
    pub(super) counters: BTreeMap<&'static str, u64>,
    pub(super) leader: Option<Leader>,
    pub(super) epoch: Epoch,
    pub(super) fence: Epoch,
    pub(super) workers: BTreeMap<String, WorkerSeen>,
    /// Who is connected, and how often.
    pub(super) present: BTreeMap<String, u32>,
    /// Published by the broker after the lock is released.
    pub(super) wake: Wake,
}

impl Store {
    pub(super) fn counter(&self, name: &str) -> u64 {
        self.counters.get(name).copied().unwrap_or(0)
    }

    pub(super) fn count(&mut self, name: &'static str, by: u64) {
        if by > 0 {
            *self.counters.entry(name).or_default() += by;
        }
    }

    /// Dispatched and not ended, by the counters.
    pub(super) fn in_flight(&self) -> u64 {
        self.counter("dispatched").saturating_sub(self.counter("freed"))
    }

    /// The fence: refuses a superseded term, and remembers the newest one that wrote.
    pub(super) fn pass(&mut self, epoch: Epoch) -> BrokerResult<()> {
        self.fence = epoch.pass(self.fence).map_err(|fence| BrokerError::Fenced { epoch, fence })?;
        Ok(())
    }

    pub(super) fn apply(&mut self, changes: &[StateChange]) {
        for (field, value) in changes {
            match value {
                Some(value) => self.policy.insert(field.clone(), value.clone()),
                None => self.policy.remove(field),
            };
        }
    }

    /// Counts ended attempts and notes the wake-up.
    pub(super) fn free(&mut self, attempts: u64) {
        self.count("freed", attempts);
        self.wake.freed += attempts;
    }

    /// Accounts a recorded completion to its tenant.
    pub(super) fn account(&mut self, completion: &Completion) {
        let missed = u64::from(completion.deadline_missed());
        self.count("completed", 1);
        self.count("deadline_missed", missed);
        let tenant = completion.delivery.member().tenant();
        if !self.tenants.contains_key(tenant) {
            self.tenants.insert(tenant.to_owned(), TenantTotals::default());
        }
        if let Some(totals) = self.tenants.get_mut(tenant) {
            totals.completed += 1;
            totals.service_us += completion.measured();
            totals.deadline_missed += missed;
        }
    }

    /// Empties the namespace. Epoch and fence stay, so that no term is ever given twice; so do the totals of wake-ups.
    pub(super) fn reset(&mut self) {
        *self = Store {
            ingress: self.ingress.emptied(),
            execution: self.execution.emptied(),
            results: self.results.emptied(),
            dead: self.dead.emptied(),
            done_retention: self.done_retention,
            epoch: self.epoch,
            fence: self.fence,
            wake: self.wake,
            present: std::mem::take(&mut self.present),
            ..Store::default()
        };
    }
}
