//! `tq compare`: what is different is called so, what is not is not, and what cannot be compared is refused.

use super::runs::{only, run, small, written};
use std::collections::BTreeMap;
use tq::config::Window;
use tq::lab::compare::{By, Comparison, Family, Metric, Verdict};

fn verdicts(family: &Family) -> BTreeMap<&'static str, usize> {
    let mut counts = BTreeMap::new();
    family.cells.iter().for_each(|cell| *counts.entry(cell.verdict.text()).or_insert(0) += 1);
    counts
}

fn p95() -> Vec<Metric> {
    vec!["p95".parse().unwrap()]
}

/// SplitMix64 and the central limit: near enough to a normal deviate.
struct Noise(u64);

impl Noise {
    fn next(&mut self) -> f64 {
        let mut sum = -6.0;
        for _ in 0..12 {
            self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut z = self.0;
            z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            sum += ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64;
        }
        sum
    }
}

#[test]
fn other_settings_are_found_to_be_different() {
    let folder = tempfile::tempdir().unwrap();
    let mut profile = only(small(), &["fifo", "wfq"], &["uniform", "multi_tenant"]);
    profile.bench.repetitions = 4;
    profile.workload.count = 150;
    let mut starved = profile.clone();
    starved.scheduler.max_in_flight = Window::Fixed(6);
    let (a, b) = (run(profile, folder.path(), "a"), run(starved, folder.path(), "b"));
    let compared = Comparison::of_runs(&a, &b, &Metric::usual()).unwrap();
    assert_eq!(compared.settings.len(), 1, "{:?}", compared.settings);
    assert_eq!(compared.settings[0].field, "config.scheduler.max_in_flight");
    for (family, slower) in [(&compared.metrics[1], true), (&compared.metrics[3], false)] {
        assert_eq!(verdicts(family), [("real", 4)].into(), "{}", family.metric.name);
        for cell in &family.cells {
            assert_eq!((cell.n, cell.by, cell.estimate > 1.0), (4, By::Ratio, slower));
            assert!(cell.low <= cell.estimate && cell.estimate <= cell.high);
        }
    }
    let text = compared.text();
    assert!(text.contains("config.scheduler.max_in_flight") && text.contains("Holm"), "{text}");
    assert!(compared.markdown().contains("| workload | load | policy | a | b |"), "{}", compared.markdown());
}

#[test]
fn one_policy_under_two_names_is_not_different() {
    let folder = tempfile::tempdir().unwrap();
    // With one tenant fair queueing is first come, first served.
    let mut profile = only(small(), &["fifo", "wfq", "priority"], &["uniform", "bursty"]);
    profile.workload.tenants = [("A".to_owned(), 1.0)].into();
    profile.workload.count = 150;
    profile.bench.repetitions = 4;
    let one = run(profile, folder.path(), "one");
    let policies = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
    let compared = Comparison::of_policies(&one, &policies(&["fifo", "wfq"]), &Metric::usual()).unwrap();
    for family in &compared.metrics {
        assert_eq!(verdicts(family), [("no difference shown", 2)].into(), "{}", family.metric.name);
    }
    let compared = Comparison::of_policies(&one, &policies(&["fifo", "wfq", "priority"]), &p95()).unwrap();
    assert_eq!(verdicts(&compared.metrics[0]), [("no difference shown", 2), ("real", 2)].into());
    for (wrong, why) in [
        (vec!["fifo"], "at least two"),
        (vec!["fifo", "fifo"], "at least two"),
        (vec!["fifo", "edf"], "no cell of `edf`"),
    ] {
        let error = Comparison::of_policies(&one, &policies(&wrong), &p95()).unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
    }
}

/// Sixteen cells without any difference, each pair with its own noise: 5 % of runs at most may show one "real" difference.
/// Without Holm's adjustment more than half would.
#[test]
fn noise_is_not_called_a_difference_and_an_effect_is() {
    const TRIALS: u32 = 100;
    let mut noise = Noise(7);
    let mut alarms = 0;
    for trial in 0..TRIALS {
        let folder = tempfile::tempdir().unwrap();
        let a = written(folder.path(), "a", 5, |_, _, repetition| f64::from(repetition) * (0.1 * noise.next()).exp());
        let b = written(folder.path(), "b", 5, |policy, _, repetition| {
            let effect = if policy == "wfq" { 0.5 } else { 1.0 };
            effect * f64::from(repetition) * (0.1 * noise.next()).exp()
        });
        let compared = Comparison::of_runs(&a, &b, &p95()).unwrap();
        let (wfq, others): (Vec<_>, Vec<_>) = compared.metrics[0].cells.iter().partition(|cell| cell.policy == "wfq");
        assert_eq!((wfq.len(), others.len()), (4, 12));
        alarms += u32::from(others.iter().any(|cell| cell.verdict == Verdict::Real));
        let found = wfq.iter().filter(|cell| cell.verdict == Verdict::Real).count();
        assert!(found >= 2, "trial {trial}: half the latency with 10 % of noise, found in {found} of 4 cells");
    }
    // 5 expected at most; 12 or more come in 1 of 500 such tests.
    assert!(alarms < 12, "{alarms} false alarms in {TRIALS}");
}

#[test]
fn one_repetition_has_no_verdict_and_zero_no_ratio() {
    let folder = tempfile::tempdir().unwrap();
    let figure = |policy: &str, factor: f64| if policy == "edf" { 0.0 } else { factor };
    let a = written(folder.path(), "a", 1, |policy, _, _| figure(policy, 1.0));
    let b = written(folder.path(), "b", 3, |policy, _, _| figure(policy, 3.0));
    let compared = Comparison::of_runs(&a, &b, &p95()).unwrap();
    assert_eq!(verdicts(&compared.metrics[0]), [("one repetition: no verdict", 16)].into());
    for cell in &compared.metrics[0].cells {
        let wanted = if cell.policy == "edf" { (By::Difference, 0.0) } else { (By::Ratio, 3.0) };
        assert!((cell.by, (cell.estimate * 1e6).round() / 1e6) == wanted && cell.low.is_nan(), "{cell:?}");
    }
    let none = Comparison::of_runs(&a, &b, &["p99".parse().unwrap()]).unwrap();
    assert_eq!(verdicts(&none.metrics[0]), [("no figures", 16)].into());
    assert!(none.text().contains("no figures"));
}

#[test]
fn runs_without_a_common_cell_are_refused_with_what_differs() {
    let folder = tempfile::tempdir().unwrap();
    let fifo = run(only(small(), &["fifo"], &["uniform"]), folder.path(), "first");
    let mut other = only(small(), &["wfq"], &["uniform"]);
    other.workload.seed = 5;
    let other = run(other, folder.path(), "second");
    let why = Comparison::of_runs(&fifo, &other, &p95()).unwrap_err().to_string();
    assert!(why.contains("share no cell"), "{why}");
    assert!(why.contains("policies: fifo against wfq; seeds: 1000 against 5"), "{why}");
    let mut reseeded = only(small(), &["fifo"], &["uniform"]);
    reseeded.workload.seed = 5;
    let reseeded = run(reseeded, folder.path(), "third");
    let why = Comparison::of_runs(&fifo, &reseeded, &p95()).unwrap_err().to_string();
    assert!(why.ends_with("seeds: 1000 against 5"), "{why}");
    let tq = || assert_cmd::Command::cargo_bin("tq").unwrap();
    tq().arg("compare").args([&fifo.directory, &other.directory]).assert().code(2);
    tq().arg("compare").arg(&fifo.directory).assert().code(2);
    tq().args(["compare", "--metric", "p97"]).args([&fifo.directory, &fifo.directory]).assert().code(2);
    let same = tq().args(["compare", "--json"]).args([&fifo.directory, &fifo.directory]).assert().success();
    let json: serde_json::Value = serde_json::from_slice(&same.get_output().stdout).unwrap();
    assert_eq!(
        (&json["metrics"][0]["cells"][0]["verdict"], &json["left"]),
        (&"one_repetition".into(), &"first".into())
    );
}
