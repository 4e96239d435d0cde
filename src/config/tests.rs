//! Layers, unknown fields, and every violation at once.

use super::*;
use std::io::Write;

fn vars(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect()
}

fn no_flags() -> BTreeMap<String, String> {
    BTreeMap::new()
}

fn file(text: &str) -> tempfile::NamedTempFile {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(text.as_bytes()).unwrap();
    file
}

fn wrong(env: &[(&str, &str)]) -> String {
    load(None, vars(env), &no_flags()).unwrap_err().to_string()
}

#[test]
fn nothing_given_is_the_default() {
    assert_eq!(load(None, vars(&[]), &no_flags()).unwrap().config, Config::default());
}

#[test]
fn later_layers_win_and_each_value_names_its_source() {
    let file = file("[scheduler]\npolicy = \"edf\"\ningest_batch = 7\n[worker]\nconcurrency = 2\n");
    let env = vars(&[("TQ_SCHEDULER__INGEST_BATCH", "8"), ("TQ_WORKER__CONCURRENCY", "3")]);
    let flags = BTreeMap::from([("worker.concurrency", "9")]);
    let loaded = load(Some(file.path()), env, &flags).unwrap();
    let config = &loaded.config;
    assert_eq!(config.scheduler.policy.name(), "edf");
    assert_eq!((config.scheduler.ingest_batch, config.worker.concurrency), (8, 9));
    assert_eq!(loaded.source_of("scheduler.policy"), &Source::File(file.path().into()));
    assert_eq!(loaded.source_of("scheduler.ingest_batch").to_string(), "env TQ_SCHEDULER__INGEST_BATCH");
    assert_eq!(loaded.source_of("worker.concurrency").to_string(), "flag --concurrency");
}

#[test]
fn a_misspelt_variable_is_named_and_the_field_suggested() {
    let text = wrong(&[("TQ_SCHEDULER__POLCY", "edf")]);
    assert!(text.contains("TQ_SCHEDULER__POLCY") && text.contains("scheduler.policy"), "{text}");
}

#[test]
fn foreign_variables_are_left_alone() {
    let env = [("TQ_TEST_REDIS_URL", "x"), ("TQ_REDIS_PORT", "tcp://10.0.0.1:6379"), ("TQ_REDIS_SERVICE_HOST", "h")];
    load(None, vars(&env), &no_flags()).unwrap();
}

#[test]
fn every_violation_is_reported_at_once() {
    let text = wrong(&[
        ("TQ_SCHEDULER__POLICY", "lifo"),
        ("TQ_WORKER__CONCURRENCY", "0"),
        ("TQ_LEADER_ELECTION__RENEW_INTERVAL", "9s"),
        ("TQ_NAMESPACE", "a{b"),
        ("TQ_RECOVERY__INTERVAL", "5"),
        ("TQ_LOG_FORMAT", "xml"),
    ]);
    for field in [
        "scheduler.policy",
        "worker.concurrency",
        "leader_election.renew_interval",
        "streams.namespace",
        "recovery.interval",
        "log.format",
    ] {
        assert!(text.contains(&format!("\n  {field} (env ")), "{field} is missing: {text}");
    }
}

#[test]
fn a_secret_that_looks_like_a_number_is_read_and_never_shown() {
    let env = vars(&[("TQ_REDIS__PASSWORD", "0077"), ("TQ_REDIS_URL", "redis://u:hush@h:1")]);
    let loaded = load(None, env, &no_flags()).unwrap();
    assert_eq!(loaded.config.redis.password.as_deref(), Some("0077"));
    for shown in [loaded.to_toml(), loaded.to_json().to_string(), format!("{:?}", loaded.config)] {
        assert!(!shown.contains("0077") && !shown.contains("hush"), "{shown}");
    }
}

#[test]
fn what_is_printed_loads_again() {
    let printed = file(&load(None, vars(&[]), &no_flags()).unwrap().to_toml());
    assert_eq!(load(Some(printed.path()), vars(&[]), &no_flags()).unwrap().config, Config::default());
}

#[test]
fn tenant_weights_are_a_table_of_the_users_own_keys() {
    let file = file("[scheduler.tenant_weights]\ngold = 4\n\"a.b\" = 1.5\n");
    let loaded = load(Some(file.path()), vars(&[]), &no_flags()).unwrap();
    assert_eq!(loaded.config.scheduler.tenant_weights.get("a.b"), Some(&1.5));
}
