//! Strict priority, higher first; within one priority by submission.

use super::Policy;
use super::ranked::{RankedRoom, delegate_to_room};
use crate::model::{Micros, Rank, Task};

/// Score = 255 − priority. Low priorities starve while higher ones keep the slots busy: that is what strict means.
#[derive(Debug, Default)]
pub struct Priority {
    room: RankedRoom,
}

impl Policy for Priority {
    fn rank(&mut self, task: &Task) -> Rank {
        Rank::new(f64::from(u8::MAX - task.priority), task.member())
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
    fn higher_goes_first_and_equals_by_submission() {
        let mut policy = Priority::default();
        for (n, priority) in [(1, 0), (2, 9), (3, 255), (4, 9)] {
            let mut task = task(n);
            task.priority = priority;
            let rank = policy.rank(&task);
            assert_eq!(rank.score, f64::from(255 - u32::from(priority)));
            policy.insert(rank);
        }
        assert_eq!(drain(&mut policy), ["t3", "t2", "t4", "t1"]);
    }
}
