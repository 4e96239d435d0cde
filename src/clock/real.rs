//! Real time: the monotonic clock and a timer that is exact to the kernel's slack.

use crate::model::Micros;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// A monotonic clock that was set to the wall clock when it started.
#[derive(Debug, Clone, Copy)]
pub(super) struct RealClock {
    origin: Instant,
    origin_wall: Micros,
}

impl RealClock {
    #[expect(clippy::disallowed_methods, reason = "this module is the one place that reads the machine's clocks")]
    pub(super) fn start() -> Self {
        let wall = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        RealClock { origin: Instant::now(), origin_wall: wall.into() }
    }

    pub(super) fn now(&self) -> Micros {
        self.origin_wall + self.origin.elapsed().into()
    }

    pub(super) async fn sleep(&self, span: Micros) {
        async_io::Timer::after(span.to_duration()).await;
    }
}

/// Lowers the kernel's timer slack for this thread and the threads that it starts later, from 50 µs to 1 ns: a sleep of
/// 1 ms then takes about 1.01 instead of 1.06 ms. Call it before any other thread starts. Does nothing where the kernel
/// forbids it.
pub fn lower_timer_slack() {
    let _ = nix::sys::prctl::set_timerslack(1);
}
