//! Is a run whole? An interrupted one is, as long as what it says it did is there; a killed one may be torn.

use crate::lab::results::Run;
use anyhow::bail;

/// An interrupted run is accepted when its rows, its manifest and its raw files speak of the same cells: its cells are
/// complete then, there are only fewer of them. A run that was killed between two files is not.
///
/// # Errors
/// With what is missing.
pub(super) fn check(run: &Run) -> anyhow::Result<()> {
    if run.cells.is_empty() {
        bail!("it has no finished cell");
    }
    let said = run.manifest["cells"].as_array().map_or(0, Vec::len);
    if said != run.cells.len() {
        bail!("it is torn: manifest.json has {said} cells, aggregate.csv {}", run.cells.len());
    }
    for cell in &run.cells {
        let label = cell.label(false);
        let of_cell = |row: &&crate::lab::results::Row| {
            (&row.policy, &row.workload, row.load.to_bits(), row.repetition)
                == (&cell.policy, &cell.workload, cell.load.to_bits(), cell.repetition)
        };
        let (tenants, wanted) = (run.tenants.iter().filter(of_cell).count(), cell.figure("tenant_count"));
        if tenants as f64 != wanted {
            bail!("it is torn: {label} has {tenants} rows in tenants.csv, not {wanted}");
        }
        let (tasks, planned) = (run.tasks(cell)?.len(), cell.figure("tasks_planned"));
        if tasks as f64 != planned {
            bail!("it is torn: {label} has {tasks} rows in raw, not {planned}");
        }
    }
    let cells_of_tenants =
        |row: &crate::lab::results::Row| run.cells.iter().any(|cell| cell.label(true) == row.label(true));
    if let Some(row) = run.tenants.iter().find(|row| !cells_of_tenants(row)) {
        bail!("it is torn: tenants.csv has rows of {}, aggregate.csv has not", row.label(false));
    }
    Ok(())
}
