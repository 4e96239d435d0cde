//! How a new leader learns what waits: pending from the front in chunks, dispatching after the first.

use crate::broker::{Broker, BrokerResult};
use crate::model::Rank;
use crate::policy::Policy;

/// Ranks per chunk: about 13 ms of Redis time.
const CHUNK: usize = 10_000;

/// Where loading stands.
#[derive(Debug, Default)]
pub(super) struct Loading {
    after: Option<Rank>,
    complete: bool,
    /// Lower bound of loaded ranks that still wait. While this is above zero, whoever goes first in the room goes first in
    /// the record too, since everything not loaded yet ranks behind.
    credit: usize,
}

impl Loading {
    /// Whether everything has been loaded.
    pub(super) fn is_complete(&self) -> bool {
        self.complete
    }

    /// How many may be chosen now.
    pub(super) fn allowance(&self) -> usize {
        if self.complete { usize::MAX } else { self.credit }
    }

    /// That many were chosen.
    pub(super) fn chose(&mut self, count: usize) {
        self.credit = self.credit.saturating_sub(count);
    }

    /// The next chunk.
    pub(super) async fn read<B: Broker>(broker: B, after: Option<Rank>) -> BrokerResult<Vec<Rank>> {
        broker.pending_scan(after.as_ref(), CHUNK).await
    }

    /// After which rank the next chunk begins.
    pub(super) fn after(&self) -> Option<Rank> {
        self.after.clone()
    }

    /// Puts a chunk into the room.
    pub(super) fn take(&mut self, chunk: Vec<Rank>, policy: &mut dyn Policy) {
        self.complete = chunk.is_empty();
        self.credit += chunk.len();
        self.after = chunk.last().cloned().or(self.after.take());
        for rank in chunk {
            policy.insert(rank);
        }
    }
}
