//! Steady load: a task every so often, so that a gap in the dispatches means that nobody dispatched.

use crate::broker::Broker;
use crate::clock::Clock;
use crate::model::Micros;
use crate::producer::{self, Planned};
use anyhow::Context;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

pub(super) struct Load {
    stop: CancellationToken,
    producing: JoinHandle<Result<producer::Report, producer::Interrupted>>,
}

impl Load {
    /// Submits a task of `service` every `spacing` from now on.
    pub(super) fn start<B: Broker>(broker: &B, clock: &Clock, spacing: Micros, service: Micros) -> Self {
        let (broker, clock, stop) = (broker.clone(), clock.clone(), CancellationToken::new());
        let (start, stopped) = (clock.now(), stop.clone());
        let planned = move |number: i64| {
            let at = start + spacing * number;
            let task = serde_json::json!({
                "id": format!("t{number:06}"), "service_us": service, "submitted_us": at, "max_retries": 10,
            });
            Planned { at, body: task.to_string().into() }
        };
        let producing = tokio::spawn(async move { producer::run(&broker, &clock, (0..).map(planned), stopped).await });
        Load { stop, producing }
    }

    /// Ends it; how many tasks were submitted.
    pub(super) async fn end(self) -> anyhow::Result<u64> {
        self.stop.cancel();
        Ok(self.producing.await.context("the producer panicked")??.submitted)
    }
}
