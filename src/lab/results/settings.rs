//! What a run was made with, field by field, and where two runs differ.

use super::Run;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// Fields of the manifest that say which cells there are, what came out, or what the run is called; all others can change a
/// figure.
const NO_SETTING: [&str; 17] = [
    "run_id",
    "timestamp_utc",
    "started_utc",
    "finished_utc",
    "command",
    "assembled_from",
    "cells",
    "cells_planned",
    "cells_done",
    "interrupted",
    "warnings",
    "seeds",
    "host",
    "config.bench.policies",
    "config.bench.workloads",
    "config.bench.loads",
    "config.bench.repetitions",
];

/// A field of the manifest in which two runs differ.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// Its dotted name.
    pub field: String,
    /// What the first run says; `-` where it says nothing.
    pub left: String,
    /// What the second one says.
    pub right: String,
}

impl Run {
    /// Every field of the manifest that can change a figure, by its dotted name.
    pub fn settings(&self) -> BTreeMap<String, String> {
        let mut fields = BTreeMap::new();
        flatten("", &self.manifest, &mut fields);
        fields
    }
}

/// The settings in which two runs differ, by name.
pub fn differences(left: &Run, right: &Run) -> Vec<Difference> {
    let (left, right) = (left.settings(), right.settings());
    let names: std::collections::BTreeSet<&String> = left.keys().chain(right.keys()).collect();
    let shown = |of: &BTreeMap<String, String>, name| of.get(name).map_or("-", String::as_str).to_owned();
    let differ = names.into_iter().filter(|name| left.get(*name) != right.get(*name));
    differ
        .map(|name| Difference { field: name.clone(), left: shown(&left, name), right: shown(&right, name) })
        .collect()
}

fn flatten(prefix: &str, value: &Value, fields: &mut BTreeMap<String, String>) {
    if NO_SETTING.contains(&prefix) {
        return;
    }
    match value {
        Value::Object(parts) => {
            for (name, part) in parts {
                let dotted = if prefix.is_empty() { name.clone() } else { format!("{prefix}.{name}") };
                flatten(&dotted, part, fields);
            }
        }
        Value::Null => {}
        Value::String(text) => drop(fields.insert(prefix.to_owned(), text.clone())),
        other => drop(fields.insert(prefix.to_owned(), other.to_string())),
    }
}
