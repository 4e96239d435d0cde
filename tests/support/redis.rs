//! The Redis of the tests: a private server for one test, or one that many share, each in a namespace of its own.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use tq::broker::redis::RedisBroker;
use tq::clock::Clock;
use tq::config::RedisConfig;
use tq::lab::harness::private_redis::PrivateRedis;

static SHARED: Mutex<Weak<PrivateRedis>> = Mutex::new(Weak::new());
static NAMESPACES: AtomicU64 = AtomicU64::new(0);

/// A server, unless there is no `redis-server` on the PATH, which is said.
pub(crate) fn server() -> Option<PrivateRedis> {
    if !PrivateRedis::available() {
        println!("skipped: no redis-server on the PATH");
        return None;
    }
    Some(PrivateRedis::start().expect("a private Redis"))
}

/// The server that tests share; it ends with its last user. `None` as in [`server`].
pub(crate) fn shared() -> Option<Arc<PrivateRedis>> {
    let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(server) = shared.upgrade() {
        return Some(server);
    }
    let server = Arc::new(server()?);
    *shared = Arc::downgrade(&server);
    Some(server)
}

/// A broker on the namespace `t` of a server.
pub(crate) async fn connect(server: &PrivateRedis) -> RedisBroker {
    connect_to(server, "t", &Clock::real()).await
}

/// A broker on a namespace that nobody has used.
pub(crate) async fn fresh(server: &PrivateRedis, clock: &Clock) -> RedisBroker {
    let namespace = format!("t{}", NAMESPACES.fetch_add(1, Ordering::Relaxed));
    connect_to(server, &namespace, clock).await
}

async fn connect_to(server: &PrivateRedis, namespace: &str, clock: &Clock) -> RedisBroker {
    let config = RedisConfig { url: server.url(), ..RedisConfig::default() };
    RedisBroker::connect(&config, namespace, clock).await.expect("the private Redis answers")
}

/// Runs a body on a fresh namespace, in real time.
pub(crate) fn run<F: Future<Output = ()>>(body: impl FnOnce(RedisBroker, Clock) -> F) {
    let Some(server) = shared() else { return };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let clock = Clock::real();
        let broker = fresh(&server, &clock).await;
        body(broker, clock).await;
    });
}
