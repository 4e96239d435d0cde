//! What is kept and shown: counts, results, dead letters, retention.

use super::store::Store;
use crate::broker::{DeadEntry, ResultEntry, Snapshot};
use crate::model::{EntryId, Micros};

impl Store {
    pub(super) fn housekeep(
        &mut self,
        now: Micros,
        results_retention: Micros,
        done_retention: Micros,
        worker_silence: Micros,
    ) {
        if results_retention > Micros::ZERO {
            let oldest = u64::try_from((now - results_retention).as_millis()).unwrap_or(0);
            self.results.trim_below(EntryId::new(oldest, 0));
        }
        self.done.housekeep(now, done_retention);
        let before = self.workers.len();
        self.workers.retain(|_, seen| now - seen.seen_us <= worker_silence);
        self.wake.workers += u64::from(self.workers.len() < before);
    }

    pub(super) fn snapshot(&self, stamp: Micros) -> Snapshot {
        let leader = self.leader.as_ref().filter(|leader| leader.expiry > stamp);
        Snapshot {
            leader: leader.map(|leader| leader.owner.clone()),
            epoch: self.epoch,
            fence: self.fence,
            lease_left_us: leader.map_or(Micros::ZERO, |leader| leader.expiry - stamp),
            ingress: self.ingress.entries.len() as u64,
            pending: self.pending.len() as u64,
            delayed: self.delayed.len() as u64,
            unfinished: self.tasks.len() as u64,
            in_flight: self.in_flight(),
            in_flight_counted: self.execution.len(),
            execution_entries: self.execution.len(),
            returned: self.returned.len() as u64,
            dead: self.dead.entries.len() as u64,
            counters: self.counters.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect(),
            tenants: self.tenants.clone(),
            workers: self.workers.values().cloned().collect(),
        }
    }

    pub(super) fn results(&self, after: EntryId, count: usize) -> Vec<ResultEntry> {
        let mut found = Vec::new();
        for (entry, results) in self.results.after(after) {
            if found.len() >= count {
                break;
            }
            found.extend(results.iter().map(|result| ResultEntry { entry: *entry, result: result.clone() }));
        }
        found
    }

    pub(super) fn dead(&self, after: EntryId, count: usize) -> Vec<DeadEntry> {
        let entry = |(entry, dead): (&EntryId, &crate::model::outcome::Dead)| DeadEntry {
            entry: *entry,
            letter: dead.letter.clone(),
            raw: dead.raw.clone(),
        };
        self.dead.after(after).take(count).map(entry).collect()
    }

    pub(super) fn dead_take(&mut self, entries: &[EntryId], requeue: bool, stamp: Micros) -> u64 {
        let mut taken = 0;
        for entry in entries {
            let Some(dead) = self.dead.entries.remove(entry) else { continue };
            taken += 1;
            if requeue {
                self.done.forget(&dead.letter.id);
                self.ingress.push(stamp, Some(dead.raw));
            }
        }
        taken
    }
}
