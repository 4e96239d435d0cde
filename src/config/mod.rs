//! The configuration: sections with defaults, layers, validation, units.
//!
//! Layers, later ones win: built-in defaults, the file (`--config` or `TQ_CONFIG`), `TQ_…` variables, flags. A field that does
//! not exist is refused in each of them, and everything that is wrong is reported at once.

mod layers;
mod schema;
pub mod sections;
pub mod show;
pub mod source;
#[cfg(test)]
mod tests;
pub mod validate;

pub use crate::model::units;
use crate::workload::WorkloadConfig;
use figment::Figment;
use figment::providers::Serialized;
use figment::value::{Dict, Value};
use layers::Leaf;
use schema::Schema;
pub use sections::{
    ExecMode, LeaderElectionConfig, LogConfig, RecoveryConfig, RedisConfig, SchedulerConfig, StreamsConfig, Window,
    WorkerConfig,
};
use serde::{Deserialize, Serialize};
pub use source::{Source, Violation, Violations};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Everything that can be configured.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Where the store is.
    pub redis: RedisConfig,
    /// The namespace and retentions.
    pub streams: StreamsConfig,
    /// Policy, batches, window.
    pub scheduler: SchedulerConfig,
    /// The lease.
    pub leader_election: LeaderElectionConfig,
    /// Slots, execution, failure injection.
    pub worker: WorkerConfig,
    /// Expired attempts, retries, backoff.
    pub recovery: RecoveryConfig,
    /// What `produce` and `bench` submit.
    pub workload: WorkloadConfig,
    /// Logging.
    pub log: LogConfig,
}

/// A valid configuration and where each of its values came from.
#[derive(Debug, Clone)]
pub struct Loaded {
    /// The values.
    pub config: Config,
    /// By dotted field, every field that has a value.
    pub sources: BTreeMap<String, Source>,
}

/// Loads the configuration from a file, the variables `vars` and `flags` (serialised under dotted field names, those not
/// given left out).
///
/// # Errors
/// Everything that is wrong, at once.
pub fn load(
    file: Option<&Path>,
    vars: impl IntoIterator<Item = (String, String)>,
    flags: &impl Serialize,
) -> Result<Loaded, Violations> {
    let schema = Schema::new();
    let mut vars: Vec<_> = vars.into_iter().filter(|(name, _)| name.starts_with("TQ_")).collect();
    vars.sort();
    let from_env = vars.iter().find(|(name, text)| name == "TQ_CONFIG" && !text.is_empty());
    let file = file.map(PathBuf::from).or_else(|| from_env.map(|(_, path)| path.into()));
    let layers = [
        file.as_deref().map(|path| layers::file(&schema, path)).unwrap_or_default(),
        layers::env(&schema, &vars),
        layers::flags(&schema, flags),
    ];
    let mut wrong = Vec::new();
    let mut values = schema.defaults().clone();
    let mut sources: BTreeMap<_, _> = values.keys().map(|path| (path.clone(), Source::Default)).collect();
    for layer in layers {
        wrong.extend(layer.violations);
        for leaf in layer.leaves {
            match readable(&leaf) {
                Ok(value) => {
                    values.insert(leaf.path.clone(), value);
                    sources.insert(leaf.path, leaf.source);
                }
                Err(violation) => wrong.push(violation),
            }
        }
    }
    // What can be read is validated even where other fields cannot: one run shows everything.
    match extract(schema::nest(&values)) {
        Ok(config) => {
            let loaded = Loaded { config, sources };
            wrong.extend(validate::violations(&loaded.config).into_iter().map(|violation| {
                let source = Some(loaded.source_of(&violation.field).clone());
                Violation { source, ..violation }
            }));
            if wrong.is_empty() { Ok(loaded) } else { Err(Violations(wrong)) }
        }
        Err(message) => {
            wrong.push(Violation::new("configuration", message));
            Err(Violations(wrong))
        }
    }
}

/// Every field by its dotted name, those without a default included.
pub fn fields() -> Vec<String> {
    Schema::new().fields().map(str::to_owned).collect()
}

/// The leaf's value as its field reads it; each leaf is tried alone, so that one mistake hides no other.
fn readable(leaf: &Leaf) -> Result<Value, Violation> {
    let tried = |value: &Value| extract(schema::nest([(&leaf.path, value)]));
    let Err(message) = tried(&leaf.value) else { return Ok(leaf.value.clone()) };
    if let Some(text) = leaf.text.as_deref().map(Value::from)
        && tried(&text).is_ok()
    {
        return Ok(text);
    }
    let secret = leaf.path.contains("password") || leaf.path == "redis.url";
    let message = if secret { "must be text in quotes".into() } else { message };
    Err(Violation { source: Some(leaf.source.clone()), ..Violation::new(leaf.path.clone(), message) })
}

fn extract(dict: Dict) -> Result<Config, String> {
    Figment::from(Serialized::defaults(dict)).extract().map_err(|error| error.kind.to_string())
}
