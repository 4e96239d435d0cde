//! A batch of ingress entries on its way to pending: dedupe, then rank, then admit, then insert.

use crate::broker::{AdmitBatch, AdmitItem};
use crate::model::outcome::Dead;
use crate::model::wire::{self, IngressEntry};
use crate::model::{EntryId, Micros, Record, Task, TaskId};
use crate::policy::Policy;
use std::collections::BTreeSet;

/// What an entry turned out to be.
#[derive(Debug)]
enum Found {
    Task(Task),
    Duplicate,
    Rejected(Box<Dead>),
}

/// The batch, which stays until the broker has confirmed it.
#[derive(Debug)]
pub(super) struct Admission {
    found: Vec<Found>,
    upto: EntryId,
}

/// What the parts of a batch are counted as.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct Tally {
    pub(super) admitted: u64,
    pub(super) duplicates: u64,
    pub(super) rejected: u64,
}

impl Admission {
    /// Reads the entries; ids that occur twice in the batch are duplicates from the second on.
    pub(super) fn read(entries: &[IngressEntry], task_bytes_max: usize, now: Micros) -> Self {
        let mut seen: BTreeSet<TaskId> = BTreeSet::new();
        let found = entries
            .iter()
            .map(|entry| match wire::read(entry, task_bytes_max, now) {
                Err(dead) => Found::Rejected(dead),
                Ok(task) if seen.insert(task.id.clone()) => Found::Task(task),
                Ok(_) => Found::Duplicate,
            })
            .collect();
        Admission { found, upto: entries.last().map_or(EntryId::ZERO, |entry| entry.id) }
    }

    /// Marks what the broker knew already.
    pub(super) fn strike(&mut self, duplicates: &[usize]) {
        for place in duplicates {
            if let Some(found) = self.found.get_mut(*place) {
                *found = Found::Duplicate;
            }
        }
    }

    /// Ranks the tasks and makes the broker's batch. The policy's admission begins here; the reply ends it.
    pub(super) fn rank(
        &self,
        policy: &mut dyn Policy,
        max_retries: u32,
        now: Micros,
        done_retention: Micros,
    ) -> AdmitBatch {
        policy.begin();
        let items = self
            .found
            .iter()
            .map(|found| match found {
                Found::Duplicate => AdmitItem::Duplicate,
                Found::Rejected(dead) => AdmitItem::Rejected(dead.clone()),
                Found::Task(task) => {
                    let (rank, record) = (policy.rank(task), Record::of(task, now, max_retries));
                    match task.not_before {
                        Some(due) if due > now => AdmitItem::Delayed { rank, record, due },
                        _ => AdmitItem::Pending { rank, record },
                    }
                }
            })
            .collect();
        AdmitBatch { items, upto: self.upto, changes: policy.take_changes(), now, done_retention }
    }

    /// What is in it.
    pub(super) fn tally(&self) -> Tally {
        let mut tally = Tally::default();
        for found in &self.found {
            match found {
                Found::Task(_) => tally.admitted += 1,
                Found::Duplicate => tally.duplicates += 1,
                Found::Rejected(_) => tally.rejected += 1,
            }
        }
        tally
    }
}
