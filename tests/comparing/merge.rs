//! `tq merge`: parts of a run put together are the run; whatever must not stand together is refused and leaves nothing.

use super::runs::{only, rewrite, run, small};
use std::fs;
use std::path::Path;
use tq::lab::compare::{Comparison, Metric, Verdict};
use tq::lab::merge::plan;
use tq::lab::profile::Profile;
use tq::lab::results::Run;

/// The one thing in a folder that is not one of `runs`.
fn nothing_but(folder: &Path, runs: &[&str]) {
    let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let other: Vec<String> = names.filter(|name| !runs.contains(&name.as_str())).collect();
    assert!(other.is_empty(), "left behind: {other:?}");
}

fn refusal(runs: Vec<Run>, out: &Path) -> String {
    format!("{:#}", plan(runs, out).unwrap_err())
}

/// Without the first column, which names the run, and in one order.
fn anonymous(path: &Path) -> Vec<Vec<String>> {
    let mut file = csv::Reader::from_path(path).unwrap();
    let mut rows: Vec<Vec<String>> =
        file.records().map(|row| row.unwrap().iter().skip(1).map(str::to_owned).collect()).collect();
    rows.sort();
    rows
}

#[test]
fn parts_put_together_are_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let mut profile = small();
    profile.bench.repetitions = 2;
    profile.worker.fail_rate = 0.3;
    profile.workload.max_retries = 0;
    let policies = ["fifo", "wfq"];
    let part = |workload: &str| run(only(profile.clone(), &policies, &[workload]), folder.path(), workload);
    let parts = vec![part("uniform"), part("bursty")];
    let whole = run(only(profile.clone(), &policies, &["uniform", "bursty"]), folder.path(), "whole");
    let out = folder.path().join("merged");
    fs::create_dir(&out).unwrap(); // Empty: may be used.
    let planned = plan(parts, &out).unwrap();
    assert_eq!(planned.cells(), 8);
    let table = planned.write().unwrap();
    assert!(table.contains("bursty") && table.contains("uniform"), "{table}");

    let merged = Run::read(&out).unwrap();
    assert_eq!(merged.cells.iter().filter(|row| row.run_id == "bursty").count(), 4, "rows keep their run id");
    for name in ["aggregate.csv", "tenants.csv"] {
        assert_eq!(anonymous(&out.join(name)), anonymous(&whole.directory.join(name)), "{name}");
    }
    for folder in ["raw", "dead_letters"] {
        let files = |of: &Path| {
            let mut names: Vec<_> = fs::read_dir(of.join(folder)).unwrap().map(|e| e.unwrap().file_name()).collect();
            names.sort();
            names
        };
        assert_eq!(files(&out), files(&whole.directory), "{folder}");
    }
    for row in &merged.cells {
        assert_eq!(merged.tasks(row).unwrap().len(), 40);
    }
    assert!(out.join("summary_table.csv").exists() && out.join("summary_table.md").exists());
    let manifest = &merged.manifest;
    assert_eq!(manifest["run_id"], "merged");
    let sources: Vec<&str> =
        manifest["assembled_from"].as_array().unwrap().iter().map(|s| s["run_id"].as_str().unwrap()).collect();
    assert_eq!(sources, ["uniform", "bursty"]);
    assert_eq!((&manifest["cells_planned"], &manifest["cells_done"]), (&8.into(), &8.into()));
    for field in ["cells", "seeds", "warnings"] {
        assert_eq!(
            manifest[field].as_array().unwrap().len(),
            whole.manifest[field].as_array().unwrap().len(),
            "{field}"
        );
    }
    assert_eq!(manifest["config"], whole.manifest["config"]);
    let compared = Comparison::of_runs(&whole, &merged, &Metric::usual()).unwrap();
    assert_eq!(compared.settings, []);
    assert!(compared.metrics.iter().flat_map(|m| &m.cells).all(|cell| cell.verdict == Verdict::NoDifferenceShown));
    nothing_but(folder.path(), &["uniform", "bursty", "whole", "merged"]);
}

#[test]
fn runs_that_were_not_made_alike_are_refused_by_the_name_of_the_field() {
    type Change = (&'static str, fn(&mut Profile), &'static str, &'static str);
    const CHANGES: [Change; 7] = [
        ("config.workload.count", |p| p.workload.count = 41, "40", "41"),
        ("config.scheduler.max_in_flight", |p| p.scheduler.max_in_flight = tq::config::Window::Fixed(9), "8", "9"),
        ("config.worker.exec_mode", |p| p.worker.exec_mode = tq::config::ExecMode::Cpu, "sleep", "cpu"),
        ("config.workload.seed", |p| p.workload.seed += 1, "1000", "1001"),
        ("config.workload.deadline.base_ms", |p| p.workload.deadline.base_ms += 1.0, "250", "251"),
        ("config.bench.workers", |p| p.bench.workers = 3, "2", "3"),
        ("config.workload.arrival_rate_per_s", |p| p.workload.arrival_rate_per_s = 100.0, "200", "100"),
    ];
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let first = run(only(small(), &["fifo"], &["uniform"]), folder.path(), "first");
    for (field, change, left, right) in CHANGES {
        let mut profile = only(small(), &["wfq"], &["uniform"]);
        change(&mut profile);
        let second = run(profile, folder.path(), "second");
        let why = refusal(vec![first.clone(), second], &out);
        assert!(why.contains("first and second were not made alike"), "{why}");
        assert!(
            why.contains(&format!("{field}: {left}")) && why.contains(&format!("against {right}")),
            "{field}: {why}"
        );
    }
    nothing_but(folder.path(), &["first", "second"]);
}

#[test]
fn broker_and_machine_matter_where_time_is_real() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let first = run(only(small(), &["fifo"], &["uniform"]), folder.path(), "first");
    let second = run(only(small(), &["wfq"], &["uniform"]), folder.path(), "second");
    let second = rewrite(&second, |manifest| manifest["machine"]["processor"] = "another one".into());
    plan(vec![first.clone(), second.clone()], &out).unwrap();
    let on_redis = |run: &Run| {
        rewrite(run, |manifest| {
            manifest["virtual_time"] = false.into();
            manifest["broker"] = "private-redis".into();
        })
    };
    let second = on_redis(&second);
    let why = refusal(vec![first.clone(), second.clone()], &out);
    assert!(why.contains("broker: memory-virtual against private-redis"), "{why}");
    let first = on_redis(&first);
    let why = refusal(vec![first.clone(), second.clone()], &out);
    assert!(why.contains("machine.processor"), "{why}");
    let second = rewrite(&second, |manifest| {
        manifest["machine"] = first.manifest["machine"].clone();
        manifest["redis_version"] = "6.2".into();
    });
    let why = refusal(vec![first, second], &out);
    assert!(why.contains("redis_version: - against 6.2"), "{why}");
}

#[test]
fn a_cell_counts_once() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let first = run(only(small(), &["fifo", "edf"], &["uniform"]), folder.path(), "first");
    let second = run(only(small(), &["wfq", "edf"], &["uniform"]), folder.path(), "second");
    let why = refusal(vec![first.clone(), second], &out);
    assert!(why.contains("edf_uniform_rep1") && why.contains("first") && why.contains("second"), "{why}");
    let why = refusal(vec![first.clone(), first], &out);
    assert!(why.contains("fifo_uniform_rep1"), "{why}");
    assert!(!out.exists());
}

#[test]
fn a_torn_run_is_refused_and_an_interrupted_one_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let first = run(only(small(), &["fifo"], &["uniform"]), folder.path(), "first");
    let second = run(only(small(), &["wfq"], &["uniform", "bursty"]), folder.path(), "second");
    let interrupted = rewrite(&second, |manifest| manifest["interrupted"] = true.into());
    plan(vec![first.clone(), interrupted], &out).unwrap();

    let without_last_line = |name: &str| {
        let path = second.directory.join(name);
        let text = fs::read_to_string(&path).unwrap();
        let kept: Vec<&str> = text.lines().collect();
        fs::write(&path, kept[..kept.len() - 1].join("\n") + "\n").unwrap();
        let why = refusal(vec![first.clone(), Run::read(&second.directory).unwrap()], &out);
        fs::write(&path, text).unwrap();
        why
    };
    let why = without_last_line("raw/wfq_bursty_rep1.csv");
    assert!(why.contains("torn") && why.contains("39 rows in raw, not 40"), "{why}");
    let why = without_last_line("tenants.csv");
    assert!(why.contains("wfq_bursty_rep1 has 4 rows in tenants.csv, not 5"), "{why}");
    let why = without_last_line("aggregate.csv");
    assert!(why.contains("manifest.json has 2 cells, aggregate.csv 1"), "{why}");
    let fewer = rewrite(&second, |manifest| drop(manifest["cells"].as_array_mut().unwrap().pop()));
    assert!(refusal(vec![first.clone(), fewer], &out).contains("torn"));
    rewrite(&second, |_| {});
    fs::remove_file(second.directory.join("raw/wfq_uniform_rep1.csv")).unwrap();
    let why = refusal(vec![first, Run::read(&second.directory).unwrap()], &out);
    assert!(why.contains("wfq_uniform_rep1.csv is missing"), "{why}");
}

#[test]
fn the_place_must_be_free_and_a_failure_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let first = run(only(small(), &["fifo"], &["uniform"]), folder.path(), "first");
    let second = run(only(small(), &["wfq"], &["uniform"]), folder.path(), "second");
    let why = refusal(vec![first.clone(), second.clone()], &first.directory);
    assert!(why.contains("not an empty directory"), "{why}");
    // Other columns, as another version would write them; noticed while writing.
    let path = second.directory.join("tenants.csv");
    let text = fs::read_to_string(&path).unwrap().replace("wait_max_s", "wait_longest_s");
    fs::write(&path, text).unwrap();
    let out = folder.path().join("out");
    let why = plan(vec![first, Run::read(&second.directory).unwrap()], &out).unwrap().write().unwrap_err();
    assert!(format!("{why:#}").contains("other columns"), "{why:#}");
    nothing_but(folder.path(), &["first", "second"]);
}
