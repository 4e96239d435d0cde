//! What becomes of an attempt that did not complete: the retry budget and the backoff, as pure functions.

use super::{Member, Micros};
use std::hash::{DefaultHasher, Hash, Hasher};

/// Why an attempt did not complete.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// The handler reported an error; spends the attempt.
    Handler(String),
    /// The attempt's lease ran out; spends the attempt.
    WorkerLost,
    /// The worker gave it back while shutting down; does not spend the attempt.
    Interrupted,
}

/// What happens next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Next {
    /// Back to pending at the same rank.
    Again(Member),
    /// Back to pending at the same rank, not before this instant.
    Later(Member, Micros),
    /// The budget is spent.
    GiveUp,
}

/// Exponential backoff: `base · 2^(attempt−1)`, at most `max`, shortened by up to `jitter` of itself.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Backoff {
    /// Zero: no backoff at all.
    pub base: Micros,
    /// Upper limit.
    pub max: Micros,
    /// Share of the delay that is drawn by lot, 0 to 1; the lot is a function of id and attempt, so that it repeats.
    pub jitter: f64,
}

impl Backoff {
    /// No backoff.
    pub const NONE: Backoff = Backoff { base: Micros::ZERO, max: Micros::ZERO, jitter: 0.0 };

    /// The delay after `attempt` of task `id` failed.
    pub fn delay(&self, id: &str, attempt: u32) -> Micros {
        if self.base <= Micros::ZERO {
            return Micros::ZERO;
        }
        let doubled = self.base * 2i64.saturating_pow(attempt.saturating_sub(1).min(62));
        let delay = doubled.min(self.max).0 as f64;
        // SipHash with fixed keys: the same on every machine of one build, which is all that spreading needs.
        let mut hasher = DefaultHasher::new();
        (id, attempt).hash(&mut hasher);
        let lot = (hasher.finish() >> 11) as f64 / (1u64 << 53) as f64;
        Micros((delay * (1.0 - self.jitter.clamp(0.0, 1.0) * lot)) as i64)
    }
}

/// How often a task may be given back by shutting-down workers before it is given up: endless interruption is capped
/// separately from the retry budget (`cases.md` 17).
pub const INTERRUPTIONS_MAX: u32 = 100;

/// Decides the fate of the attempt that `member` names, which failed at `now`.
pub fn decide(member: &Member, max_retries: u32, failure: &Failure, backoff: &Backoff, now: Micros) -> Next {
    let (attempt, interruptions) = (member.attempt(), member.interruptions());
    if *failure == Failure::Interrupted {
        return if interruptions >= INTERRUPTIONS_MAX {
            Next::GiveUp
        } else {
            Next::Again(member.with_counts(attempt, interruptions + 1))
        };
    }
    if attempt > max_retries {
        return Next::GiveUp;
    }
    let next = member.with_counts(attempt.saturating_add(1), interruptions);
    match backoff.delay(member.id(), attempt) {
        Micros::ZERO => Next::Again(next),
        delay => Next::Later(next, now + delay),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn member() -> Member {
        Member::parse("0001714521600000|----------------------|t1\u{1f}a\u{1f}3\u{1f}\u{1f}500\u{1f}1\u{1f}0").unwrap()
    }

    #[test]
    fn a_budget_of_two_retries_allows_three_attempts() {
        let mut member = member();
        for attempt in 2..=3 {
            let Next::Again(next) = decide(&member, 2, &Failure::WorkerLost, &Backoff::NONE, Micros(0)) else {
                panic!()
            };
            assert_eq!(next.attempt(), attempt);
            assert_eq!(next.tie_break(), member.tie_break());
            member = next;
        }
        assert_eq!(decide(&member, 2, &Failure::WorkerLost, &Backoff::NONE, Micros(0)), Next::GiveUp);
    }

    #[test]
    fn an_interruption_spends_no_attempt_but_is_capped() {
        let Next::Again(next) = decide(&member(), 0, &Failure::Interrupted, &Backoff::NONE, Micros(0)) else {
            panic!()
        };
        assert_eq!((next.attempt(), next.interruptions()), (1, 1));
        let worn = member().with_counts(1, INTERRUPTIONS_MAX);
        assert_eq!(decide(&worn, 9, &Failure::Interrupted, &Backoff::NONE, Micros(0)), Next::GiveUp);
    }

    #[test]
    fn backoff_doubles_up_to_its_limit_and_jitter_only_shortens() {
        let plain = Backoff { base: Micros(1_000), max: Micros(5_000), jitter: 0.0 };
        assert_eq!([1, 2, 3, 4, 90].map(|attempt| plain.delay("x", attempt).0), [1_000, 2_000, 4_000, 5_000, 5_000]);
        let spread = Backoff { jitter: 0.2, ..plain };
        for attempt in 1..50 {
            let (delay, most) = (spread.delay("x", attempt), plain.delay("x", attempt));
            assert!(delay <= most && delay.0 >= most.0 * 8 / 10 - 1, "{delay} of {most}");
        }
    }
}
