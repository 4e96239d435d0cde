//! Asks for deliveries: never more than there are free slots.

use super::execute::Handler;
use super::slot::Slots;
use crate::broker::{Broker, Source};
use crate::clock::Clock;
use crate::model::Micros;
use tokio_util::sync::CancellationToken;

/// How long one fetch waits for the first delivery; it bounds how long a stop may take to be noticed.
const BLOCK: Micros = Micros::from_millis(500);
/// How long to wait after a failed fetch.
const PAUSE: Micros = Micros::from_millis(100);

/// Fetches and starts deliveries until stopped. A fetch is never abandoned half-way: what it brings after the stop is
/// handed to a slot all the same, which gives it back.
pub(super) async fn run<B: Broker, H: Handler>(
    broker: &B,
    clock: &Clock,
    source: Source,
    slots: &Slots<H>,
    stop: &CancellationToken,
) {
    let mut failing = false;
    while let Some(mut permits) = slots.take_free(stop).await {
        match broker.fetch(source, slots.held.worker(), permits.num_permits(), BLOCK).await {
            Ok(deliveries) => {
                if failing {
                    tracing::info!("deliveries come again");
                }
                failing = false;
                for delivery in deliveries {
                    let Some(permit) = permits.split(1) else { break };
                    if stop.is_cancelled() {
                        slots.give_back(delivery, permit);
                    } else {
                        slots.start(delivery, permit);
                    }
                }
            }
            Err(error) => {
                if !failing {
                    tracing::warn!(%error, "deliveries cannot be fetched; trying again");
                }
                failing = true;
                drop(permits);
                clock.sleep(PAUSE).await;
            }
        }
    }
}
