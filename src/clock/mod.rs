//! The only source of time: now, sleep, timeout and interval, exact to the microsecond in real and in virtual time.
//!
//! `tokio::time` counts whole milliseconds, rounded up, so nothing outside this module may name it. Real time sleeps on
//! an async-io timer; virtual time is tokio's paused clock with one tokio millisecond standing for one microsecond.

mod real;
mod virtual_time;

use crate::model::Micros;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

pub use real::lower_timer_slack;
pub use virtual_time::VIRTUAL_EPOCH;

/// A clock; clones share it.
#[derive(Debug, Clone)]
pub struct Clock {
    source: Source,
    /// What has been measured to the broker's clock, or, in a simulation, how wrong this process's clock is.
    offset: Arc<AtomicI64>,
}

#[derive(Debug, Clone)]
enum Source {
    Real(real::RealClock),
    Virtual(virtual_time::VirtualClock),
}

/// The time ran out first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("timed out")]
pub struct TimedOut;

impl Clock {
    /// Real time: the monotonic clock, set to the wall clock at this moment.
    pub fn real() -> Self {
        Clock { source: Source::Real(real::RealClock::start()), offset: Arc::default() }
    }

    /// Virtual time from [`VIRTUAL_EPOCH`]; must be called inside a paused current-thread tokio runtime (see
    /// [`Clock::run_virtual`]).
    fn virtual_time() -> Self {
        Clock { source: Source::Virtual(virtual_time::VirtualClock::start()), offset: Arc::default() }
    }

    /// Runs a future to its end in virtual time, on this thread: whenever everybody waits, time jumps to the next timer.
    ///
    /// # Panics
    /// Inside another tokio runtime.
    pub fn run_virtual<T, F: Future<Output = T>>(body: impl FnOnce(Clock) -> F) -> T {
        virtual_time::runtime().block_on(async { body(Clock::virtual_time()).await })
    }

    /// Whether this is virtual time.
    pub fn is_virtual(&self) -> bool {
        matches!(self.source, Source::Virtual(_))
    }

    /// The present instant, offset included.
    pub fn now(&self) -> Micros {
        self.raw() + self.offset()
    }

    /// The present instant by this process's own clock, offset excluded.
    pub fn raw(&self) -> Micros {
        match &self.source {
            Source::Real(clock) => clock.now(),
            Source::Virtual(clock) => clock.now(),
        }
    }

    /// The offset in force.
    pub fn offset(&self) -> Micros {
        Micros(self.offset.load(Ordering::Relaxed))
    }

    /// Sets the offset that [`Clock::now`] adds, for every clone.
    pub fn set_offset(&self, offset: Micros) {
        self.offset.store(offset.0, Ordering::Relaxed);
    }

    /// The same source of time with an offset of its own, which starts as `offset`.
    pub fn with_offset(&self, offset: Micros) -> Clock {
        Clock { source: self.source.clone(), offset: Arc::new(AtomicI64::new(offset.0)) }
    }

    /// Waits for `span`; an empty or negative one does not wait.
    pub async fn sleep(&self, span: Micros) {
        if span <= Micros::ZERO {
            return;
        }
        match &self.source {
            Source::Real(clock) => clock.sleep(span).await,
            Source::Virtual(clock) => clock.sleep(span).await,
        }
    }

    /// Waits until `instant` by this clock.
    pub async fn sleep_until(&self, instant: Micros) {
        self.sleep(instant - self.now()).await;
    }

    /// Runs `future` for at most `span`.
    ///
    /// # Errors
    /// [`TimedOut`] when `span` has passed first; the future is dropped then.
    pub async fn timeout<T>(&self, span: Micros, future: impl Future<Output = T>) -> Result<T, TimedOut> {
        tokio::select! {
            biased;
            value = future => Ok(value),
            () = self.sleep(span) => Err(TimedOut),
        }
    }

    /// A beat every `period`, the first one after one period.
    pub fn interval(&self, period: Micros) -> Interval {
        Interval { clock: self.clone(), period, next: self.raw() + period }
    }
}

/// See [`Clock::interval`]. Missed beats are dropped, not made up for.
#[derive(Debug)]
pub struct Interval {
    clock: Clock,
    period: Micros,
    next: Micros,
}

impl Interval {
    /// Waits for the next beat. Cancel-safe.
    pub async fn tick(&mut self) {
        let left = self.next - self.clock.raw();
        self.clock.sleep(left).await;
        let now = self.clock.raw();
        self.next += self.period;
        if self.next <= now {
            self.next = now + self.period;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn virtual_time_is_exact_to_the_microsecond() {
        Clock::run_virtual(async |clock| {
            assert_eq!(clock.now(), VIRTUAL_EPOCH);
            for span in [1, 50, 1_001, 999_999, 7_200_000_000] {
                let before = clock.now();
                clock.sleep(Micros(span)).await;
                assert_eq!(clock.now() - before, Micros(span));
            }
        });
    }

    #[test]
    fn virtual_sleeps_longer_than_a_timer_wheel_are_exact() {
        let days = Micros::from_secs(86_400 * 40);
        let after = Clock::run_virtual(async |clock| {
            clock.sleep(days).await;
            clock.now()
        });
        assert_eq!(after, VIRTUAL_EPOCH + days);
    }

    #[test]
    fn a_timeout_prefers_the_value_and_an_interval_does_not_drift() {
        Clock::run_virtual(async |clock| {
            assert_eq!(clock.timeout(Micros(5), clock.sleep(Micros(5))).await, Ok(()));
            assert_eq!(clock.timeout(Micros(5), clock.sleep(Micros(6))).await, Err(TimedOut));
            let start = clock.now();
            let mut beat = clock.interval(Micros(100));
            for n in 1..=10 {
                clock.sleep(Micros(7)).await;
                beat.tick().await;
                assert_eq!(clock.now() - start, Micros(100 * n));
            }
        });
    }

    #[test]
    fn an_offset_moves_now_for_every_clone_but_not_the_source() {
        let clock = Clock::real();
        let other = clock.with_offset(Micros::ZERO);
        let same = clock.clone();
        same.set_offset(Micros::from_secs(3_600));
        assert!(clock.now() - other.now() > Micros::from_secs(3_599));
    }
}
