//! Keeps the leases of held attempts alive, from a timer that does not depend on any handler yielding.

use super::held::Held;
use crate::broker::{Broker, BrokerResult};
use crate::clock::Clock;
use crate::model::Micros;
use futures::future::BoxFuture;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// Makes the heartbeats' own connection, inside their own runtime.
pub type Connect<B> = Box<dyn FnOnce() -> BoxFuture<'static, BrokerResult<B>> + Send>;

/// Where heartbeats run.
pub enum HeartbeatHost<B> {
    /// On the worker's runtime: for handlers that yield, and for virtual time.
    Inline,
    /// On a thread with a runtime and a connection of its own.
    Thread(Connect<B>),
}

/// Running heartbeats.
pub(super) struct Beats {
    stop: CancellationToken,
    inline: Option<tokio::task::JoinHandle<()>>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Beats {
    /// Ends them; the worker leaves the register.
    pub(super) async fn stop(self) {
        self.stop.cancel();
        if let Some(task) = self.inline {
            let _ = task.await;
        }
        if let Some(thread) = self.thread {
            let _ = tokio::task::spawn_blocking(|| thread.join()).await;
        }
    }
}

/// Starts heartbeats, the first one at once: it registers the worker's slots.
pub(super) fn start<B: Broker>(
    host: HeartbeatHost<B>,
    broker: B,
    clock: Clock,
    interval: Micros,
    held: Arc<Held>,
) -> Beats {
    let stop = CancellationToken::new();
    let mut beats = Beats { stop: stop.clone(), inline: None, thread: None };
    let connect = match host {
        HeartbeatHost::Inline => {
            beats.inline = Some(tokio::spawn(run(broker, clock, interval, held, stop)));
            return beats;
        }
        HeartbeatHost::Thread(connect) => connect,
    };
    let body = move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let Ok(runtime) = runtime.inspect_err(|error| tracing::error!(%error, "heartbeats cannot start")) else {
            return;
        };
        runtime.block_on(async move {
            // Without a connection of its own it falls back on the worker's: late heartbeats are better than none.
            let own =
                connect().await.inspect_err(|error| tracing::warn!(%error, "heartbeats share the worker's connection"));
            run(own.unwrap_or(broker), clock, interval, held, stop).await;
        });
    };
    match std::thread::Builder::new().name("tq-heartbeat".into()).spawn(body) {
        Ok(thread) => beats.thread = Some(thread),
        Err(error) => tracing::error!(%error, "heartbeats cannot start"),
    }
    beats
}

async fn run<B: Broker>(broker: B, clock: Clock, interval: Micros, held: Arc<Held>, stop: CancellationToken) {
    let mut failing = false;
    loop {
        let (beat, attempts) = held.beat();
        match broker.extend(&beat, &attempts, clock.now()).await {
            Ok(lost) => {
                failing = false;
                for attempt in lost {
                    // It goes on: should it complete first, its completion counts.
                    tracing::debug!(%attempt, "the lease of an attempt was lost");
                    held.forget(attempt);
                }
            }
            Err(error) if !failing => {
                failing = true;
                tracing::warn!(%error, "a heartbeat failed; trying again");
            }
            Err(_) => {}
        }
        tokio::select! {
            biased;
            () = stop.cancelled() => break,
            () = held.changed() => {}
            () = clock.sleep(interval) => {}
        }
    }
    if let Err(error) = broker.leave(held.worker()).await {
        tracing::debug!(%error, "could not leave the register; the entry will be dropped for its silence");
    }
}
