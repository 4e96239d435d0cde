//! `/metrics`, `/healthz` and `/readyz`.

use crate::broker::Broker;
use crate::clock::Clock;
use crate::model::Micros;
use crate::runtime::metrics::Exporter;
use axum::Router;
use axum::http::{StatusCode, header};
use axum::routing::get;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

/// How long the broker may take to answer before this process counts as not ready.
const PING_MAX: Micros = Micros::from_secs(1);
/// How often histograms are tidied where nobody scrapes.
const UPKEEP: Micros = Micros::from_secs(5);

/// Opens the address of the endpoints; separate from serving, so that a taken port is reported before work begins.
///
/// # Errors
/// What is wrong with the address, with the field that sets it.
pub async fn bind(field: &str, address: &str) -> Result<TcpListener, String> {
    TcpListener::bind(address)
        .await
        .map_err(|error| format!("{field} = \"{address}\" cannot be opened: {error} (\"\" turns the endpoints off)"))
}

/// Whether the process has started; shared with whoever starts it.
#[derive(Debug, Clone, Default)]
pub struct Started(Arc<AtomicBool>);

impl Started {
    /// From now on the process is ready whenever the broker answers.
    pub fn set(&self) {
        self.0.store(true, Ordering::Release);
    }

    fn get(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}

/// What the endpoints need.
#[derive(Clone)]
pub struct Endpoints<B> {
    /// Renders the metrics.
    pub exporter: Exporter,
    /// Pinged by `/readyz`; `None` until there is a connection.
    pub broker: tokio::sync::watch::Receiver<Option<B>>,
    /// The clock of the time limit.
    pub clock: Clock,
    /// Whether work has begun.
    pub started: Started,
}

/// Serves until stopped.
pub async fn serve<B: Broker>(listener: TcpListener, endpoints: Endpoints<B>, stop: CancellationToken) {
    if let Ok(address) = listener.local_addr() {
        announce(address);
    }
    let (tidied, clock, stopped) = (endpoints.exporter.clone(), endpoints.clock.clone(), stop.clone());
    let upkeep = tokio::spawn(async move {
        let mut beat = clock.interval(UPKEEP);
        while !stopped.is_cancelled() {
            tokio::select! {
                biased;
                () = stopped.cancelled() => {}
                () = beat.tick() => tidied.upkeep(),
            }
        }
    });
    let shutdown = async move { stop.cancelled().await };
    if let Err(error) = axum::serve(listener, router(endpoints)).with_graceful_shutdown(shutdown).await {
        tracing::warn!(%error, "the endpoints ended");
    }
    let _ = upkeep.await;
}

fn announce(address: SocketAddr) {
    tracing::info!(%address, "serving /metrics, /healthz and /readyz");
}

fn router<B: Broker>(endpoints: Endpoints<B>) -> Router {
    let exporter = endpoints.exporter.clone();
    let metrics = move || {
        let text = exporter.render();
        async move { ([(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], text) }
    };
    let ready = move || {
        let endpoints = endpoints.clone();
        async move { readiness(&endpoints).await }
    };
    Router::new()
        .route("/metrics", get(metrics))
        .route("/healthz", get(|| async { "alive\n" }))
        .route("/readyz", get(ready))
}

async fn readiness<B: Broker>(endpoints: &Endpoints<B>) -> (StatusCode, String) {
    let no = |why: String| (StatusCode::SERVICE_UNAVAILABLE, format!("{why}\n"));
    let broker = endpoints.broker.borrow().clone();
    let Some(broker) = broker.filter(|_| endpoints.started.get()) else { return no("starting".into()) };
    match endpoints.clock.timeout(PING_MAX, broker.time()).await {
        Ok(Ok(_)) => (StatusCode::OK, "ready\n".into()),
        Ok(Err(error)) => no(error.to_string()),
        Err(_) => no("the broker did not answer within a second".into()),
    }
}
