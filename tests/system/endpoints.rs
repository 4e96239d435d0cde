//! `/metrics`, `/healthz` and `/readyz` of both processes: the contract's names, and readiness that follows Redis.

use super::processes::{Process, Site, wait_for};
use std::io::{Read, Write};
use std::net::TcpStream;

const SCHEDULER: [&str; 15] = [
    "tq_tasks_admitted_total",
    "tq_pending_tasks",
    "tq_inflight_tasks",
    "tq_longest_pending_wait_seconds",
    "tq_max_observed_wait_seconds",
    "tq_recovery_reclaimed_total",
    "tq_scheduler_is_leader",
    "tq_scheduler_leader_epoch",
    "tq_scheduler_leader_transitions_total",
    "tq_scheduler_fenced_operations_total",
    "tq_dispatch_errors_total",
    "tq_duplicate_admissions_total",
    "tq_rejected_submissions_total",
    "tq_record_differences_total",
    "tq_tasks_dispatched_total",
];
const WORKER: [&str; 13] = [
    "tq_tasks_completed_total",
    "tq_task_failures_total",
    "tq_duplicate_completions_total",
    "tq_deadline_missed_total",
    "tq_queue_wait_seconds",
    "tq_task_latency_seconds",
    "tq_task_exec_seconds",
    "tq_worker_busy_seconds_total",
    "tq_worker_slot_seconds_total",
    "tq_worker_utilization_ratio",
    "tq_worker_concurrency",
    "tq_tenant_service_seconds_total",
    "tq_tenant_completed_tasks_total",
];
const BOTH: [&str; 3] = ["tq_task_retries_total", "tq_tasks_dead_lettered_total", "process_cpu_seconds_total"];

/// Status code and body.
fn get(address: &str, path: &str) -> (u16, String) {
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nhost: tq\r\nconnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    (head.split(' ').nth(1).unwrap().parse().unwrap(), body.to_owned())
}

/// The families that have a sample, by the names before label or value.
fn has(metrics: &str, name: &str) -> bool {
    metrics.lines().any(|line| {
        line.strip_prefix(name).is_some_and(|rest| rest.starts_with(['{', ' ']) || rest.starts_with("_bucket{"))
    })
}

fn exposes(process: &Process, component: &str, own: &[&str], foreign: &[&str]) {
    let (code, metrics) = get(&process.address(), "/metrics");
    assert_eq!(code, 200);
    let missing: Vec<_> = own.iter().chain(&BOTH).filter(|name| !has(&metrics, name)).collect();
    assert!(missing.is_empty(), "{component} lacks {missing:?}:\n{metrics}");
    let surplus: Vec<_> = foreign.iter().filter(|name| has(&metrics, name)).collect();
    assert!(surplus.is_empty(), "{component} cannot produce {surplus:?}");
    for line in metrics.lines().filter(|line| line.starts_with("tq_")) {
        let labelled = line.contains(&format!("component=\"{component}\"")) && line.contains("scheduler=\"wfq\"");
        assert!(labelled, "no constant labels: {line}");
    }
}

#[test]
fn metrics_carry_the_names_of_the_contract() {
    let Some(site) = Site::open() else { return };
    let config = site.redis.directory().join("tq.toml");
    std::fs::write(&config, "[scheduler]\npolicy = \"wfq\"\ntenant_weights = { gold = 4 }\n").unwrap();
    let config = config.to_str().unwrap();
    let scheduler = site.start("scheduler", &["scheduler", "--config", config]);
    let worker = site.start("worker", &["worker", "--config", config]);
    for process in [&scheduler, &worker] {
        wait_for("readiness", || (get(&process.address(), "/readyz").0 == 200).then_some(()));
        assert_eq!(get(&process.address(), "/nonsense").0, 404);
    }
    exposes(&scheduler, "scheduler", &SCHEDULER, &WORKER);
    exposes(&worker, "worker", &WORKER, &SCHEDULER);
    let leads = || {
        get(&scheduler.address(), "/metrics")
            .1
            .lines()
            .any(|l| l.starts_with("tq_scheduler_is_leader") && l.ends_with(" 1"))
    };
    wait_for("the only scheduler to lead", || leads().then_some(()));
    worker.stop();
    scheduler.stop();
    assert!(site.status()["leader"].is_null(), "a stopped scheduler gives the lease back");
}

#[test]
fn readiness_follows_redis_and_health_does_not() {
    let Some(mut site) = Site::open() else { return };
    site.redis.kill();
    let processes = [site.start("scheduler", &["scheduler"]), site.start("worker", &["worker"])];
    let addresses = processes.each_ref().map(Process::address);
    for address in &addresses {
        assert_eq!((get(address, "/healthz").0, get(address, "/readyz").0), (200, 503));
    }
    site.redis.resume().unwrap();
    for address in &addresses {
        wait_for("readiness once Redis answers", || (get(address, "/readyz").0 == 200).then_some(()));
    }
    site.redis.kill();
    for address in &addresses {
        wait_for("the end of readiness", || (get(address, "/readyz").0 == 503).then_some(()));
        assert_eq!(get(address, "/healthz").0, 200);
    }
    // Redis away must not keep a process from stopping.
    for process in processes {
        process.stop();
    }
}
