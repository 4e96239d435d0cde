//! What workers and recovery do: take, complete, retry, extend.

use super::store::Store;
use crate::broker::{Completed, Fate, Retried, Retry, Source, WorkerBeat, WorkerSeen};
use crate::model::outcome::{Completion, Delivery};
use crate::model::wire::{self, IngressEntry};
use crate::model::{EntryId, Epoch, Micros, Rank, Record, TaskId};

/// Largest task that the control arm takes; it has no scheduler whose limit could apply.
const TASK_BYTES_MAX: usize = 1 << 20;

impl Store {
    pub(super) fn take(&mut self, source: Source, worker: &str, count: usize, now: Micros) -> Vec<Delivery> {
        match source {
            Source::Execution => self.execution.take(worker, count, now),
            Source::Ingress => self.take_ingress(worker, count, now),
        }
    }

    /// The control arm: arrival order, no admission. What cannot be read goes to the dead letters.
    fn take_ingress(&mut self, worker: &str, count: usize, now: Micros) -> Vec<Delivery> {
        let entries: Vec<IngressEntry> = self
            .ingress
            .after(self.ingress_read_upto)
            .take(count)
            .map(|(id, task)| IngressEntry { id: *id, task: task.clone() })
            .collect();
        let mut taken = Vec::with_capacity(entries.len());
        for entry in entries {
            self.ingress_read_upto = entry.id;
            match wire::read(&entry, TASK_BYTES_MAX, now) {
                Ok(task) => {
                    let rank = Rank::new(0.0, task.member());
                    let record = Record::of(&task, now, 0);
                    let delivery = Delivery { entry: entry.id, rank, record, dispatched: now, epoch: Epoch::NONE };
                    self.ingress_group.hold(delivery.clone(), worker, now);
                    taken.push(delivery);
                }
                Err(dead) => {
                    self.count("rejected", 1);
                    self.dead.push(now, *dead);
                    self.ingress.entries.remove(&entry.id);
                }
            }
        }
        taken
    }

    /// Whether this completion is the first of its task.
    fn is_first(&mut self, source: Source, id: &str, now: Micros) -> bool {
        match source {
            Source::Execution => match self.tasks.remove_entry(id) {
                Some((id, _)) => {
                    self.done.insert(id, now, self.done_retention);
                    true
                }
                None => false,
            },
            Source::Ingress => self.done.insert(TaskId::from(id), now, self.done_retention),
        }
    }

    pub(super) fn complete(&mut self, source: Source, batch: &[Completion], now: Micros, stamp: Micros) -> Completed {
        let mut duplicates = Vec::new();
        let mut recorded = Vec::new();
        let mut freed = 0;
        for (place, completion) in batch.iter().enumerate() {
            let delivery = &completion.delivery;
            if self.is_first(source, delivery.member().id(), now) {
                self.account(completion);
                recorded.push(completion.result());
            } else {
                self.count("duplicate_completions", 1);
                duplicates.push(place);
            }
            freed += u64::from(match source {
                Source::Execution => self.execution.held.remove(&delivery.entry).is_some(),
                Source::Ingress => {
                    self.ingress.entries.remove(&delivery.entry);
                    self.ingress_group.held.remove(&delivery.entry);
                    // Nothing was dispatched in the control arm, so nothing is freed.
                    false
                }
            });
        }
        if !recorded.is_empty() {
            self.results.push(stamp, recorded);
        }
        self.free(freed);
        Completed { duplicates }
    }

    pub(super) fn retry(&mut self, batch: &[Retry], now: Micros, stamp: Micros) -> Retried {
        let mut stale = Vec::new();
        for (place, retry) in batch.iter().enumerate() {
            let idle = self.execution.held.get(&retry.entry).map(|held| stamp.since(held.touched));
            if idle.is_none_or(|idle| retry.min_idle.is_some_and(|least| idle < least)) {
                stale.push(place);
                continue;
            }
            self.execution.held.remove(&retry.entry);
            self.free(1);
            if self.tasks.contains_key(&retry.id) {
                self.settle(retry, now, stamp);
            }
        }
        Retried { stale }
    }

    /// Carries out the fate of a live attempt of an unfinished task.
    fn settle(&mut self, retry: &Retry, now: Micros, stamp: Micros) {
        self.count("handler_failed", u64::from(retry.handler_failed));
        let again = if retry.spent { "retried" } else { "interrupted" };
        match &retry.fate {
            Fate::Pending(rank) => {
                self.count(again, 1);
                self.pending.insert(rank.clone());
                self.returned.push(rank.clone());
                self.wake.returned += 1;
            }
            Fate::Delayed(rank, due) => {
                self.count(again, 1);
                self.delayed.insert(rank.clone(), *due);
                self.wake.returned += 1;
            }
            Fate::Dead(dead) => {
                self.count("dead", 1);
                self.tasks.remove(&retry.id);
                self.done.insert(retry.id.clone(), now, self.done_retention);
                self.dead.push(stamp, (**dead).clone());
            }
        }
    }

    pub(super) fn extend(
        &mut self,
        beat: &WorkerBeat,
        attempts: &[EntryId],
        now: Micros,
        stamp: Micros,
    ) -> Vec<EntryId> {
        let seen = WorkerSeen { beat: beat.clone(), seen_us: now };
        let before = self.workers.insert(beat.worker.clone(), seen);
        if before.is_none_or(|before| before.beat.slots != beat.slots) {
            self.wake.workers += 1;
        }
        let mut lost = Vec::new();
        for entry in attempts {
            match self.execution.held.get_mut(entry).filter(|held| held.worker == beat.worker) {
                Some(held) => held.touched = stamp,
                None => lost.push(*entry),
            }
        }
        lost
    }

    pub(super) fn leave(&mut self, worker: &str) {
        if self.workers.remove(worker).is_some() {
            self.wake.workers += 1;
        }
    }

    pub(super) fn expired(&self, min_idle: Micros, count: usize, stamp: Micros) -> Vec<(Delivery, String)> {
        let idle = self.execution.held.values().filter(|held| stamp.since(held.touched) >= min_idle);
        idle.take(count).map(|held| (held.delivery.clone(), held.worker.clone())).collect()
    }
}
