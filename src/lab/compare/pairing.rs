//! Which rows are held against which: the same tasks under two conditions, repetition by repetition.

use crate::lab::results::{Row, Run};
use anyhow::bail;
use std::collections::BTreeSet;

/// A cell under two conditions.
#[derive(Debug, Clone)]
pub(super) struct Pairing {
    /// The policy, or `second/first` when two policies are compared.
    pub(super) policy: String,
    /// The workload.
    pub(super) workload: String,
    /// Offered load.
    pub(super) load: f64,
    /// A pair of rows per repetition.
    pub(super) rows: Vec<(Row, Row)>,
}

impl Pairing {
    /// What a reader calls it.
    pub(super) fn label(&self) -> String {
        format!("{} on {} at {:.2}", self.policy, self.workload, self.load)
    }
}

/// Cell and repetition without the policy: what the tasks depend on.
fn tasks(row: &Row) -> (&str, u64, u32, u64) {
    (&row.workload, row.load.to_bits(), row.repetition, row.seed)
}

fn collect(pairs: impl Iterator<Item = (String, Row, Row)>) -> Vec<Pairing> {
    let mut found: Vec<Pairing> = Vec::new();
    for (policy, left, right) in pairs {
        let same = |p: &&mut Pairing| p.policy == policy && p.workload == left.workload && p.load == left.load;
        match found.iter_mut().find(same) {
            Some(pairing) => pairing.rows.push((left, right)),
            None => {
                let (workload, load) = (left.workload.clone(), left.load);
                found.push(Pairing { policy, workload, load, rows: vec![(left, right)] });
            }
        }
    }
    found
}

/// The cells that two runs share: same policy, workload, load, repetition and seed.
///
/// # Errors
/// When they share none; it says what differs.
pub(super) fn of_runs(left: &Run, right: &Run) -> anyhow::Result<Vec<Pairing>> {
    let partner = |row: &Row| right.cells.iter().find(|other| other.policy == row.policy && tasks(other) == tasks(row));
    let pairs = left.cells.iter().filter_map(|row| Some((row.policy.clone(), row.clone(), partner(row)?.clone())));
    let found = collect(pairs);
    if found.is_empty() {
        bail!(
            "{} and {} share no cell (policy, workload, load, repetition and seed): {}",
            left.id(),
            right.id(),
            apart(left, right)
        );
    }
    Ok(found)
}

/// Every later policy against the first, within one run.
///
/// # Errors
/// When a policy is named that the run does not have, or they were never given the same tasks.
pub(super) fn of_policies(run: &Run, policies: &[String]) -> anyhow::Result<Vec<Pairing>> {
    let [first, others @ ..] = policies else { bail!("--policies: name the policy to compare with, and others") };
    let there: BTreeSet<&str> = run.cells.iter().map(|row| row.policy.as_str()).collect();
    if let Some(missing) = policies.iter().find(|policy| !there.contains(policy.as_str())) {
        let names: Vec<&str> = there.into_iter().collect();
        bail!("--policies: {} has no cell of `{missing}`; it has {}", run.id(), names.join(", "));
    }
    if others.is_empty() || others.contains(first) {
        bail!("--policies: name at least two different policies, such as fifo,wfq");
    }
    let base = |row: &Row| run.cells.iter().find(|other| other.policy == *first && tasks(other) == tasks(row));
    let pairs = others.iter().flat_map(|policy| {
        let rows = run.cells.iter().filter(move |row| row.policy == *policy);
        rows.filter_map(move |row| Some((format!("{policy}/{first}"), base(row)?.clone(), row.clone())))
    });
    let found = collect(pairs);
    if found.is_empty() {
        bail!("--policies: {} has no workload, load and repetition that {} share", run.id(), policies.join(" and "));
    }
    Ok(found)
}

/// What keeps two runs apart, dimension by dimension.
fn apart(left: &Run, right: &Run) -> String {
    type Part = (&'static str, fn(&Row) -> String);
    const PARTS: [Part; 5] = [
        ("policies", |row| row.policy.clone()),
        ("workloads", |row| row.workload.clone()),
        ("loads", |row| row.load.to_string()),
        ("repetitions", |row| row.repetition.to_string()),
        ("seeds", |row| row.seed.to_string()),
    ];
    let mut found = Vec::new();
    for (name, part) in PARTS {
        let values = |run: &Run| run.cells.iter().map(part).collect::<BTreeSet<_>>();
        let (ours, theirs) = (values(left), values(right));
        if ours.is_disjoint(&theirs) {
            let list = |values: BTreeSet<String>| match values.len() {
                0 => "none".to_owned(),
                _ => values.into_iter().collect::<Vec<_>>().join(", "),
            };
            found.push(format!("{name}: {} against {}", list(ours), list(theirs)));
        }
    }
    if found.is_empty() { "no combination of them is in both".into() } else { found.join("; ") }
}
