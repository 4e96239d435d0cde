//! What a slot does with a delivery.

use crate::clock::Clock;
use crate::config::ExecMode;
use crate::model::Micros;
use crate::model::outcome::Delivery;
use std::future::Future;

/// The work itself. Deliveries are at least once: it must be idempotent. A handler that computes for long should do so on
/// a blocking thread, or other slots of the process wait; its attempt lease is kept alive either way.
pub trait Handler: Send + Sync + 'static {
    /// Executes one delivery; `Err` spends the attempt and says why. Dropped when a shutdown interrupts it.
    fn run(&self, task: &Delivery, clock: &Clock) -> impl Future<Output = Result<(), String>> + Send;
}

/// Stands for work by taking its declared service time.
#[derive(Debug, Clone, Copy)]
pub struct SimHandler {
    /// Waits or computes.
    pub mode: ExecMode,
}

impl Handler for SimHandler {
    async fn run(&self, task: &Delivery, clock: &Clock) -> Result<(), String> {
        let service = task.member().cost();
        match self.mode {
            // Virtual time knows no processor to burn.
            ExecMode::Cpu if !clock.is_virtual() => {
                tokio::task::spawn_blocking(move || burn(service)).await.map_err(|error| error.to_string())
            }
            _ => {
                clock.sleep(service).await;
                Ok(())
            }
        }
    }
}

/// Computes until this thread has used `service` of processor time, however long that takes.
fn burn(service: Micros) {
    let used = || {
        nix::time::clock_gettime(nix::time::ClockId::CLOCK_THREAD_CPUTIME_ID)
            .map_or(Micros::MAX, |time| Micros(time.tv_sec() * 1_000_000 + time.tv_nsec() / 1_000))
    };
    let end = used() + service;
    let mut value = 1u64;
    while used() < end {
        for _ in 0..256 {
            value = value.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        }
        std::hint::black_box(value);
    }
}
