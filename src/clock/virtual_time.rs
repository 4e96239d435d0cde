//! Virtual time: tokio's paused clock, scaled so that its millisecond is our microsecond.

use crate::model::Micros;
use std::time::Duration;

/// The instant at which virtual time starts: 2024-05-01T00:00:00Z.
pub const VIRTUAL_EPOCH: Micros = Micros(1_714_521_600_000_000);

/// tokio's timer wheel spans 2^36 ms; longer sleeps are cut into pieces well below that.
const PIECE: Micros = Micros(1 << 34);

#[derive(Debug, Clone, Copy)]
pub(super) struct VirtualClock {
    origin: tokio::time::Instant,
}

impl VirtualClock {
    pub(super) fn start() -> Self {
        VirtualClock { origin: tokio::time::Instant::now() }
    }

    pub(super) fn now(&self) -> Micros {
        VIRTUAL_EPOCH + Micros(i64::try_from(self.origin.elapsed().as_millis()).unwrap_or(i64::MAX))
    }

    #[expect(clippy::disallowed_methods, reason = "this module is the one place that scales tokio's clock")]
    pub(super) async fn sleep(&self, span: Micros) {
        let mut left = span;
        while left > Micros::ZERO {
            let piece = left.min(PIECE);
            tokio::time::sleep(Duration::from_millis(piece.0 as u64)).await;
            left = left - piece;
        }
    }
}

/// A paused runtime on the calling thread.
pub(super) fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .expect("a runtime without I/O needs nothing that can fail")
}
