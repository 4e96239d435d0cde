//! Which waiting task goes next. Pure: time and randomness come in as arguments.
//!
//! A policy is a waiting room with an order. It gives a task its durable rank when it is admitted, holds the ranks that
//! the broker has confirmed, and chooses who goes next.

pub mod edf;
pub mod fifo;
pub mod priority;
pub mod ranked;
#[cfg(test)]
mod samples;
pub mod weights;
pub mod wfq;

use crate::model::{Micros, Rank, StateChange, Task};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;
pub use weights::Weights;

/// A scheduling policy and its waiting room.
///
/// The engine's owner task is the only caller. The protocol of admission is `begin`, `rank` for each task of a batch, then
/// either `commit` and `insert` of each (the broker confirmed) or `rollback` (the broker did nothing).
pub trait Policy: Send {
    /// Starts an admission batch.
    fn begin(&mut self) {}

    /// The durable place of a task; may move the policy's state.
    fn rank(&mut self, task: &Task) -> Rank;

    /// The batch since `begin` was admitted.
    fn commit(&mut self) {}

    /// The batch since `begin` was not admitted: the state is as before `begin`, except for what dispatches did since.
    fn rollback(&mut self) {}

    /// A rank that the broker confirmed, returned or listed. Idempotent.
    fn insert(&mut self, rank: Rank);

    /// Takes out the task that goes next and moves the policy's state accordingly.
    fn next(&mut self, now: Micros) -> Option<Rank>;

    /// Takes out one task that will not be dispatched; whether it was there.
    fn remove(&mut self, rank: &Rank) -> bool;

    /// How many tasks wait.
    fn len(&self) -> usize;

    /// Whether nobody waits.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Every waiting rank in stored order, for comparison with the broker's record.
    fn ranks(&self) -> Box<dyn Iterator<Item = &Rank> + '_>;

    /// What changed in the state since the last call; it travels inside the next admit or dispatch.
    fn take_changes(&mut self) -> Vec<StateChange> {
        Vec::new()
    }

    /// Restores the state that earlier changes add up to.
    ///
    /// # Errors
    /// A description of the field that cannot be read.
    fn load(&mut self, _state: &[(String, String)]) -> Result<(), String> {
        Ok(())
    }
}

/// The policies by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PolicyKind {
    /// By submission.
    Fifo,
    /// By priority, higher first, then by submission.
    Priority,
    /// By absolute deadline; tasks without one go last.
    Edf,
    /// Weighted fair queueing per tenant (self-clocked).
    Wfq,
}

impl PolicyKind {
    /// Every policy, in the order in which results list them.
    pub const ALL: [PolicyKind; 4] = [PolicyKind::Fifo, PolicyKind::Priority, PolicyKind::Edf, PolicyKind::Wfq];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            PolicyKind::Fifo => "fifo",
            PolicyKind::Priority => "priority",
            PolicyKind::Edf => "edf",
            PolicyKind::Wfq => "wfq",
        }
    }
}

impl fmt::Display for PolicyKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for PolicyKind {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        PolicyKind::ALL
            .into_iter()
            .find(|kind| kind.name() == text)
            .ok_or_else(|| format!("`{text}` is not a policy (fifo, priority, edf, wfq)"))
    }
}

/// A policy with an empty room and no history. Only [`PolicyKind::Wfq`] looks at the weights.
pub fn build(kind: PolicyKind, weights: Weights) -> Box<dyn Policy> {
    match kind {
        PolicyKind::Fifo => Box::new(fifo::Fifo::default()),
        PolicyKind::Priority => Box::new(priority::Priority::default()),
        PolicyKind::Edf => Box::new(edf::Edf::default()),
        PolicyKind::Wfq => Box::new(wfq::Wfq::new(weights)),
    }
}
