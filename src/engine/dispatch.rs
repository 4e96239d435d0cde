//! The choice of who goes next, and what the broker's answer does to the room.

use super::loading::Loading;
use crate::broker::{DispatchBatch, Dispatched};
use crate::model::Micros;
use crate::policy::Policy;

/// Tasks in flight as the leader knows them: never below the truth, since only the leader adds and news of ends come late.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct InFlight {
    dispatched_total: u64,
    freed_total: u64,
}

impl InFlight {
    /// Counts from the broker; both only grow.
    pub(super) fn learn(&mut self, dispatched_total: u64, freed_total: u64) {
        self.dispatched_total = self.dispatched_total.max(dispatched_total);
        self.freed_total = self.freed_total.max(freed_total);
    }

    pub(super) fn freed_total(&self) -> u64 {
        self.freed_total
    }

    pub(super) fn count(&self) -> u64 {
        self.dispatched_total.saturating_sub(self.freed_total)
    }
}

/// Chooses up to `batch` tasks within the window; `None` if there is nothing to ask the broker for. With `collect`, something
/// may have been returned that ranks before everything in the room: it is fetched first and nobody is chosen yet.
pub(super) fn choose(
    policy: &mut dyn Policy,
    loading: &mut Loading,
    in_flight: InFlight,
    window: Option<u64>,
    batch: usize,
    collect: bool,
    now: Micros,
) -> Option<DispatchBatch> {
    let free = window.map_or(usize::MAX, |window| window.saturating_sub(in_flight.count()) as usize);
    let most = if collect { 0 } else { free.min(batch).min(loading.allowance()) };
    let mut chosen = Vec::with_capacity(most.min(policy.len()));
    while chosen.len() < most {
        let Some(rank) = policy.next(now) else { break };
        chosen.push(rank);
    }
    loading.chose(chosen.len());
    if chosen.is_empty() && !collect {
        return None;
    }
    Some(DispatchBatch { chosen, window, changes: policy.take_changes(), now })
}

/// Puts back what did not fit and takes in what was returned.
pub(super) fn settle(policy: &mut dyn Policy, in_flight: &mut InFlight, batch: &DispatchBatch, reply: Dispatched) {
    in_flight.learn(reply.dispatched_total, reply.freed_total);
    for rank in &batch.chosen[reply.considered.min(batch.chosen.len())..] {
        policy.insert(rank.clone());
    }
    for rank in reply.returned {
        policy.insert(rank);
    }
}
