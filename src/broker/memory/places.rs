//! The containers that hold tasks: streams with growing ids, a sorted set, the finished ids, and a consumer group.

use crate::model::outcome::Delivery;
use crate::model::{EntryId, Member, Micros, Rank, TaskId};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::Bound;

/// A stream: entries under ids that never go backwards.
#[derive(Debug)]
pub(super) struct Stream<T> {
    pub(super) entries: BTreeMap<EntryId, T>,
    last: EntryId,
}

impl<T> Default for Stream<T> {
    fn default() -> Self {
        Stream { entries: BTreeMap::new(), last: EntryId::ZERO }
    }
}

impl<T> Stream<T> {
    /// Appends at `now`; if the clock stands still or went back, the sequence number grows instead.
    pub(super) fn push(&mut self, now: Micros, value: T) -> EntryId {
        self.last = next_id(self.last, now);
        self.entries.insert(self.last, value);
        self.last
    }

    /// Drops every entry; ids go on growing.
    pub(super) fn emptied(&self) -> Self {
        Stream { entries: BTreeMap::new(), last: self.last }
    }

    pub(super) fn after(&self, after: EntryId) -> impl Iterator<Item = (&EntryId, &T)> {
        self.entries.range((Bound::Excluded(after), Bound::Unbounded))
    }

    /// Drops everything below `id`.
    pub(super) fn trim_below(&mut self, id: EntryId) {
        while let Some(entry) = self.entries.first_entry() {
            if *entry.key() >= id {
                break;
            }
            entry.remove();
        }
    }
}

/// The id that a stream gives out at `now` after `last`.
fn next_id(last: EntryId, now: Micros) -> EntryId {
    let ms = u64::try_from(now.as_millis()).unwrap_or(0);
    if ms > last.ms { EntryId::new(ms, 0) } else { last.next() }
}

/// A sorted set of members: one place for each member, whatever its score.
#[derive(Debug, Default)]
pub(super) struct Pending {
    scores: BTreeMap<Member, f64>,
    order: BTreeSet<Rank>,
}

impl Pending {
    pub(super) fn insert(&mut self, rank: Rank) {
        self.remove(&rank.member);
        self.scores.insert(rank.member.clone(), rank.score);
        self.order.insert(rank);
    }

    pub(super) fn remove(&mut self, member: &Member) -> bool {
        let Some((member, score)) = self.scores.remove_entry(member) else { return false };
        self.order.remove(&Rank { score, member })
    }

    pub(super) fn len(&self) -> usize {
        self.order.len()
    }

    pub(super) fn after(&self, after: Option<&Rank>) -> impl Iterator<Item = &Rank> {
        let from = after.map_or(Bound::Unbounded, Bound::Excluded);
        self.order.range::<Rank, _>((from, Bound::Unbounded))
    }
}

/// Members that wait for an instant, then go to pending at their rank.
#[derive(Debug, Default)]
pub(super) struct Delayed {
    dues: BTreeMap<Member, (Micros, f64)>,
    order: BTreeSet<(Micros, Member)>,
}

impl Delayed {
    pub(super) fn insert(&mut self, rank: Rank, due: Micros) {
        if let Some((old, _)) = self.dues.insert(rank.member.clone(), (due, rank.score)) {
            self.order.remove(&(old, rank.member.clone()));
        }
        self.order.insert((due, rank.member));
    }

    pub(super) fn pop_due(&mut self, now: Micros) -> Option<Rank> {
        if self.next_due()? > now {
            return None;
        }
        let (_, member) = self.order.pop_first()?;
        let (_, score) = self.dues.remove(&member)?;
        Some(Rank { score, member })
    }

    pub(super) fn next_due(&self) -> Option<Micros> {
        self.order.first().map(|(due, _)| *due)
    }

    pub(super) fn len(&self) -> usize {
        self.order.len()
    }
}

/// Finished ids in buckets by period; the current and the previous one count.
#[derive(Debug, Default)]
pub(super) struct Done {
    buckets: BTreeMap<i64, BTreeSet<TaskId>>,
}

impl Done {
    /// The period of `now`; with no retention there is one period for ever.
    fn period(now: Micros, retention: Micros) -> i64 {
        if retention <= Micros::ZERO { 0 } else { now.0.div_euclid(retention.0) }
    }

    pub(super) fn contains(&self, id: &str, now: Micros, retention: Micros) -> bool {
        let period = Self::period(now, retention);
        [period, period - 1].iter().any(|period| self.buckets.get(period).is_some_and(|ids| ids.contains(id)))
    }

    /// Whether it was not remembered yet.
    pub(super) fn insert(&mut self, id: TaskId, now: Micros, retention: Micros) -> bool {
        let new = !self.contains(id.as_str(), now, retention);
        self.buckets.entry(Self::period(now, retention)).or_default().insert(id);
        new
    }

    pub(super) fn forget(&mut self, id: &str) {
        for ids in self.buckets.values_mut() {
            ids.remove(id);
        }
    }

    pub(super) fn housekeep(&mut self, now: Micros, retention: Micros) {
        if retention > Micros::ZERO {
            self.buckets = self.buckets.split_off(&(Self::period(now, retention) - 1));
        }
    }
}

/// A delivery that somebody holds.
#[derive(Debug)]
pub(super) struct Held {
    pub(super) delivery: Delivery,
    pub(super) worker: String,
    /// When its attempt lease was last renewed, by the store's clock.
    pub(super) touched: Micros,
}

/// The execution stream and its one group: what nobody has taken yet, and what somebody holds.
#[derive(Debug, Default)]
pub(super) struct Execution {
    pub(super) waiting: VecDeque<Delivery>,
    pub(super) held: BTreeMap<EntryId, Held>,
    last: EntryId,
}

impl Execution {
    /// Appends what `make` makes of the new entry's id.
    pub(super) fn push(&mut self, now: Micros, make: impl FnOnce(EntryId) -> Delivery) {
        self.last = next_id(self.last, now);
        self.waiting.push_back(make(self.last));
    }

    /// Nothing in it; ids go on growing.
    pub(super) fn emptied(&self) -> Self {
        Execution { last: self.last, ..Execution::default() }
    }

    /// Takes up to `count` deliveries for `worker`.
    pub(super) fn take(&mut self, worker: &str, count: usize, now: Micros) -> Vec<Delivery> {
        let taken: Vec<Delivery> = self.waiting.drain(..count.min(self.waiting.len())).collect();
        for delivery in &taken {
            self.hold(delivery.clone(), worker, now);
        }
        taken
    }

    pub(super) fn hold(&mut self, delivery: Delivery, worker: &str, now: Micros) {
        self.held.insert(delivery.entry, Held { delivery, worker: worker.to_owned(), touched: now });
    }

    pub(super) fn len(&self) -> u64 {
        (self.waiting.len() + self.held.len()) as u64
    }
}
