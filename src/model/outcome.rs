//! How a task ended, and the times that follow from it. Wait, sojourn and lateness are derived here and only here.

use super::{EntryId, Epoch, Member, Micros, Rank, Record, TaskId, TenantId};
use bytes::Bytes;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// One delivery of a task to a worker: an entry of the execution stream.
#[derive(Debug, Clone, PartialEq)]
pub struct Delivery {
    /// The execution entry; it names the attempt.
    pub entry: EntryId,
    /// The rank at which the task was dispatched.
    pub rank: Rank,
    /// Payload and budget.
    pub record: Record,
    /// When the leader dispatched it.
    pub dispatched: Micros,
    /// The term that dispatched it.
    pub epoch: Epoch,
}

impl Delivery {
    /// Scheduling header.
    pub fn member(&self) -> &Member {
        &self.rank.member
    }
}

/// A finished attempt as the worker reports it.
#[derive(Debug, Clone, PartialEq)]
pub struct Completion {
    /// What was delivered.
    pub delivery: Delivery,
    /// When the handler began.
    pub started: Micros,
    /// When the handler ended.
    pub finished: Micros,
    /// The worker's name and incarnation.
    pub worker: Arc<str>,
}

impl Completion {
    /// Whether it ended after its deadline.
    pub fn deadline_missed(&self) -> bool {
        self.delivery.member().deadline().is_some_and(|deadline| self.finished > deadline)
    }

    /// Measured service time.
    pub fn measured(&self) -> Micros {
        self.finished.since(self.started)
    }

    /// What is kept of it in `results`.
    pub fn result(&self) -> TaskResult {
        let member = self.delivery.member();
        TaskResult {
            id: TaskId::from(member.id()),
            tenant: TenantId::from(member.tenant()),
            kind: self.delivery.record.kind.clone(),
            priority: member.priority(),
            submitted_us: member.submitted(),
            admitted_us: self.delivery.record.admitted,
            dispatched_us: self.delivery.dispatched,
            started_us: self.started,
            finished_us: self.finished,
            deadline_us: member.deadline(),
            service_us: member.cost(),
            measured_service_us: self.measured(),
            attempts: member.attempt(),
            interruptions: member.interruptions(),
            epoch: self.delivery.epoch,
            worker: self.worker.clone(),
        }
    }
}

/// The record of a completed task: one `result` field of an entry of `results`, as JSON.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TaskResult {
    /// Task id.
    pub id: TaskId,
    /// Fairness class.
    pub tenant: TenantId,
    /// What kind of work it was.
    pub kind: Arc<str>,
    /// Importance, higher first.
    pub priority: u8,
    /// Intended arrival instant.
    pub submitted_us: Micros,
    /// When the leader admitted it.
    pub admitted_us: Micros,
    /// When the last attempt was dispatched.
    pub dispatched_us: Micros,
    /// When the last attempt began.
    pub started_us: Micros,
    /// When it ended.
    pub finished_us: Micros,
    /// Absolute due time.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub deadline_us: Option<Micros>,
    /// Declared service time.
    pub service_us: Micros,
    /// Measured service time of the last attempt.
    pub measured_service_us: Micros,
    /// Attempts spent, the last one included.
    pub attempts: u32,
    /// Attempts given back without being spent.
    pub interruptions: u32,
    /// The term that dispatched the last attempt.
    pub epoch: Epoch,
    /// Name and incarnation of the worker.
    pub worker: Arc<str>,
}

impl TaskResult {
    /// Queueing time: submission to the start of the last attempt, retries included.
    pub fn wait(&self) -> Micros {
        self.started_us.since(self.submitted_us)
    }

    /// Sojourn (response) time: submission to end.
    pub fn sojourn(&self) -> Micros {
        self.finished_us.since(self.submitted_us)
    }

    /// Whether it ended after its deadline.
    pub fn deadline_missed(&self) -> bool {
        self.deadline_us.is_some_and(|deadline| self.finished_us > deadline)
    }
}

/// Why a task was given up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeadReason {
    /// What the producer sent cannot be read.
    Malformed,
    /// It is larger than the limit.
    TooLarge,
    /// The handler failed more often than the budget allows.
    HandlerFailed,
    /// Its workers vanished more often than the budget allows.
    WorkerLost,
    /// It was interrupted by shutdowns more often than the cap allows.
    Interrupted,
    /// What the broker stored of it cannot be read.
    Corrupt,
}

/// A given-up task: the `letter` field of an entry of `dead`, as JSON; the task as sent is the `task` field beside it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DeadLetter {
    /// Task id; empty where none could be read.
    pub id: String,
    /// Fairness class; empty where none could be read.
    pub tenant: String,
    /// Why, for programs.
    pub reason: DeadReason,
    /// Why, for people.
    pub detail: String,
    /// Attempts spent.
    pub attempts: u32,
    /// When it was given up.
    pub at_us: Micros,
    /// Intended arrival instant, where known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub submitted_us: Option<Micros>,
    /// The ingress entry that carried it.
    pub arrival: EntryId,
    /// The last attempt's execution entry.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub last_attempt: Option<EntryId>,
    /// Where the last attempt ran.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub last_worker: Option<String>,
}

/// A dead letter with the task as it was sent (cut to the size limit).
#[derive(Debug, Clone, PartialEq)]
pub struct Dead {
    /// What is known of it.
    pub letter: DeadLetter,
    /// The producer's bytes, not necessarily UTF-8.
    pub raw: Bytes,
}
