//! Case 8: a handler that never yields, on every thread of the worker's runtime, keeps its attempt leases.

use crate::support::cluster::{scheduling, working};
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use tokio_util::sync::CancellationToken;
use tq::broker::Broker;
use tq::broker::redis::RedisBroker;
use tq::clock::Clock;
use tq::config::RedisConfig;
use tq::engine::Scheduler;
use tq::lab::harness::private_redis::PrivateRedis;
use tq::model::outcome::Delivery;
use tq::model::{EntryId, Micros};
use tq::policy::PolicyKind;
use tq::worker::Worker;
use tq::worker::execute::Handler;
use tq::worker::heartbeat::HeartbeatHost;

#[derive(Default)]
struct NeverYields {
    starts: AtomicU32,
}

impl Handler for NeverYields {
    async fn run(&self, task: &Delivery, clock: &Clock) -> Result<(), String> {
        self.starts.fetch_add(1, Ordering::Relaxed);
        let end = clock.now() + task.member().cost();
        while clock.now() < end {
            std::hint::spin_loop();
        }
        Ok(())
    }
}

#[test]
fn a_handler_that_never_yields_runs_once() {
    if !PrivateRedis::available() {
        return println!("skipped: there is no redis-server");
    }
    let redis = PrivateRedis::start().unwrap();
    let config = RedisConfig { url: redis.url(), ..RedisConfig::default() };
    let runtime = || tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    // Recovery must be able to run while the worker's runtime is blocked.
    let (scheduling_runtime, working_runtime) = (runtime(), runtime());
    let clock = Clock::real();
    let stop = CancellationToken::new();
    let mut settings = scheduling(PolicyKind::Fifo, 2);
    settings.recovery.min_idle = Micros::from_millis(600);
    settings.recovery.interval = Micros::from_millis(100);
    let handler = Arc::new(NeverYields::default());

    let (connect, seen, stopped) = (config.clone(), clock.clone(), stop.clone());
    scheduling_runtime.spawn(async move {
        let broker = RedisBroker::connect(&connect, "case8", &seen).await.unwrap();
        Scheduler::new(broker, seen, "s", settings).run(stopped).await.unwrap();
    });
    let mut settings = working(2);
    settings.worker.heartbeat_interval = Micros::from_millis(100);
    let (connect, seen, stopped, blocked) = (config.clone(), clock.clone(), stop.clone(), handler.clone());
    let worker = working_runtime.spawn(async move {
        let broker = RedisBroker::connect(&connect, "case8", &seen).await.unwrap();
        let own = seen.clone();
        let host = HeartbeatHost::Thread(Box::new(move || {
            Box::pin(async move { RedisBroker::connect(&connect, "case8", &own).await })
        }));
        Worker::new(broker, seen, "w", settings, blocked).with_heartbeats(host).run(stopped).await
    });
    scheduling_runtime.block_on(async {
        let broker = RedisBroker::connect(&config, "case8", &clock).await.unwrap();
        let task = |n: u32| json!({ "id": format!("t-{n}"), "service_us": 2_500_000 }).to_string().into();
        broker.submit(&[task(0), task(1)]).await.unwrap();
        let mut completed = 0;
        for _ in 0..6_000 {
            completed = broker.results(EntryId::ZERO, 10).await.unwrap().len();
            if completed == 2 {
                break;
            }
            clock.sleep(Micros::from_millis(10)).await;
        }
        assert_eq!(completed, 2, "{:#?}", broker.snapshot(clock.now()).await);
        let snapshot = broker.snapshot(clock.now()).await.unwrap();
        assert_eq!((snapshot.counter("retried"), handler.starts.load(Ordering::Relaxed)), (0, 2));
        stop.cancel();
        worker.await.unwrap();
    });
}
