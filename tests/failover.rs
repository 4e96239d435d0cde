//! `tq failover` with real processes, once per arm: whatever becomes of the leader, every task ends once, and nothing is
//! dispatched under a dead term. How long it takes is measured elsewhere.

use assert_cmd::Command;
use serde_json::Value;
use tq::lab::harness::private_redis::PrivateRedis;

fn tq() -> Command {
    let mut command = Command::cargo_bin("tq").unwrap();
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("TQ_")) {
        command.env_remove(name);
    }
    command
}

/// The rows of one repetition of these arms.
fn trials(arms: &str) -> Option<Vec<Value>> {
    if !PrivateRedis::available() {
        println!("skipped: no redis-server on the PATH");
        return None;
    }
    let results = tempfile::tempdir().unwrap();
    // A lease that a busy machine does not miss by itself.
    let lease = ["--lease-ttl", "4s", "--lease-renew", "1s"];
    let output = tq()
        .args(["failover", "--repetitions", "1", "--arms", arms, "--json", "--run-id", "t", "--results-dir"])
        .arg(results.path())
        .args(lease)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let file = std::fs::read_to_string(results.path().join("t/failover.csv")).unwrap();
    let trials = report["trials"].as_array().unwrap().clone();
    assert_eq!(file.lines().count(), trials.len() + 1, "{file}");
    let manifest = std::fs::read(results.path().join("t/manifest.json")).unwrap();
    let manifest: Value = serde_json::from_slice(&manifest).unwrap();
    assert_eq!(
        (&manifest["experiment"], &manifest["config"]["leader_election"]["ttl"]),
        (&"failover".into(), &"4s".into())
    );
    Some(trials)
}

fn assert_sound(trial: &Value) {
    assert_eq!((&trial["recovered"], &trial["leaders_before_kill"]), (&true.into(), &1.into()), "{trial}");
    for count in ["unfinished", "epoch_inversions", "duplicate_completions"] {
        assert_eq!(trial[count], 0, "{count}: {trial}");
    }
    assert!(trial["outage_ms"].as_f64().unwrap() > 0.0 && trial["terms"].as_u64().unwrap() >= 1, "{trial}");
}

#[test]
fn a_leader_that_stops_or_crashes_is_followed_and_nothing_is_lost() {
    let Some(trials) = trials("graceful,crash") else { return };
    assert_eq!(trials.len(), 2);
    trials.iter().for_each(assert_sound);
}

#[test]
fn a_leader_that_was_cut_off_comes_back_as_a_standby() {
    let Some(trials) = trials("partition") else { return };
    assert_eq!(trials.iter().map(|trial| &trial["mode"]).collect::<Vec<_>>(), ["reset", "black_hole"]);
    for trial in &trials {
        assert_sound(trial);
        assert_eq!(trial["leaders_after_resume"], 1, "{trial}");
    }
}

#[test]
fn processes_cannot_share_memory() {
    tq().args(["failover", "--broker", "memory"]).assert().code(2).stderr(predicates::str::contains("--broker memory"));
}
