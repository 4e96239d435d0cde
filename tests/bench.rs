//! The matrix in virtual time: what the policies are known to do shows, runs repeat to the byte, and what an interrupted run
//! leaves can be read. Also: the traces that are at hand can be read.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use tokio_util::sync::CancellationToken;
use tq::config::RedisConfig;
use tq::lab::harness::private_redis::PrivateRedis;
use tq::lab::matrix::{Matrix, Measured, Report};
use tq::lab::plan;
use tq::lab::profile::{Arm, Profile};
use tq::lab::results::Run;
use tq::lab::store::{Choice, Store};
use tq::model::outcome::TaskResult;
use tq::stats::percentile;

fn run(profile: Profile, directory: &Path, stop: CancellationToken) -> Report {
    run_on(Choice::Memory, profile, directory, stop)
}

/// Memory is virtual.
fn run_on(choice: Choice, profile: Profile, directory: &Path, stop: CancellationToken) -> Report {
    let cells = plan::cells(&profile, None);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(Box::pin(async {
        let store = Store::open(choice, choice == Choice::Memory, &RedisConfig::default()).await.unwrap();
        let (run_id, results_dir) = ("test".into(), directory.to_owned());
        Matrix { profile, cells, store, run_id, results_dir, quiet: true }.run(stop).await.unwrap()
    }))
}

/// The profile `full` once, for every test that looks at it.
fn full() -> &'static Report {
    static REPORT: OnceLock<Report> = OnceLock::new();
    REPORT.get_or_init(|| {
        let directory = tempfile::tempdir().unwrap();
        run(Profile::named("full").unwrap(), directory.path(), CancellationToken::new())
    })
}

fn cell(arm: &str, workload: &str) -> &'static Measured {
    let found = |measured: &&Measured| measured.cell.arm.name() == arm && measured.cell.workload == workload;
    full().cells.iter().find(found).unwrap()
}

fn latency_p95_s(results: &[TaskResult], of: impl Fn(&TaskResult) -> bool) -> f64 {
    let mut seconds: Vec<f64> = results.iter().filter(|r| of(r)).map(|r| r.sojourn().as_secs_f64()).collect();
    seconds.sort_by(f64::total_cmp);
    percentile(&seconds, 0.95)
}

const POLICIES: [&str; 4] = ["fifo", "priority", "edf", "wfq"];

#[test]
fn every_planned_task_completes_once() {
    let report = full();
    assert!(report.is_complete(), "{:?}", report.warnings);
    assert_eq!(report.cells.len(), 16);
    for measured in &report.cells {
        assert_eq!(measured.summary.completed, 4_000, "{}", measured.cell.label());
        assert_eq!(measured.outcome.snapshot.counter("duplicate_completions"), 0);
        assert_eq!(measured.outcome.recorded_twice, 0);
        assert_eq!(measured.outcome.producer.submitted, 4_000);
    }
}

#[test]
fn wfq_shields_small_tenants_from_a_noisy_one() {
    let small = |arm| latency_p95_s(&cell(arm, "multi_tenant").outcome.results, |r| r.tenant.as_str() != "A");
    let (fifo, wfq) = (small("fifo"), small("wfq"));
    assert!(wfq <= fifo / 10.0, "small tenants' p95: wfq {wfq} s, fifo {fifo} s");
}

#[test]
fn fair_shares_are_refused_by_fifo_and_given_by_wfq() {
    let satisfaction = |arm, workload| cell(arm, workload).summary.fair_share_satisfaction_min;
    assert!(satisfaction("fifo", "multi_tenant") < 0.6, "{}", satisfaction("fifo", "multi_tenant"));
    assert!(satisfaction("wfq", "multi_tenant") > 0.95, "{}", satisfaction("wfq", "multi_tenant"));
    // Jain's index over the whole run cannot tell them apart: in the end everybody got what was asked for.
    let jain = |arm| cell(arm, "multi_tenant").summary.jain_service;
    assert!((jain("fifo") - jain("wfq")).abs() < 1e-9);
    // Equal tenants are nearly satisfied by any order.
    assert!(satisfaction("fifo", "uniform") > 0.9);
}

#[test]
fn the_orders_of_submission_starve_nobody_in_full_and_priority_many_in_bursts() {
    assert_eq!(POLICIES.map(|arm| cell(arm, "uniform").summary.starved), [0; 4]);
    let starved = |arm| cell(arm, "bursty").summary.starved;
    assert!(starved("priority") > 2 * starved("fifo"), "{} {}", starved("priority"), starved("fifo"));
}

#[test]
fn only_priority_orders_latency_by_priority() {
    for arm in POLICIES {
        let results = &cell(arm, "uniform").outcome.results;
        let by_priority: Vec<f64> = (0..5).map(|p| latency_p95_s(results, |r| r.priority == p)).collect();
        if arm == "priority" {
            assert!(by_priority.windows(2).all(|pair| pair[1] < pair[0]), "{by_priority:?}");
            assert!(by_priority[4] < by_priority[0] / 10.0, "{by_priority:?}");
        } else {
            let (min, max) = by_priority.iter().fold((f64::MAX, 0f64), |(a, b), x| (a.min(*x), b.max(*x)));
            assert!(max < 1.25 * min, "{arm} {by_priority:?}");
        }
    }
}

#[test]
fn edf_misses_fewest_deadlines_of_a_heavy_tail() {
    let rate = |arm| cell(arm, "heavy_tailed").summary.deadline_miss_rate;
    for arm in ["fifo", "priority", "wfq"] {
        assert!(rate("edf") < rate(arm), "edf {} {arm} {}", rate("edf"), rate(arm));
    }
}

#[test]
fn no_policy_costs_throughput() {
    let rates = POLICIES.map(|arm| cell(arm, "uniform").summary.throughput_per_s);
    let (min, max) = rates.iter().fold((f64::MAX, 0f64), |(a, b), x| (a.min(*x), b.max(*x)));
    assert!(max / min < 1.03, "{rates:?}");
}

fn quick(arms: &[&str]) -> Profile {
    let mut profile = Profile::named("quick").unwrap();
    profile.bench.policies = arms.iter().map(|arm| arm.parse::<Arm>().unwrap()).collect();
    profile
}

fn raw_files(directory: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let entries = std::fs::read_dir(directory.join("test/raw")).unwrap().map(|entry| entry.unwrap());
    entries.map(|entry| (entry.file_name().into(), std::fs::read(entry.path()).unwrap())).collect()
}

#[test]
fn one_seed_gives_the_same_bytes_and_another_one_others() {
    let (a, b, c) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let arms = ["none", "fifo", "priority", "edf", "wfq"];
    run(quick(&arms), a.path(), CancellationToken::new());
    run(quick(&arms), b.path(), CancellationToken::new());
    let mut other = quick(&arms);
    other.workload.seed += 1;
    run(other, c.path(), CancellationToken::new());
    assert_eq!(raw_files(a.path()).len(), 20);
    for (name, bytes) in raw_files(a.path()) {
        assert!(raw_files(b.path())[&name] == bytes, "{} differs", name.display());
        assert!(raw_files(c.path())[&name] != bytes, "{} does not depend on the seed", name.display());
    }
    let aggregate = |directory: &Path| std::fs::read(directory.join("test/aggregate.csv")).unwrap();
    assert_eq!(aggregate(a.path()), aggregate(b.path()));
}

#[test]
fn injected_failures_account_for_every_task() {
    let directory = tempfile::tempdir().unwrap();
    let mut profile = Profile::named("failure").unwrap();
    profile.bench.policies = vec!["wfq".parse().unwrap()];
    profile.bench.workloads.truncate(1);
    profile.workload.max_retries = 1;
    let report = run(profile, directory.path(), CancellationToken::new());
    let measured = &report.cells[0];
    let (completed, dead) = (measured.summary.completed, measured.outcome.dead.len() as u64);
    assert!(report.is_complete() && completed > 0 && dead > 0, "{completed} {dead}");
    assert_eq!(completed + dead, 300);
    let letters = std::fs::read(directory.path().join("test/dead_letters/wfq_uniform_rep1.json")).unwrap();
    let letters: Vec<serde_json::Value> = serde_json::from_slice(&letters).unwrap();
    assert_eq!(letters.len() as u64, dead);
    let raw = String::from_utf8(raw_files(directory.path()).remove(Path::new("wfq_uniform_rep1.csv")).unwrap());
    assert_eq!(raw.unwrap().matches(",dead_lettered,").count() as u64, dead);
}

#[test]
fn an_interrupted_run_leaves_readable_files() {
    let directory = tempfile::tempdir().unwrap();
    let stop = CancellationToken::new();
    stop.cancel();
    let report = run(quick(&["fifo"]), directory.path(), stop);
    assert!(report.interrupted && !report.is_complete());
    let manifest = std::fs::read(directory.path().join("test/manifest.json")).unwrap();
    let manifest: serde_json::Value = serde_json::from_slice(&manifest).unwrap();
    assert_eq!((&manifest["interrupted"], &manifest["cells_done"]), (&true.into(), &0.into()));
    for name in ["aggregate.csv", "tenants.csv", "summary_table.csv"] {
        let mut file = csv::Reader::from_path(directory.path().join("test").join(name)).unwrap();
        assert!(file.headers().unwrap().len() > 10, "{name}");
        assert_eq!(file.records().count(), 0, "{name}");
    }
}

#[test]
fn cells_run_on_a_private_redis_and_the_control_arm_has_no_leader() {
    if !PrivateRedis::available() {
        println!("skipped: no redis-server on the PATH");
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let mut profile = quick(&["none", "wfq"]);
    profile.bench.workloads.truncate(1);
    profile.workload.count = 60;
    let report = run_on(Choice::Private, profile, directory.path(), CancellationToken::new());
    assert!(report.is_complete() && report.cells.len() == 2, "{:?}", report.warnings);
    let epochs = report.cells.iter().map(|m| m.outcome.results.iter().map(|r| r.epoch.0).max().unwrap());
    assert_eq!(epochs.collect::<Vec<_>>(), [0, 1]);
    let rows = std::fs::read_to_string(directory.path().join("test/aggregate.csv")).unwrap();
    assert_eq!(rows.matches(",private-redis,").count(), 2);
}

#[test]
fn rows_have_the_columns_of_the_header() {
    let directory = tempfile::tempdir().unwrap();
    run(quick(&["fifo"]), directory.path(), CancellationToken::new());
    for (name, rows) in
        [("aggregate.csv", 4), ("tenants.csv", 20), ("priorities.csv", 20), ("raw/fifo_bursty_rep1.csv", 300)]
    {
        // The reader refuses rows of another length.
        let mut file = csv::Reader::from_path(directory.path().join("test").join(name)).unwrap();
        assert_eq!(file.records().map(Result::unwrap).count(), rows, "{name}");
    }
}

#[test]
fn the_traces_at_hand_can_be_read() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/traces");
    let traces = [
        ("faas-azure2019", 19_793),
        ("hpc-slurm-pozidriv", 10_340),
        ("k8s-gpu-openb2023", 7_195),
        ("llm-azure2023", 20_000),
    ];
    for (name, rows) in traces {
        let Ok(file) = std::fs::File::open(folder.join(name).with_extension("csv")) else {
            println!("skipped: ../shared/traces/{name}.csv is absent");
            continue;
        };
        assert_eq!(tq::workload::trace::read(file).unwrap().len(), rows, "{name}");
    }
}

#[test]
fn what_was_written_can_be_read_back() {
    let directory = tempfile::tempdir().unwrap();
    let mut profile = quick(&["fifo", "none"]);
    profile.bench.loads = vec![1.25];
    let report = run(profile, directory.path(), CancellationToken::new());
    let read = Run::read(&directory.path().join("test")).unwrap();
    assert_eq!((read.id(), read.cells.len(), read.tenants.len(), read.priorities.len()), ("test", 8, 40, 40));
    assert!(read.priorities.iter().take(5).map(|row| row.figure("priority")).eq([0.0, 1.0, 2.0, 3.0, 4.0]));
    for (row, measured) in read.cells.iter().zip(&report.cells) {
        assert_eq!(row.label(true), measured.cell.label());
        assert!((row.figure("latency_p95_s") - measured.summary.latency.p95_s).abs() < 1e-6);
        assert!(row.figure("timed_out") == 0.0 && row.figure("no_such_column").is_nan());
        let tasks = read.tasks(row).unwrap();
        assert_eq!(tasks.len(), 300);
        assert_eq!(tasks.iter().map(|task| task.service_us).sum::<i64>() > 0, tasks[0].outcome == "completed");
    }
    let error = Run::read(directory.path()).unwrap_err().to_string();
    assert!(error.contains("no result directory"), "{error}");
}
