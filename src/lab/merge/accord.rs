//! May these runs stand in one directory? They must agree in every setting, and no cell may come twice.

use crate::lab::results::{Difference, Run, differences};
use anyhow::bail;
use std::collections::BTreeMap;

/// In virtual time the machine and the kernel change nothing.
fn matters(difference: &Difference, is_virtual: bool) -> bool {
    !(is_virtual && difference.field.starts_with("machine."))
}

/// # Errors
/// With the fields and both values, or the cell and the runs that have it.
pub(super) fn check(runs: &[Run]) -> anyhow::Result<()> {
    let [first, others @ ..] = runs else { bail!("nothing to merge") };
    let is_virtual = first.manifest["virtual_time"] == true;
    for other in others {
        let found: Vec<String> = differences(first, other)
            .into_iter()
            .filter(|difference| matters(difference, is_virtual))
            .map(|d| format!("{}: {} against {}", d.field, d.left, d.right))
            .collect();
        if !found.is_empty() {
            bail!("{} and {} were not made alike: {}", first.id(), other.id(), found.join("; "));
        }
    }
    let mut covered: BTreeMap<(&str, &str, u64, u32), &Run> = BTreeMap::new();
    for run in runs {
        for row in &run.cells {
            let cell = (row.policy.as_str(), row.workload.as_str(), row.load.to_bits(), row.repetition);
            if let Some(earlier) = covered.insert(cell, run) {
                let (a, b) = (earlier.directory.display(), run.directory.display());
                bail!("{} at load {} is in {a} and in {b}: a cell counts once", row.label(false), row.load);
            }
        }
    }
    Ok(())
}
