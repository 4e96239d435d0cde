//! Arguments and replies of the operations that move tasks.

use crate::model::outcome::Dead;
use crate::model::{EntryId, Epoch, Micros, Rank, Record, StateChange, TaskId};

/// The answer to a candidate for the lease.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Grant {
    /// It holds the lease, for this term.
    Granted(Epoch),
    /// Somebody else holds it for `left` more.
    Held {
        /// Who.
        owner: String,
        /// In which term.
        epoch: Epoch,
        /// The rest of the term's lease.
        left: Micros,
    },
}

/// What becomes of one ingress entry.
#[derive(Debug, Clone, PartialEq)]
pub enum AdmitItem {
    /// To pending at this rank.
    Pending {
        /// Where it waits.
        rank: Rank,
        /// What is stored of it.
        record: Record,
    },
    /// To delayed until `due`, then to pending at this rank.
    Delayed {
        /// Where it will wait.
        rank: Rank,
        /// What is stored of it.
        record: Record,
        /// When it may go.
        due: Micros,
    },
    /// Counted and dropped.
    Duplicate,
    /// To the dead letters.
    Rejected(Box<Dead>),
}

/// A prefix of ingress: one item for each entry, in order.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct AdmitBatch {
    /// What becomes of each entry.
    pub items: Vec<AdmitItem>,
    /// The last entry of the prefix; ingress is trimmed up to and including it.
    pub upto: EntryId,
    /// Policy state that belongs to these ranks.
    pub changes: Vec<StateChange>,
    /// The present instant.
    pub now: Micros,
    /// Remembers finished ids for this long; decides in which buckets to look.
    pub done_retention: Micros,
}

/// The answer to [`AdmitBatch`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Admitted {
    /// Everything was done.
    Done,
    /// Nothing was done: the items at these places name ids that are known already (or stand earlier in the batch).
    Duplicates(Vec<usize>),
}

/// Whom the policy chose, in order.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct DispatchBatch {
    /// The ranks to move. May be empty: then it only collects what was returned.
    pub chosen: Vec<Rank>,
    /// The largest number in flight; `None`: unlimited.
    pub window: Option<u64>,
    /// Policy state that belongs to this choice.
    pub changes: Vec<StateChange>,
    /// The present instant: the dispatch stamp.
    pub now: Micros,
}

/// The answer to [`DispatchBatch`].
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Dispatched {
    /// How many of the chosen were considered before the window was full; the rest still wait.
    pub considered: usize,
    /// Places of those among the considered that were not pending any more.
    pub missing: Vec<usize>,
    /// Tasks dispatched since the namespace began.
    pub dispatched_total: u64,
    /// Attempts ended (completed, retried, dead) since the namespace began; in flight = dispatched − freed.
    pub freed_total: u64,
    /// What `retry` put back to pending since the last dispatch.
    pub returned: Vec<Rank>,
}

/// The answer to `promote`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Promoted {
    /// What is pending now.
    pub promoted: Vec<Rank>,
    /// When the next delayed task is due.
    pub next_due: Option<Micros>,
}

/// What becomes of an attempt that did not complete.
#[derive(Debug, Clone, PartialEq)]
pub enum Fate {
    /// Back to pending at this rank.
    Pending(Rank),
    /// To delayed until the instant, then to pending at this rank.
    Delayed(Rank, Micros),
    /// To the dead letters.
    Dead(Box<Dead>),
}

/// One attempt to end.
#[derive(Debug, Clone, PartialEq)]
pub struct Retry {
    /// The attempt.
    pub entry: EntryId,
    /// Its task.
    pub id: TaskId,
    /// What becomes of it.
    pub fate: Fate,
    /// Only if its lease has been idle for at least this long (recovery); `None`: the worker itself says so.
    pub min_idle: Option<Micros>,
    /// Whether it counts as a failure of the handler.
    pub handler_failed: bool,
    /// Whether the attempt is spent; an interruption does not spend it and is not counted as a retry.
    pub spent: bool,
}

/// The answer to a batch of completions.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Completed {
    /// Places of those that were recorded before or are no longer known; they were acknowledged and counted.
    pub duplicates: Vec<usize>,
}

/// The answer to a batch of retries.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Retried {
    /// Places of those whose attempt was not live any more (or not idle enough): nothing was done.
    pub stale: Vec<usize>,
}
