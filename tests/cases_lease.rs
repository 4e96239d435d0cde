//! Who follows a leader whose connection is gone, and when; the whole stack in virtual time.

use crate::support::cluster::{Cluster, Process, scheduling, working};
use serde_json::json;
use tq::broker::memory::MemoryBroker;
use tq::broker::{Broker, Snapshot};
use tq::clock::Clock;
use tq::config::LeaderElectionConfig;
use tq::engine::Settings;
use tq::model::{Epoch, Micros};
use tq::policy::PolicyKind;

type Scheduler = Process<MemoryBroker, ()>;

const TTL: Micros = Micros::from_secs(60);

fn ms(n: i64) -> Micros {
    Micros::from_millis(n)
}

fn settings() -> Settings {
    let election = LeaderElectionConfig { ttl: TTL, renew_interval: ms(10_000), ..LeaderElectionConfig::default() };
    Settings { election, ..scheduling(PolicyKind::Fifo, 4) }
}

/// Each of the two may not do the operation that is named; the second may have its own settings. The first leads, the
/// second has had time to look at it.
async fn two(cluster: &Cluster<MemoryBroker>, forbidden: [&'static str; 2], second: Settings) -> [Scheduler; 2] {
    let first = cluster.scheduler("first", settings());
    first.faults.forbid(forbidden[0]);
    leads(cluster, "first#", 1).await;
    let second = cluster.scheduler("second", second);
    second.faults.forbid(forbidden[1]);
    cluster.clock.sleep(ms(2_000)).await;
    [first, second]
}

/// Waits until `owner` leads; how long that took.
async fn leads(cluster: &Cluster<MemoryBroker>, owner: &str, epoch: u64) -> Micros {
    let from = cluster.clock.now();
    let holds = |s: &Snapshot| s.leader.as_deref().is_some_and(|leader| leader.starts_with(owner));
    let seen = cluster.until(&format!("{owner} leads"), holds).await;
    assert_eq!(seen.epoch, Epoch(epoch), "{owner}");
    cluster.clock.now() - from
}

async fn work(cluster: &Cluster<MemoryBroker>, from: u64, tasks: u64) {
    cluster.submit((from..from + tasks).map(|n| json!({ "id": format!("t{n}"), "service_us": 1_000 }))).await;
    cluster.ended(from + tasks).await;
}

#[test]
fn a_crashed_leader_is_followed_at_once() {
    Clock::run_virtual(async |clock| {
        let cluster = Cluster::in_memory(clock);
        let _worker = cluster.worker("w", working(4));
        let [first, _second] = two(&cluster, [""; 2], settings()).await;
        work(&cluster, 0, 4).await;
        first.task.abort();
        let outage = leads(&cluster, "second#", 2).await;
        assert!(outage <= ms(350), "{outage}");
        work(&cluster, 4, 4).await;
    });
}

#[test]
fn where_looking_is_forbidden_or_off_the_ttl_governs() {
    let mut off = settings();
    off.election.detect_disconnect = false;
    for (forbidden, second) in [(["", "is_connected"], settings()), (["announce", ""], settings()), (["", ""], off)] {
        Clock::run_virtual(async |clock| {
            let cluster = Cluster::in_memory(clock);
            let [first, _second] = two(&cluster, forbidden, second.clone()).await;
            first.task.abort();
            let outage = leads(&cluster, "second#", 2).await;
            assert!(outage >= TTL - ms(10_000) && outage <= TTL + ms(1_000), "{forbidden:?} {outage}");
        });
    }
}

/// The connection that the others look at is gone, the process and its other connection live: it goes on until its
/// successor is there, is refused from then on, stands down, and does not take the lease back.
#[test]
fn a_leader_whose_connection_is_lost_stands_down_and_stays_down() {
    Clock::run_virtual(async |clock| {
        let cluster = Cluster::in_memory(clock);
        let _worker = cluster.worker("w", working(4));
        let [first, second] = two(&cluster, [""; 2], settings()).await;
        first.faults.disconnect();
        assert!(leads(&cluster, "second#", 2).await <= ms(350));
        work(&cluster, 0, 20).await;
        cluster.clock.sleep(ms(30_000)).await;
        leads(&cluster, "second#", 2).await;
        assert!(!first.task.is_finished() && !second.task.is_finished());
        assert!(cluster.results().await.iter().all(|entry| entry.result.epoch == Epoch(2)), "of the second term");
        assert_eq!(cluster.order().len(), 20, "nothing was started twice");
    });
}

/// A frozen process keeps its connections, so nothing shows that it does not work; the ttl does.
#[test]
fn a_frozen_leader_is_followed_when_its_ttl_has_passed() {
    Clock::run_virtual(async |clock| {
        let cluster = Cluster::in_memory(clock);
        let [first, _second] = two(&cluster, [""; 2], settings()).await;
        first.faults.freeze();
        let outage = leads(&cluster, "second#", 2).await;
        assert!(outage >= TTL - ms(10_000) && outage <= TTL + ms(1_000), "{outage}");
    });
}

/// Three standbys miss the leader at the same time; one follows it.
#[test]
fn of_several_standbys_one_follows() {
    Clock::run_virtual(async |clock| {
        let cluster = Cluster::in_memory(clock);
        let _worker = cluster.worker("w", working(4));
        let [first, second] = two(&cluster, [""; 2], settings()).await;
        let others = [cluster.scheduler("third", settings()), cluster.scheduler("fourth", settings())];
        cluster.clock.sleep(ms(2_000)).await;
        first.task.abort();
        let then = cluster.until("somebody leads", |s| s.epoch == Epoch(2) && s.leader.is_some()).await;
        cluster.clock.sleep(ms(30_000)).await;
        let now = cluster.broker.snapshot(cluster.clock.now()).await.unwrap();
        assert_eq!((now.leader, now.epoch), (then.leader, Epoch(2)));
        work(&cluster, 0, 8).await;
        drop((second, others));
    });
}
