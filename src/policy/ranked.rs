//! The static order that every policy here shares: a set of ranks, smallest first.

use crate::model::Rank;
use std::collections::BTreeSet;

/// A waiting room whose order is the order of the ranks, which is also the order of the sorted set that records it.
#[derive(Debug, Clone, Default)]
pub struct RankedRoom(BTreeSet<Rank>);

impl RankedRoom {
    /// Puts a rank in; doing so again changes nothing.
    pub fn insert(&mut self, rank: Rank) {
        self.0.insert(rank);
    }

    /// Takes out the smallest rank.
    pub fn pop(&mut self) -> Option<Rank> {
        self.0.pop_first()
    }

    /// Takes out one rank; whether it was there.
    pub fn remove(&mut self, rank: &Rank) -> bool {
        self.0.remove(rank)
    }

    /// How many wait.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether nobody waits.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Every rank, smallest first.
    pub fn iter(&self) -> impl Iterator<Item = &Rank> {
        self.0.iter()
    }
}

/// The part of [`Policy`](super::Policy) that a policy with a field `room: RankedRoom` has in common with the others.
macro_rules! delegate_to_room {
    () => {
        fn insert(&mut self, rank: $crate::model::Rank) {
            self.room.insert(rank);
        }

        fn remove(&mut self, rank: &$crate::model::Rank) -> bool {
            self.room.remove(rank)
        }

        fn len(&self) -> usize {
            self.room.len()
        }

        fn ranks(&self) -> Box<dyn Iterator<Item = &$crate::model::Rank> + '_> {
            Box::new(self.room.iter())
        }
    };
}
pub(super) use delegate_to_room;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::samples::task;

    #[test]
    fn equal_scores_go_by_the_member_and_infinity_goes_last() {
        let rank = |score, n| Rank::new(score, task(n).member());
        let mut room = RankedRoom::default();
        for rank in [rank(f64::INFINITY, 0), rank(2.0, 3), rank(2.0, 1), rank(-1.0, 9), rank(2.0, 2)] {
            room.insert(rank.clone());
            room.insert(rank);
        }
        assert_eq!(room.len(), 5, "inserting twice must change nothing");
        assert!(room.remove(&rank(2.0, 2)));
        assert!(!room.remove(&rank(2.0, 2)));
        let order: Vec<_> = std::iter::from_fn(|| room.pop()).collect();
        assert_eq!(order, [rank(-1.0, 9), rank(2.0, 1), rank(2.0, 3), rank(f64::INFINITY, 0)]);
    }
}
