//! A task's place in the policy's order.

use super::Member;
use std::cmp::Ordering;

/// (score, member): smaller goes first, equal scores by the member's bytes. Redis sorted sets order the same way.
#[derive(Debug, Clone)]
pub struct Rank {
    /// The policy's number; never NaN; +∞ sorts last.
    pub score: f64,
    /// Tie-break and scheduling header.
    pub member: Member,
}

impl Rank {
    /// A rank; a NaN score is taken for +∞, so that it sorts last instead of nowhere.
    pub fn new(score: f64, member: Member) -> Self {
        // Adding zero turns −0.0 into 0.0, which Redis does not tell apart.
        Rank { score: if score.is_nan() { f64::INFINITY } else { score + 0.0 }, member }
    }

    /// The score as Redis reads it; it gives back the same number.
    pub fn score_text(&self) -> String {
        score_text(self.score)
    }
}

/// One field of a policy's saved state; `None` as a value removes it.
pub type StateChange = (String, Option<String>);

/// A score in the shortest decimal text that gives back the same number; infinities as `inf` and `-inf`.
pub fn score_text(score: f64) -> String {
    score.to_string()
}

impl PartialEq for Rank {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Rank {}

impl PartialOrd for Rank {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Rank {
    fn cmp(&self, other: &Self) -> Ordering {
        self.score.total_cmp(&other.score).then_with(|| self.member.cmp(&other.member))
    }
}
