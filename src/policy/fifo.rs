//! First in, first out: by submission.

use super::Policy;
use super::ranked::{RankedRoom, delegate_to_room};
use crate::model::{Micros, Rank, Task};

/// Score = submission instant in µs (exact up to 2^53), so a task that reaches ingress late still goes by its intended
/// arrival.
#[derive(Debug, Default)]
pub struct Fifo {
    room: RankedRoom,
}

impl Policy for Fifo {
    fn rank(&mut self, task: &Task) -> Rank {
        Rank::new(task.submitted.0 as f64, task.member())
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
    fn goes_by_submission_then_by_arrival() {
        let mut policy = Fifo::default();
        let mut late = task(1);
        late.submitted += Micros(1);
        for task in [late, task(3), task(2)] {
            let rank = policy.rank(&task);
            policy.insert(rank);
        }
        assert_eq!(drain(&mut policy), ["t2", "t3", "t1"]);
    }
}
