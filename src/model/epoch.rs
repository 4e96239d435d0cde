//! The epoch of a term of leadership, and the fence rule as a pure function.

use serde::{Deserialize, Serialize};
use std::fmt;

/// The number of a term: each grant of the lease carries the next one. Zero means that no election takes place and
/// leaves the fence inert.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Epoch(pub u64);

impl Epoch {
    /// No election: the fence does nothing.
    pub const NONE: Epoch = Epoch(0);

    /// The fence rule (`lua/lib/fence.lua` is its twin): `Ok` with the fence after the write, `Err` with the fence that
    /// refuses it.
    pub fn pass(self, fence: Epoch) -> Result<Epoch, Epoch> {
        if self == Epoch::NONE {
            Ok(fence)
        } else if self < fence {
            Err(fence)
        } else {
            Ok(self)
        }
    }
}

impl fmt::Display for Epoch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lower_epoch_is_refused_and_a_higher_one_raises_the_fence() {
        assert_eq!(Epoch(3).pass(Epoch(4)), Err(Epoch(4)));
        assert_eq!(Epoch(4).pass(Epoch(4)), Ok(Epoch(4)));
        assert_eq!(Epoch(5).pass(Epoch(4)), Ok(Epoch(5)));
        assert_eq!(Epoch::NONE.pass(Epoch(4)), Ok(Epoch(4)));
    }
}
