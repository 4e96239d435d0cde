//! The Redis broker when Redis is in trouble: restarts, a full store, wrong types, a rejected user, unreadable entries.

use crate::support::redis::{connect, server};
use bytes::Bytes;
use tq::broker::redis::RedisBroker;
use tq::broker::{Broker, DispatchBatch, Grant, Source};
use tq::clock::Clock;
use tq::config::RedisConfig;
use tq::lab::harness::private_redis::PrivateRedis;
use tq::model::outcome::DeadReason;
use tq::model::{EntryId, Epoch, Micros};

const BLOCK: Micros = Micros::from_secs(20);
const TTL: Micros = Micros::from_secs(30);

fn cli(redis: &PrivateRedis, command: &[&str]) -> String {
    let output = std::process::Command::new("redis-cli").arg("-s").arg(redis.socket()).args(command).output().unwrap();
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

async fn until<T>(what: &str, mut attempt: impl AsyncFnMut() -> Option<T>) -> T {
    let clock = Clock::real();
    let end = clock.raw() + Micros::from_secs(60);
    loop {
        if let Some(found) = attempt().await {
            return found;
        }
        assert!(clock.raw() < end, "it never came about that {what}");
        clock.sleep(Micros::from_millis(10)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_role_goes_on_after_redis_was_killed_and_came_back() {
    if !PrivateRedis::available() {
        return;
    }
    let mut redis = PrivateRedis::start_with(&["--appendonly", "yes", "--appendfsync", "always"]).unwrap();
    let broker = connect(&redis).await;
    let mut wakes = broker.wakes();
    broker.submit(&[Bytes::from_static(b"{\"id\":\"kept\"}")]).await.unwrap();
    for _ in 0..2 {
        let before = wakes.borrow().connection;
        let blocked = tokio::spawn({
            let broker = broker.clone();
            async move { broker.fetch(Source::Execution, "w#1", 1, BLOCK).await }
        });
        redis.kill();
        let error = blocked.await.unwrap();
        assert!(error.is_err(), "a blocked read ends with the connection: {error:?}");
        assert!(broker.time().await.is_err_and(|error| error.is_ambiguous()));
        redis.resume().unwrap();
        let read =
            until("ingress is read again", async || broker.ingress_read(EntryId::ZERO, 10, Micros::ZERO).await.ok())
                .await;
        assert_eq!(read.len(), 1);
        wakes.wait_for(|wake| wake.connection > before).await.unwrap();
    }
    // The subscription is back too.
    let before = wakes.borrow().released;
    until("a release is heard", async || {
        if let Grant::Granted(epoch) = broker.lease_acquire("a", TTL).await.ok()? {
            broker.lease_release("a", epoch).await.ok()?;
        }
        let heard = wakes.wait_for(|wake| wake.released > before);
        Clock::real().timeout(Micros::from_millis(200), heard).await.ok().map(|_| ())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_store_refuses_admission_and_changes_nothing() {
    let Some(redis) = server() else { return };
    let broker = connect(&redis).await;
    broker.submit(&[Bytes::from_static(b"{}")]).await.unwrap();
    assert_eq!(cli(&redis, &["CONFIG", "SET", "maxmemory", "1"]), "OK");
    let error = broker.submit(&[Bytes::from_static(b"{}")]).await.unwrap_err();
    assert_eq!(error.kind(), "out_of_memory", "{error}");
    let error = broker.lease_acquire("a", TTL).await.unwrap_err();
    assert_eq!(error.kind(), "out_of_memory", "{error}");
    assert_eq!(cli(&redis, &["CONFIG", "SET", "maxmemory", "0"]), "OK");
    let seen = broker.snapshot(Micros::ZERO).await.unwrap();
    assert_eq!((seen.ingress, seen.leader, seen.epoch), (1, None, Epoch(0)));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_of_the_wrong_type_is_an_error_and_no_panic() {
    let Some(redis) = server() else { return };
    let broker = connect(&redis).await;
    cli(&redis, &["SET", "{t}:pending", "x"]);
    cli(&redis, &["SET", "{t}:delayed", "x"]);
    cli(&redis, &["SET", "{t}:dead", "x"]);
    assert_eq!(broker.pending_scan(None, 9).await.unwrap_err().kind(), "corrupt");
    assert_eq!(broker.promote(Epoch(1), Micros(1), 9).await.unwrap_err().kind(), "corrupt");
    assert_eq!(broker.dead(EntryId::ZERO, 9).await.unwrap_err().kind(), "corrupt");
    assert_eq!(broker.snapshot(Micros::ZERO).await.unwrap_err().kind(), "corrupt");
    broker.reset().await.unwrap();
    assert_eq!(broker.pending_scan(None, 9).await.unwrap(), []);
}

#[tokio::test(flavor = "multi_thread")]
async fn members_and_entries_that_cannot_be_read_hurt_nobody() {
    let Some(redis) = server() else { return };
    let broker = connect(&redis).await;
    let good = "0001714521600000|----------------------|good\u{1f}a\u{1f}3\u{1f}\u{1f}500\u{1f}1\u{1f}0";
    let lost = good.replace("good", "lost");
    for n in 0..5 {
        cli(&redis, &["ZADD", "{t}:pending", "0", &format!("nonsense {n}")]);
        cli(&redis, &["ZADD", "{t}:delayed", "0", &format!("nonsense {n}")]);
    }
    cli(&redis, &["ZADD", "{t}:pending", "1", good]);
    let scanned = broker.pending_scan(None, 2).await.unwrap();
    assert_eq!(scanned.iter().map(|rank| rank.member.id()).collect::<Vec<_>>(), ["good"]);
    assert!(broker.promote(Epoch(1), Micros(1), 10).await.unwrap().promoted.is_empty());
    assert_eq!(broker.snapshot(Micros::ZERO).await.unwrap().delayed, 0);
    // One entry without any field of ours, one whose record cannot be read, one that is whole.
    cli(&redis, &["HSET", "{t}:tasks", "lost", "rubbish", "good", "1\u{1f}5\u{1f}3\u{1f}sim\u{1f}{}"]);
    cli(&redis, &["XADD", "{t}:execution", "*", "x", "y"]);
    cli(&redis, &["XADD", "{t}:execution", "*", "m", &lost, "s", "1", "r", "rubbish", "d", "5", "e", "1"]);
    let batch = DispatchBatch { chosen: scanned, window: None, changes: vec![], now: Micros(7) };
    broker.dispatch(Epoch(1), &batch).await.unwrap();
    let taken = broker.fetch(Source::Execution, "w#1", 9, BLOCK).await.unwrap();
    assert_eq!(taken.iter().map(|delivery| delivery.member().id()).collect::<Vec<_>>(), ["good"]);
    let dead = broker.dead(EntryId::ZERO, 9).await.unwrap();
    assert!(dead.iter().all(|dead| dead.letter.reason == DeadReason::Corrupt));
    assert_eq!(dead.iter().map(|dead| dead.letter.id.as_str()).collect::<Vec<_>>(), ["", "lost"]);
    assert_eq!(broker.snapshot(Micros::ZERO).await.unwrap().unfinished, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn users_with_a_password_come_in_and_others_do_not() {
    let Some(redis) = server() else { return };
    let rules = ["ACL", "SETUSER", "tq", "on", ">open sesame", "~{t}:*", "&{t}:*", "+@all", "-@admin", "-@dangerous"];
    assert_eq!(cli(&redis, &[&rules[..], &["+info"]].concat()), "OK");
    assert_eq!(cli(&redis, &["ACL", "SETUSER", "default", "off"]), "OK");
    let mut config = RedisConfig { url: redis.url(), ..RedisConfig::default() };
    let error = RedisBroker::connect(&config, "t", &Clock::real()).await.unwrap_err();
    assert_eq!(error.kind(), "no_permission", "{error}");
    config.username = Some("tq".into());
    config.password = Some("open sesame".into());
    let broker = RedisBroker::connect(&config, "t", &Clock::real()).await.unwrap();
    broker.submit(&[Bytes::from_static(b"{}")]).await.unwrap();
    let error = RedisBroker::connect(&config, "other", &Clock::real()).await.unwrap_err();
    assert_eq!(error.kind(), "no_permission", "{error}");
    assert!(!format!("{broker:?}{error:?}{error}").contains("sesame"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_read_that_is_given_up_takes_nothing_with_it() {
    let Some(redis) = server() else { return };
    let broker = connect(&redis).await;
    let clock = Clock::real();
    for _ in 0..5 {
        let read = broker.ingress_read(EntryId::ZERO, 1, BLOCK);
        assert!(clock.timeout(Micros::from_millis(5), read).await.is_err());
    }
    broker.submit(&[Bytes::from_static(b"{}")]).await.unwrap();
    assert_eq!(broker.ingress_read(EntryId::ZERO, 1, BLOCK).await.unwrap().len(), 1);
    until("the connections of the given-up reads are closed", async || {
        (cli(&redis, &["CLIENT", "LIST"]).lines().count() <= 5).then_some(())
    })
    .await;
}
