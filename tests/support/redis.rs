//! A private Redis for one test.

use tq::broker::redis::RedisBroker;
use tq::clock::Clock;
use tq::config::RedisConfig;
use tq::lab::harness::private_redis::PrivateRedis;

/// A server, unless there is no `redis-server` on the PATH, which is said.
pub(crate) fn server() -> Option<PrivateRedis> {
    if !PrivateRedis::available() {
        println!("skipped: no redis-server on the PATH");
        return None;
    }
    Some(PrivateRedis::start().expect("a private Redis"))
}

/// A broker on the namespace `t` of a server.
pub(crate) async fn connect(server: &PrivateRedis) -> RedisBroker {
    let config = RedisConfig { url: server.url(), ..RedisConfig::default() };
    RedisBroker::connect(&config, "t", &Clock::real()).await.expect("the private Redis answers")
}

/// Runs a body on a broker with a server of its own, in real time.
pub(crate) fn run(body: impl AsyncFnOnce(RedisBroker, Clock)) {
    let Some(server) = server() else { return };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let broker = connect(&server).await;
        body(broker, Clock::real()).await;
    });
}
