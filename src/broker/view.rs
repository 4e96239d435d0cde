//! What the broker shows of itself: wake-ups, registers, counts, results and dead letters.

use crate::model::outcome::{DeadLetter, TaskResult};
use crate::model::{EntryId, Epoch, Micros};
use bytes::Bytes;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What has happened since the namespace began, as far as somebody may be waiting for it. Every field only grows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Wake {
    /// Attempts ended: `freed_total` as in a dispatch reply.
    pub freed: u64,
    /// Grows when something was returned to pending or delayed by `retry`.
    pub returned: u64,
    /// Grows when a lease was released.
    pub released: u64,
    /// Grows when a worker came, left or changed its slots.
    pub workers: u64,
    /// Grows when the connection was lost or restored: whoever relies on wake-ups should look for itself.
    pub connection: u64,
}

/// A worker's heartbeat.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkerBeat {
    /// Name and incarnation: `name#incarnation`.
    pub worker: String,
    /// Execution slots; zero while draining.
    pub slots: u32,
    /// Slots in use.
    pub busy: u32,
}

/// A worker as the register shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkerSeen {
    /// Its last heartbeat.
    #[serde(flatten)]
    pub beat: WorkerBeat,
    /// When it came, by the `now` it sent.
    pub seen_us: Micros,
}

/// What a tenant has received.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TenantTotals {
    /// Completed tasks.
    pub completed: u64,
    /// Measured service.
    pub service_us: Micros,
    /// Completed after the deadline.
    pub deadline_missed: u64,
}

/// What is where, counted at one moment.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Snapshot {
    /// Who leads, if anybody.
    pub leader: Option<String>,
    /// The last epoch that was granted.
    pub epoch: Epoch,
    /// The highest epoch that has written.
    pub fence: Epoch,
    /// What is left of the lease.
    pub lease_left_us: Micros,
    /// Entries of ingress.
    pub ingress: u64,
    /// Members of pending.
    pub pending: u64,
    /// Members of delayed.
    pub delayed: u64,
    /// Admitted tasks without an end: fields of `tasks`.
    pub unfinished: u64,
    /// In flight by the counters: dispatched − freed.
    pub in_flight: u64,
    /// In flight by counting the execution stream: delivered and not acknowledged, plus not yet delivered.
    pub in_flight_counted: u64,
    /// Entries of the execution stream, acknowledged ones that are not trimmed yet included.
    pub execution_entries: u64,
    /// Length of `returned`.
    pub returned: u64,
    /// Entries of the dead-letter stream.
    pub dead: u64,
    /// Totals since the namespace began, by name: `admitted dispatched freed completed retried interrupted dead
    /// handler_failed duplicate_admissions duplicate_completions rejected deadline_missed`.
    pub counters: BTreeMap<String, u64>,
    /// Per tenant.
    pub tenants: BTreeMap<String, TenantTotals>,
    /// Registered workers by name and incarnation.
    pub workers: Vec<WorkerSeen>,
}

impl Snapshot {
    /// A counter; zero if it never counted.
    pub fn counter(&self, name: &str) -> u64 {
        self.counters.get(name).copied().unwrap_or(0)
    }

    /// Execution slots of the workers heard of since `instant`.
    pub fn slots_seen_since(&self, instant: Micros) -> u64 {
        self.workers.iter().filter(|worker| worker.seen_us >= instant).map(|worker| u64::from(worker.beat.slots)).sum()
    }

    /// Execution slots of every registered worker.
    pub fn slots(&self) -> u64 {
        self.workers.iter().map(|worker| u64::from(worker.beat.slots)).sum()
    }
}

/// One completed task and the entry that holds it.
#[derive(Debug, Clone, PartialEq)]
pub struct ResultEntry {
    /// The entry of `results`; several results may share it.
    pub entry: EntryId,
    /// The record.
    pub result: TaskResult,
}

/// One dead letter.
#[derive(Debug, Clone, PartialEq)]
pub struct DeadEntry {
    /// The entry of `dead`.
    pub entry: EntryId,
    /// What is known of it.
    pub letter: DeadLetter,
    /// The task as it was sent.
    pub raw: Bytes,
}
