//! The one time unit inside tq: integer microseconds, for instants (since the Unix epoch) and for spans.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Mul, Neg, Sub};
use std::time::Duration;

/// Microseconds: an instant since the Unix epoch by the broker's clock, or a span between two instants.
///
/// Signed, so that differences such as lateness may be negative. Arithmetic saturates: a hostile deadline cannot
/// overflow.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Micros(pub i64);

impl Micros {
    /// The empty span.
    pub const ZERO: Micros = Micros(0);
    /// The largest value.
    pub const MAX: Micros = Micros(i64::MAX);

    /// A span of `ms` milliseconds.
    pub const fn from_millis(ms: i64) -> Self {
        Micros(ms.saturating_mul(1_000))
    }

    /// A span of `s` seconds.
    pub const fn from_secs(s: i64) -> Self {
        Micros(s.saturating_mul(1_000_000))
    }

    /// A span of `s` seconds, rounded to the nearest microsecond; not-a-number becomes zero.
    pub fn from_secs_f64(s: f64) -> Self {
        Micros((s * 1e6).round() as i64)
    }

    /// The value in seconds.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e6
    }

    /// The value in whole milliseconds, rounded towards zero.
    pub const fn as_millis(self) -> i64 {
        self.0 / 1_000
    }

    /// The span as a [`Duration`]; a negative span is empty.
    pub fn to_duration(self) -> Duration {
        Duration::from_micros(self.0.max(0) as u64)
    }

    /// The span from `earlier` to `self`, never negative.
    pub fn since(self, earlier: Micros) -> Micros {
        Micros(self.0.saturating_sub(earlier.0).max(0))
    }
}

impl From<Duration> for Micros {
    fn from(d: Duration) -> Self {
        Micros(i64::try_from(d.as_micros()).unwrap_or(i64::MAX))
    }
}

impl Add for Micros {
    type Output = Micros;
    fn add(self, rhs: Micros) -> Micros {
        Micros(self.0.saturating_add(rhs.0))
    }
}

impl AddAssign for Micros {
    fn add_assign(&mut self, rhs: Micros) {
        *self = *self + rhs;
    }
}

impl Sub for Micros {
    type Output = Micros;
    fn sub(self, rhs: Micros) -> Micros {
        Micros(self.0.saturating_sub(rhs.0))
    }
}

impl Mul<i64> for Micros {
    type Output = Micros;
    fn mul(self, rhs: i64) -> Micros {
        Micros(self.0.saturating_mul(rhs))
    }
}

impl Neg for Micros {
    type Output = Micros;
    fn neg(self) -> Micros {
        Micros(self.0.saturating_neg())
    }
}

impl Sum for Micros {
    fn sum<I: Iterator<Item = Micros>>(iter: I) -> Micros {
        iter.fold(Micros::ZERO, Add::add)
    }
}

impl fmt::Display for Micros {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
