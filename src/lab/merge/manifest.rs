//! The manifest of an assembled directory.

use crate::lab::results::Run;
use serde_json::{Value, json};

/// What the runs agree in stands as it did; cells, seeds and warnings are united; `assembled_from` says what came from where.
pub(super) fn of(runs: &[Run], run_id: &str) -> Value {
    let mut merged = runs[0].manifest.clone();
    let total = |field: &str| runs.iter().filter_map(|run| run.manifest[field].as_u64()).sum::<u64>();
    merged["run_id"] = run_id.into();
    for field in ["cells_planned", "cells_done"] {
        merged[field] = total(field).into();
    }
    merged["interrupted"] = runs.iter().any(|run| run.manifest["interrupted"] == true).into();
    for field in ["cells", "seeds", "warnings"] {
        merged[field] = united(runs.iter().map(|run| &run.manifest[field]));
    }
    for field in ["policies", "workloads", "loads"] {
        merged["config"]["bench"][field] = united(runs.iter().map(|run| &run.manifest["config"]["bench"][field]));
    }
    merged["config"]["bench"]["repetitions"] =
        runs.iter().flat_map(|run| &run.cells).map(|row| row.repetition).max().into();
    let source = |run: &Run| {
        let said = |field: &str| run.manifest[field].clone();
        let mut source = json!({
            "run_id": run.id(),
            "machine": said("machine"),
            "cells_planned": said("cells_planned"),
            "cells_done": said("cells_done"),
            "interrupted": said("interrupted"),
        });
        if !run.manifest["assembled_from"].is_null() {
            source["assembled_from"] = said("assembled_from");
        }
        source
    };
    merged["assembled_from"] = runs.iter().map(source).collect();
    merged
}

/// The elements of all lists, each once, in the order of their first appearance.
fn united<'a>(lists: impl Iterator<Item = &'a Value>) -> Value {
    let mut found: Vec<Value> = Vec::new();
    for value in lists.filter_map(Value::as_array).flatten() {
        if !found.contains(value) {
            found.push(value.clone());
        }
    }
    found.into()
}
