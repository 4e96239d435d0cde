//! Measures how far this process's clock is from the broker's, so that instants of different machines compare.

use crate::broker::{Broker, BrokerResult};
use crate::clock::Clock;
use crate::model::Micros;
use tokio_util::sync::CancellationToken;

/// Round trips per measurement; the fastest one counts, since it leaves the least room for error.
const SAMPLES: usize = 5;
/// How often it is measured again: clocks drift by tens of µs a second.
const REFRESH: Micros = Micros::from_secs(30);

/// Measures once and sets the clock's offset.
///
/// # Errors
/// When the broker does not answer.
pub async fn measure<B: Broker>(broker: &B, clock: &Clock) -> BrokerResult<Micros> {
    let mut best: Option<(Micros, Micros)> = None;
    for _ in 0..SAMPLES {
        let asked = clock.raw();
        let told = broker.time().await?;
        let round = clock.raw() - asked;
        // The answer was true somewhere within the round trip: take the middle.
        let offset = told - (asked + Micros(round.0 / 2));
        if best.is_none_or(|(least, _)| round < least) {
            best = Some((round, offset));
        }
    }
    let offset = best.map_or(Micros::ZERO, |(_, offset)| offset);
    clock.set_offset(offset);
    Ok(offset)
}

/// Measures every half minute until stopped; a failed measurement keeps the offset.
pub async fn keep<B: Broker>(broker: B, clock: Clock, stop: CancellationToken) {
    let mut beat = clock.interval(REFRESH);
    loop {
        tokio::select! {
            biased;
            () = stop.cancelled() => return,
            () = beat.tick() => {}
        }
        if let Err(error) = measure(&broker, &clock).await {
            tracing::debug!(%error, "the offset to the broker's clock was not measured");
        }
    }
}
