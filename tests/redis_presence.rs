//! How a process shows Redis that it is there, where connections are cut and users may not do everything.

use crate::support::redis::{connect, server};
use tq::broker::redis::RedisBroker;
use tq::broker::{Broker, BrokerError};
use tq::clock::Clock;
use tq::config::RedisConfig;
use tq::lab::harness::private_redis::PrivateRedis;
use tq::model::Micros;

fn cli(redis: &PrivateRedis, command: &[&str]) -> String {
    let output = std::process::Command::new("redis-cli").arg("-s").arg(redis.socket()).args(command).output().unwrap();
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

async fn until(what: &str, mut holds: impl AsyncFnMut() -> bool) {
    let clock = Clock::real();
    let end = clock.raw() + Micros::from_secs(60);
    while !holds().await {
        assert!(clock.raw() < end, "it never came about that {what}");
        clock.sleep(Micros::from_millis(5)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_connection_that_was_killed_is_not_seen_until_it_is_back() {
    let Some(redis) = server() else { return };
    let (leader, standby) = (connect(&redis).await, connect(&redis).await);
    let _sign = leader.announce("one").await.unwrap();
    assert!(standby.is_connected("one").await.unwrap());
    let mut wakes = leader.wakes();
    let before = wakes.borrow_and_update().connection;
    assert_ne!(cli(&redis, &["CLIENT", "KILL", "TYPE", "pubsub"]), "0");
    wakes.wait_for(|wake| wake.connection > before).await.unwrap();
    until("it is seen again", async || standby.is_connected("one").await.unwrap()).await;
    drop(leader);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_process_that_ends_is_gone() {
    let Some(redis) = server() else { return };
    let standby = connect(&redis).await;
    let leader = connect(&redis).await;
    let sign = leader.announce("one").await.unwrap();
    assert!(standby.is_connected("one").await.unwrap());
    drop((sign, leader));
    until("it is gone", async || !standby.is_connected("one").await.unwrap()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_user_who_may_not_look_or_show_itself_is_told_so() {
    let Some(redis) = server() else { return };
    cli(&redis, &["ACL", "SETUSER", "plain", "on", ">p", "~*", "&{t}:wake", "+@all", "-pubsub|shardnumsub"]);
    let config = RedisConfig {
        url: redis.url(),
        username: Some("plain".into()),
        password: Some("p".into()),
        ..RedisConfig::default()
    };
    let broker = RedisBroker::connect(&config, "t", &Clock::real()).await.unwrap();
    for refused in [broker.is_connected("one").await.map(|_| ()), broker.announce("one").await.map(drop)] {
        assert!(matches!(refused, Err(BrokerError::NoPermission(_))), "{refused:?}");
    }
}
