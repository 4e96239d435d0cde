//! Earliest deadline first; tasks without a deadline go last.

use super::Policy;
use super::ranked::{RankedRoom, delegate_to_room};
use crate::model::{Micros, Rank, Task};

/// Score = absolute deadline in µs, +∞ where there is none (Liu & Layland 1973). Expired tasks are not dropped, so overload
/// makes it miss nearly everything (Locke 1986).
#[derive(Debug, Default)]
pub struct Edf {
    room: RankedRoom,
}

impl Policy for Edf {
    fn rank(&mut self, task: &Task) -> Rank {
        Rank::new(task.deadline.map_or(f64::INFINITY, |deadline| deadline.0 as f64), task.member())
    }

    fn next(&mut self, _now: Micros) -> Option<Rank> {
        self.room.pop()
    }

    delegate_to_room!();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::samples::{drain, task};

    #[test]
    fn the_nearest_deadline_goes_first_and_none_goes_last() {
        let mut policy = Edf::default();
        for (n, deadline) in [(1, None), (2, Some(900)), (3, Some(-5)), (4, Some(900)), (5, None)] {
            let mut task = task(n);
            task.deadline = deadline.map(Micros);
            let rank = policy.rank(&task);
            policy.insert(rank);
        }
        assert_eq!(drain(&mut policy), ["t3", "t2", "t4", "t1", "t5"]);
    }
}
