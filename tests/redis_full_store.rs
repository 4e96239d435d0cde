//! A store without memory refuses a move as a whole: every task is still where it was (the core of case 14).

use crate::conformance::kit;
use tq::broker::redis::RedisBroker;
use tq::broker::{Broker, BrokerError, DispatchBatch, Fate, Snapshot, Source};
use tq::clock::Clock;
use tq::config::RedisConfig;
use tq::lab::harness::private_redis::PrivateRedis;
use tq::model::Epoch;

fn limit(redis: &PrivateRedis, bytes: &str) {
    let set = ["config", "set", "maxmemory", bytes];
    let status = std::process::Command::new("redis-cli").arg("-s").arg(redis.socket()).args(set).status().unwrap();
    assert!(status.success());
}

fn places(snapshot: &Snapshot) -> [u64; 7] {
    let s = snapshot;
    [s.ingress, s.pending, s.delayed, s.unfinished, s.in_flight, s.in_flight_counted, s.dead]
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_store_tears_no_move() {
    if !PrivateRedis::available() {
        return println!("skipped: no redis-server on the PATH");
    }
    let redis = PrivateRedis::start().unwrap();
    let clock = Clock::real();
    let config = RedisConfig { url: redis.url(), ..RedisConfig::default() };
    let broker = RedisBroker::connect(&config, "full", &clock).await.unwrap();
    let running = kit::running(&broker, &clock, &["a", "b"]).await;
    let waiting = kit::pending(&broker, &clock, &["c"]).await;
    let before = places(&broker.snapshot(clock.now()).await.unwrap());

    limit(&redis, "1");
    let completion = [kit::completion(&running[0], &clock)];
    let retries = [
        kit::by_worker(&running[1], Fate::Pending(kit::again(&running[1])), true),
        kit::by_worker(&running[1], Fate::Dead(kit::dead(&running[1], &clock)), true),
    ];
    let dispatch = DispatchBatch { chosen: waiting.clone(), now: clock.now(), ..DispatchBatch::default() };
    let refused: Vec<BrokerError> = vec![
        broker.complete(Source::Execution, &completion, clock.now()).await.unwrap_err(),
        broker.retry(&retries[..1], clock.now()).await.unwrap_err(),
        broker.retry(&retries[1..], clock.now()).await.unwrap_err(),
        broker.dispatch(Epoch::NONE, &dispatch).await.unwrap_err(),
        broker.submit(&[kit::body("d")]).await.unwrap_err(),
    ];
    for error in refused {
        assert!(matches!(error, BrokerError::OutOfMemory(_)), "{error:?}");
    }
    limit(&redis, "0");
    assert_eq!(places(&broker.snapshot(clock.now()).await.unwrap()), before);

    assert!(broker.complete(Source::Execution, &completion, clock.now()).await.unwrap().duplicates.is_empty());
    assert!(broker.retry(&retries[..1], clock.now()).await.unwrap().stale.is_empty());
    assert!(broker.dispatch(Epoch::NONE, &dispatch).await.unwrap().missing.is_empty());
    let after = broker.snapshot(clock.now()).await.unwrap();
    assert_eq!((after.counter("completed"), after.in_flight, after.pending), (1, 1, 1));
}
