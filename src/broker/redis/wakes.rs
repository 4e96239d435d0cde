//! Wake-ups: numbers that only grow, published by the scripts and folded into one value.

use super::scripts;
use crate::broker::{BrokerResult, Wake};
use crate::runtime::redis::{Connections, broker_error};
use fred::interfaces::{EventInterface, PubsubInterface};
use std::sync::Arc;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::watch;
use tokio::task::AbortHandle;

/// Folds one message (`freed 17`) into the value; says whether it grew. What cannot be read is ignored.
fn fold(wake: &mut Wake, message: &str) -> bool {
    let Some((name, number)) = message.split_once(' ') else { return false };
    let Ok(number) = number.parse::<u64>() else { return false };
    let place = match name {
        "freed" => &mut wake.freed,
        "returned" => &mut wake.returned,
        "released" => &mut wake.released,
        "workers" => &mut wake.workers,
        _ => return false,
    };
    let grew = number > *place;
    *place = number.max(*place);
    grew
}

fn lost_touch(wakes: &watch::Sender<Wake>) {
    wakes.send_modify(|wake| wake.connection += 1);
}

/// Subscribes, and keeps scripts and subscription in place over reconnects. The tasks end when they are aborted.
pub(super) async fn listen(
    connections: &Arc<Connections>,
    channel: &str,
    wakes: &watch::Sender<Wake>,
) -> BrokerResult<Vec<AbortHandle>> {
    let subscriber = connections.subscriber().clone();
    let (mut messages, mut restored) = (subscriber.message_rx(), subscriber.reconnect_rx());
    let mut commands_restored = connections.command().reconnect_rx();
    subscriber.subscribe(channel).await.map_err(|error| broker_error(&error))?;

    let heard = wakes.clone();
    let hear = tokio::spawn(async move {
        loop {
            match messages.recv().await {
                Ok(message) => {
                    if let Some(text) = message.value.as_str() {
                        heard.send_if_modified(|wake| fold(wake, &text));
                    }
                }
                // Messages went by unheard; the next ones include them, but nobody knows when they come.
                Err(RecvError::Lagged(_)) => lost_touch(&heard),
                Err(RecvError::Closed) => return,
            }
        }
    });

    let touched = wakes.clone();
    let resubscribe = tokio::spawn(async move {
        while !matches!(restored.recv().await, Err(RecvError::Closed)) {
            if let Err(error) = subscriber.resubscribe_all().await {
                tracing::warn!(%error, "wake-ups are not subscribed; the safety interval goes on");
            }
            lost_touch(&touched);
        }
    });

    let weak = Arc::downgrade(connections);
    let touched = wakes.clone();
    let reload = tokio::spawn(async move {
        while !matches!(commands_restored.recv().await, Err(RecvError::Closed)) {
            let Some(connections) = weak.upgrade() else { return };
            if let Err(error) = scripts::load(&connections).await {
                tracing::warn!(%error, "scripts are not loaded after a reconnect; each is sent whole once");
            }
            lost_touch(&touched);
        }
    });
    Ok([hear, resubscribe, reload].iter().map(tokio::task::JoinHandle::abort_handle).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_only_grow_and_nonsense_is_ignored() {
        let mut wake = Wake::default();
        assert!(fold(&mut wake, "freed 7"));
        assert!(!fold(&mut wake, "freed 5"));
        assert!(!fold(&mut wake, "freed"));
        assert!(!fold(&mut wake, "freed -1"));
        assert!(!fold(&mut wake, "other 9"));
        assert_eq!(wake, Wake { freed: 7, ..Wake::default() });
    }
}
