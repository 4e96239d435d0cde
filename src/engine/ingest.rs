//! Reads ingress ahead of the leader. Plain reads take nothing out, so that dropping one loses nothing.

use crate::broker::{Broker, BrokerError};
use crate::clock::Clock;
use crate::model::wire::IngressEntry;
use crate::model::{EntryId, Micros};
use tokio::sync::mpsc;

/// How long one read waits for the first entry.
const BLOCK: Micros = Micros::from_secs(1);
/// How long to wait after a failed read.
const PAUSE: Micros = Micros::from_millis(100);

/// Sends batches of entries from the front of ingress, in order, until the receiver is gone.
pub(super) async fn read<B: Broker>(broker: B, clock: Clock, count: usize, batches: mpsc::Sender<Vec<IngressEntry>>) {
    let mut after = EntryId::ZERO;
    let mut failing = false;
    while !batches.is_closed() {
        match broker.ingress_read(after, count, BLOCK).await {
            Ok(entries) => {
                failing = false;
                let Some(last) = entries.last() else { continue };
                after = last.id;
                if batches.send(entries).await.is_err() {
                    return;
                }
            }
            Err(error) => {
                if !failing && !matches!(error, BrokerError::Timeout) {
                    tracing::warn!(%error, "ingress cannot be read; trying again");
                }
                failing = true;
                clock.sleep(PAUSE).await;
            }
        }
    }
}
