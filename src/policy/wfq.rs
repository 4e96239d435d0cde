//! Weighted fair queueing per tenant, self-clocked (Golestani, INFOCOM 1994).

use super::Policy;
use super::ranked::{RankedRoom, delegate_to_room};
use super::weights::Weights;
use crate::model::rank::score_text;
use crate::model::{Micros, Rank, StateChange, Task};
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The state field of the virtual time.
const VIRTUAL_TIME: &str = "V";
/// Before a tenant's name: the state field of its last finish tag.
const FINISH: &str = "f:";

/// A finish tag as a key of an ordered set. Never NaN.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Tag(f64);

impl Eq for Tag {}

impl PartialOrd for Tag {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Tag {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}

/// Which tags a batch has changed, and which fields have left in [`Policy::take_changes`] since it began.
#[derive(Debug, Default)]
struct Batch {
    before: BTreeMap<Arc<str>, Option<f64>>,
    taken: BTreeSet<Option<Arc<str>>>,
}

/// Self-clocked fair queueing: `start = max(V, last finish of the tenant)`, `finish = start + cost / weight` is the score,
/// and the virtual time `V` is the largest finish tag dispatched. Costs are declared service times in µs; zero counts as
/// one. Tags are given at admission and never change, so a retry goes back to where it stood.
///
/// Two backlogged tenants never differ by more than `L_i/w_i + L_j/w_j` in dispatched cost per weight, `L` being a
/// tenant's largest task. Being idle earns nothing: a tenant whose last finish tag `V` has passed is forgotten.
#[derive(Debug)]
pub struct Wfq {
    room: RankedRoom,
    weights: Weights,
    virtual_time: f64,
    /// The last finish tag of each tenant that is ahead of `virtual_time`.
    finish: BTreeMap<Arc<str>, f64>,
    /// The same by tag, so that pruning looks only at what it takes away.
    by_finish: BTreeSet<(Tag, Arc<str>)>,
    /// Changed since the last `take_changes`: tenants, or the virtual time (`None`).
    changed: BTreeSet<Option<Arc<str>>>,
    batch: Option<Batch>,
}

impl Wfq {
    /// An empty room at virtual time zero.
    pub fn new(weights: Weights) -> Self {
        Wfq {
            room: RankedRoom::default(),
            weights,
            virtual_time: 0.0,
            finish: BTreeMap::new(),
            by_finish: BTreeSet::new(),
            changed: BTreeSet::new(),
            batch: None,
        }
    }

    /// The virtual time: the largest finish tag dispatched so far.
    pub fn virtual_time(&self) -> f64 {
        self.virtual_time
    }

    /// How many tenants are remembered.
    pub fn tenants(&self) -> usize {
        self.finish.len()
    }

    /// Sets or forgets a tenant's last finish tag; gives back the old one.
    fn set_finish(&mut self, tenant: Arc<str>, finish: Option<f64>) -> Option<f64> {
        let old = self.finish.remove(&tenant);
        if let Some(old) = old {
            self.by_finish.remove(&(Tag(old), tenant.clone()));
        }
        if let Some(finish) = finish {
            self.finish.insert(tenant.clone(), finish);
            self.by_finish.insert((Tag(finish), tenant.clone()));
        }
        self.changed.insert(Some(tenant));
        old
    }

    /// Forgets every tenant whose last finish tag `V` has passed: its next start is `V` either way.
    fn prune(&mut self) {
        while let Some((Tag(finish), tenant)) = self.by_finish.first() {
            if *finish > self.virtual_time {
                break;
            }
            let tenant = tenant.clone();
            self.set_finish(tenant, None);
        }
    }
}

impl Policy for Wfq {
    fn begin(&mut self) {
        self.batch = Some(Batch::default());
    }

    fn rank(&mut self, task: &Task) -> Rank {
        let tenant = &task.tenant.0;
        let start = self.finish.get(tenant).map_or(self.virtual_time, |finish| finish.max(self.virtual_time));
        let span = task.cost.0.max(1) as f64 / self.weights.of(tenant);
        // A weight near zero must not make a tag infinite: nothing could be ordered behind it any more.
        let finish = (start + span).min(f64::MAX);
        let old = self.set_finish(tenant.clone(), Some(finish));
        if let Some(batch) = &mut self.batch {
            batch.before.entry(tenant.clone()).or_insert(old);
        }
        Rank::new(finish, task.member())
    }

    fn commit(&mut self) {
        self.batch = None;
    }

    fn rollback(&mut self) {
        let Some(batch) = self.batch.take() else { return };
        for (tenant, before) in batch.before {
            // Dispatches since `begin` may have passed the old tag meanwhile.
            let before = before.filter(|finish| *finish > self.virtual_time);
            self.set_finish(tenant, before);
        }
        // What left with the batch was not stored.
        self.changed.extend(batch.taken);
    }

    fn next(&mut self, _now: Micros) -> Option<Rank> {
        let rank = self.room.pop()?;
        // A retry's tag may lie behind V, which never goes back; an infinite score comes from another policy's rank.
        if rank.score.is_finite() && rank.score > self.virtual_time {
            self.virtual_time = rank.score;
            self.changed.insert(None);
            self.prune();
        }
        Some(rank)
    }

    fn take_changes(&mut self) -> Vec<StateChange> {
        let changed = std::mem::take(&mut self.changed);
        if let Some(batch) = &mut self.batch {
            batch.taken.extend(changed.iter().cloned());
        }
        let change = |field: Option<Arc<str>>| match field {
            None => (VIRTUAL_TIME.to_owned(), Some(score_text(self.virtual_time))),
            Some(tenant) => (format!("{FINISH}{tenant}"), self.finish.get(&tenant).copied().map(score_text)),
        };
        changed.into_iter().map(change).collect()
    }

    /// Fields that are neither `V` nor `f:…` belong to other policies and are left alone.
    fn load(&mut self, state: &[(String, String)]) -> Result<(), String> {
        let number = |field: &str, text: &str| match text.parse::<f64>() {
            Ok(number) if number.is_finite() && number >= 0.0 => Ok(number),
            _ => Err(format!("policy state: field `{field}` holds `{text}`, not a finite number from 0")),
        };
        let mut virtual_time = 0.0;
        let mut finish = Vec::new();
        for (field, text) in state {
            if field == VIRTUAL_TIME {
                virtual_time = number(field, text)?;
            } else if let Some(tenant) = field.strip_prefix(FINISH) {
                finish.push((Arc::from(tenant), number(field, text)?));
            }
        }
        self.virtual_time = virtual_time;
        self.finish.clear();
        self.by_finish.clear();
        self.batch = None;
        for (tenant, finish) in finish {
            self.set_finish(tenant, Some(finish));
        }
        self.changed.clear();
        // What the record still holds of tenants that V has passed is removed with the next change.
        self.prune();
        Ok(())
    }

    delegate_to_room!();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::samples::{drain, task_of};

    fn weighted(weights: &[(&str, f64)]) -> Wfq {
        let by_tenant = weights.iter().map(|(tenant, weight)| ((*tenant).to_owned(), *weight)).collect();
        Wfq::new(Weights { by_tenant, default: 1.0 })
    }

    fn admit(wfq: &mut Wfq, n: u64, tenant: &str, cost: i64) -> f64 {
        let rank = wfq.rank(&task_of(n, tenant, cost));
        wfq.insert(rank.clone());
        rank.score
    }

    fn saved(wfq: &mut Wfq, into: &mut BTreeMap<String, String>) {
        for (field, value) in wfq.take_changes() {
            match value {
                Some(value) => into.insert(field, value),
                None => into.remove(&field),
            };
        }
    }

    #[test]
    fn tags_are_start_plus_cost_over_weight_and_dispatch_moves_the_clock() {
        let mut wfq = weighted(&[("a", 2.0)]);
        assert_eq!(admit(&mut wfq, 1, "a", 10), 5.0);
        assert_eq!(admit(&mut wfq, 2, "a", 10), 10.0);
        assert_eq!(admit(&mut wfq, 3, "b", 7), 7.0);
        assert_eq!(admit(&mut wfq, 4, "b", 0), 8.0, "zero cost counts as one µs");
        assert_eq!(wfq.virtual_time(), 0.0, "ranking must not move the clock");
        wfq.next(Micros::ZERO);
        wfq.next(Micros::ZERO);
        assert_eq!(wfq.virtual_time(), 7.0);
        assert_eq!(admit(&mut wfq, 5, "c", 1), 8.0, "a newcomer starts at V");
        assert_eq!(drain(&mut wfq), ["t4", "t5", "t2"]);
        assert_eq!(wfq.tenants(), 0, "everybody the clock has passed is forgotten");
    }

    #[test]
    fn state_travels_as_changes_that_round_trip_exactly() {
        let mut wfq = weighted(&[("a", 3.0), ("c", 0.7)]);
        let mut record = BTreeMap::new();
        for n in 0..9 {
            admit(&mut wfq, n, ["a", "b", "c"][n as usize % 3], 1_000 + n as i64);
        }
        wfq.next(Micros::ZERO);
        saved(&mut wfq, &mut record);
        assert!(wfq.take_changes().is_empty(), "only what changed since the last call");
        for _ in 0..5 {
            wfq.next(Micros::ZERO);
        }
        saved(&mut wfq, &mut record);
        let mut other = weighted(&[("a", 3.0), ("c", 0.7)]);
        other.load(&record.into_iter().collect::<Vec<_>>()).unwrap();
        assert_eq!((other.virtual_time, &other.finish), (wfq.virtual_time, &wfq.finish));
        assert!(other.take_changes().is_empty());
    }

    #[test]
    fn pruned_tenants_leave_the_record() {
        let mut wfq = weighted(&[]);
        let mut record = BTreeMap::new();
        admit(&mut wfq, 1, "a", 1);
        admit(&mut wfq, 2, "b", 5);
        saved(&mut wfq, &mut record);
        assert_eq!(record.keys().collect::<Vec<_>>(), ["f:a", "f:b"]);
        wfq.next(Micros::ZERO);
        saved(&mut wfq, &mut record);
        assert_eq!(record.keys().collect::<Vec<_>>(), ["V", "f:b"]);
        record.insert("f:stale".into(), "0.5".into());
        wfq.load(&record.clone().into_iter().collect::<Vec<_>>()).unwrap();
        saved(&mut wfq, &mut record);
        assert_eq!(record.keys().collect::<Vec<_>>(), ["V", "f:b"], "a field that V has passed is cleared on load");
    }

    #[test]
    fn rollback_restores_the_tags_keeps_the_clock_and_repeats_what_was_taken() {
        let mut wfq = weighted(&[]);
        let mut record = BTreeMap::new();
        admit(&mut wfq, 1, "a", 10);
        admit(&mut wfq, 2, "b", 15);
        saved(&mut wfq, &mut record);
        wfq.begin();
        wfq.next(Micros::ZERO);
        assert_eq!(wfq.rank(&task_of(3, "a", 10)).score, 20.0);
        assert_eq!(wfq.rank(&task_of(4, "b", 10)).score, 25.0);
        assert_eq!(wfq.rank(&task_of(5, "c", 10)).score, 20.0);
        let lost = wfq.take_changes();
        assert_eq!(lost.len(), 4, "{lost:?}");
        wfq.rollback();
        saved(&mut wfq, &mut record);
        let expected = [("V", "10"), ("f:b", "15")].map(|(field, value)| (field.to_owned(), value.to_owned()));
        assert_eq!(record, expected.into());
        assert_eq!(wfq.rank(&task_of(6, "a", 1)).score, 11.0);
        wfq.rollback();
        assert_eq!(wfq.rank(&task_of(7, "a", 1)).score, 12.0, "rollback without begin does nothing");
    }

    #[test]
    fn scores_that_wfq_did_not_give_do_no_harm() {
        let mut wfq = weighted(&[("tiny", f64::MIN_POSITIVE)]);
        admit(&mut wfq, 1, "a", 100);
        wfq.next(Micros::ZERO);
        wfq.insert(Rank::new(40.0, task_of(2, "a", 1).member()));
        wfq.insert(Rank::new(f64::INFINITY, task_of(3, "a", 1).member()));
        wfq.insert(Rank::new(f64::NEG_INFINITY, task_of(4, "a", 1).member()));
        assert_eq!(drain(&mut wfq), ["t4", "t2", "t3"]);
        assert_eq!(wfq.virtual_time(), 100.0, "neither a late retry nor an infinite score moves the clock");
        assert!(admit(&mut wfq, 5, "tiny", i64::MAX).is_finite());
    }

    #[test]
    fn garbage_in_the_record_names_its_field() {
        for (field, text) in [("V", "soon"), ("V", "NaN"), ("f:a", "-1"), ("f:a", ""), ("f:", "inf")] {
            let mut wfq = weighted(&[]);
            let error = wfq.load(&[("other".into(), "x".into()), (field.into(), text.into())]).unwrap_err();
            assert!(error.contains(&format!("`{field}`")) && error.contains(&format!("`{text}`")), "{error}");
        }
    }
}
