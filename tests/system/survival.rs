//! A worker and the leader are killed in the middle of the work: every task ends once, and `tq status` tells the truth.

use super::processes::{Process, Site, wait_for};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use tq::broker::Broker;
use tq::broker::redis::RedisBroker;
use tq::clock::Clock;
use tq::config::RedisConfig;
use tq::model::EntryId;

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or(0)
}

/// What one sample of the status must satisfy; gives back the tasks that it accounts for, and how many have ended.
fn conserved(status: &Value) -> (u64, u64) {
    let (places, totals) = (&status["places"], &status["totals"]);
    let at = |name: &str| number(&places[name]);
    assert_eq!(at("unfinished"), at("pending") + at("delayed") + at("in_flight"), "{status}");
    let ended = at("completed") + number(&totals["dead"]);
    assert_eq!(number(&totals["admitted"]), at("unfinished") + ended, "{status}");
    assert_eq!(at("in_flight"), number(&totals["dispatched"]) - number(&totals["freed"]), "{status}");
    (at("ingress") + at("unfinished") + ended, ended)
}

/// The process that leads, taken out of `schedulers`.
fn leader(site: &Site, schedulers: &mut Vec<Process>) -> Process {
    wait_for("a leader among the schedulers", || {
        let status = site.status();
        let owner = status["leader"]["owner"].as_str()?.split('#').next()?.to_owned();
        let at = schedulers.iter().position(|s| owner.ends_with(&format!("-{}", s.pid())))?;
        Some(schedulers.swap_remove(at))
    })
}

/// Two schedulers, two workers, `produce`; a worker and the leader crash on the way.
fn survive(site: &Site, policy: &str, produce: &[&str], planned: u64) {
    let scheduler = |name: &str| site.start(name, &["scheduler", "--policy", policy]);
    let worker = |name: &str, rate: &str| {
        let args =
            ["worker", "--name", name, "--concurrency", "16", "--fail-before-ack-rate", rate, "--fail-seed", "7"];
        site.start(name, &args)
    };
    let mut schedulers = vec![scheduler("s1"), scheduler("s2")];
    let mut workers = vec![worker("w1", "0"), worker("w2", "0.3")];
    let mut producer = site.start("producer", produce);
    let mut submitted_all = false;
    let mut last = (0, 0);
    // Samples until so many have ended; every one must add up.
    let mut until = |least: u64| {
        wait_for(&format!("{least} of {planned} tasks to end (last: {last:?})"), || {
            submitted_all = submitted_all || producer.ended().is_some_and(|status| status.success());
            let now = conserved(&site.status());
            assert!(now.0 <= planned && now.0 >= last.0 && now.1 >= last.1, "{last:?} then {now:?}");
            assert!(!submitted_all || now.0 == planned, "{now:?} of {planned} tasks, all of them submitted");
            last = now;
            (now.1 >= least).then_some(())
        });
    };
    until(planned / 8);
    workers.swap_remove(0).crash();
    workers.push(worker("w3", "0"));
    until(planned / 3);
    let before = number(&site.status()["epoch"]);
    leader(site, &mut schedulers).crash();
    schedulers.push(scheduler("s3"));
    until(planned);
    let status = site.status();
    assert_eq!((number(&status["places"]["unfinished"]), number(&status["places"]["ingress"])), (0, 0), "{status}");
    assert!(number(&status["epoch"]) > before, "a new term after the leader's death: {status}");
    let restarted = number(&status["totals"]["retried"]);
    assert!(restarted > 0, "attempts were abandoned, so some were retried: {status}");
    recorded_once(site, planned, &status);
    for process in workers.into_iter().chain(schedulers) {
        process.stop();
    }
    let status = site.status();
    assert!(status["leader"].is_null(), "{status}");
    // The killed worker could not leave; housekeeping drops it for its silence.
    let registered = status["workers"].as_array().unwrap().iter().filter_map(|worker| worker["worker"].as_str());
    assert!(
        registered.into_iter().all(|name| name.starts_with("w1#")),
        "a stopped worker leaves the register: {status}"
    );
}

/// Every task is in `results` or in `dead`, once.
fn recorded_once(site: &Site, planned: u64, status: &Value) {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let config = RedisConfig { url: site.redis.url(), ..RedisConfig::default() };
    let (results, dead) = runtime.block_on(async {
        let broker = RedisBroker::connect(&config, "tq", &Clock::real()).await.unwrap();
        let (mut results, mut dead) = (Vec::new(), Vec::new());
        let mut after = EntryId::ZERO;
        while let Some(last) = {
            let page = broker.results(after, 500).await.unwrap();
            results.extend(page.iter().map(|entry| entry.result.id.as_str().to_owned()));
            page.last().map(|entry| entry.entry)
        } {
            after = last;
        }
        after = EntryId::ZERO;
        while let Some(last) = {
            let page = broker.dead(after, 500).await.unwrap();
            dead.extend(page.iter().map(|entry| entry.letter.id.clone()));
            page.last().map(|entry| entry.entry)
        } {
            after = last;
        }
        (results, dead)
    });
    assert_eq!(results.len() as u64, number(&status["places"]["completed"]));
    assert_eq!(dead.len() as u64, number(&status["places"]["dead"]));
    let ids: BTreeSet<&String> = results.iter().chain(&dead).collect();
    assert_eq!(
        (ids.len(), results.len() + dead.len()),
        (planned as usize, planned as usize),
        "a task is recorded once"
    );
    println!("{} completed, {} dead-lettered, {} retried", results.len(), dead.len(), status["totals"]["retried"]);
}

#[test]
fn every_task_ends_once_though_a_worker_and_the_leader_are_killed() {
    let Some(site) = Site::open() else { return };
    let produce = ["produce", "--workload", "multi_tenant", "--count", "2000", "--rate", "700"];
    survive(&site, "priority", &produce, 2_000);
}

/// A public trace beside the repository.
fn trace() -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let places = ["../shared/traces", "../../shared/traces"].map(|place| root.join(place).join("llm-azure2023.csv"));
    places.into_iter().find(|path| path.exists())
}

#[test]
fn a_real_trace_survives_the_same() {
    let Some(trace) = trace() else {
        println!("skipped: there is no ../shared/traces/llm-azure2023.csv");
        return;
    };
    let Some(site) = Site::open() else { return };
    let produce = ["produce", "--trace", trace.to_str().unwrap(), "--count", "1000", "--speed", "60"];
    survive(&site, "wfq", &produce, 1_000);
}
