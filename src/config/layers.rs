//! The layers as lists of leaves: file, `TQ_…` environment, flags. What no field answers to is a violation.

use super::schema::Schema;
use super::source::{Source, Violation};
use figment::Provider;
use figment::providers::{Format, Serialized, Toml};
use figment::value::Value;
use serde::Serialize;
use std::path::Path;

/// A value for one field.
#[derive(Debug, Clone)]
pub(super) struct Leaf {
    pub(super) path: String,
    pub(super) value: Value,
    /// An environment variable's text: `TQ_REDIS__PASSWORD=007` is a number by its look and a text by its field.
    pub(super) text: Option<String>,
    pub(super) source: Source,
}

/// What a layer says, and what is wrong with it.
#[derive(Debug, Default)]
pub(super) struct Layer {
    pub(super) leaves: Vec<Leaf>,
    pub(super) violations: Vec<Violation>,
}

impl Layer {
    fn wrong(&mut self, field: impl Into<String>, source: Source, message: impl Into<String>) {
        self.violations.push(Violation { source: Some(source), ..Violation::new(field, message) });
    }

    fn take(&mut self, schema: &Schema, path: String, value: Value, source: &Source) {
        if schema.is_leaf(&path) {
            self.leaves.push(Leaf { path, value, text: None, source: source.clone() });
        } else if !schema.is_section(&path) {
            let message = schema.unknown(&path);
            self.wrong(path, source.clone(), message);
        } else if let Value::Dict(_, dict) = value {
            for (key, value) in dict {
                self.take(schema, format!("{path}.{key}"), value, source);
            }
        } else {
            self.wrong(path.clone(), source.clone(), format!("this is a section: write [{path}] and fields below it"));
        }
    }
}

/// The configuration file.
pub(super) fn file(schema: &Schema, path: &Path) -> Layer {
    let mut layer = Layer::default();
    let source = Source::File(path.to_owned());
    let name = path.display().to_string();
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) => {
            layer.violations.push(Violation::new(name, format!("the configuration file cannot be read: {error}")));
            return layer;
        }
    };
    match Toml::string(&text).data() {
        Ok(profiles) => {
            for (key, value) in profiles.into_values().flatten() {
                layer.take(schema, key, value, &source);
            }
        }
        Err(error) => layer.violations.push(Violation::new(name, format!("this is not TOML: {error}"))),
    }
    layer
}

/// Short names of the environment.
const SHORT: [(&str, &str); 4] = [
    ("TQ_REDIS_URL", "redis.url"),
    ("TQ_NAMESPACE", "streams.namespace"),
    ("TQ_LOG_LEVEL", "log.level"),
    ("TQ_LOG_FORMAT", "log.format"),
];

/// The environment; `TQ_CONFIG` has been dealt with. In order of the names, so that reports repeat.
pub(super) fn env(schema: &Schema, vars: &[(String, String)]) -> Layer {
    let mut layer = Layer::default();
    // The short names first: where both are set, the full one wins.
    let (short, long): (Vec<_>, Vec<_>) = vars
        .iter()
        .filter(|(name, text)| name.starts_with("TQ_") && name != "TQ_CONFIG" && !is_foreign(name, text))
        .partition(|(name, _)| SHORT.iter().any(|(short, _)| short == name));
    for (name, text) in short.into_iter().chain(long) {
        let source = Source::Env(name.clone());
        let path = match SHORT.iter().find(|(short, _)| short == name) {
            Some((_, path)) => (*path).to_owned(),
            None => name["TQ_".len()..].to_lowercase().replace("__", "."),
        };
        if schema.is_leaf(&path) {
            layer.leaves.push(Leaf { path, value: guess(text), text: Some(text.clone()), source });
        } else {
            let hint = if path.contains('.') { "" } else { " (two underscores nest: TQ_SCHEDULER__POLICY)" };
            let message = format!("{}{hint}", schema.unknown(&path));
            layer.wrong(path, source, message);
        }
    }
    layer
}

/// A text as the value that it looks like.
fn guess(text: &str) -> Value {
    text.parse::<Value>().unwrap_or_else(|_| Value::from(text))
}

/// Variables that are not ours in spite of the prefix: the tests' own, and the links that Kubernetes injects for a
/// Service named `tq-…`.
fn is_foreign(name: &str, text: &str) -> bool {
    name.starts_with("TQ_TEST_")
        || name.ends_with("_SERVICE_HOST")
        || name.contains("_SERVICE_PORT")
        || (name.contains("_PORT") && (text.contains("://") || name.contains("_TCP") || name.contains("_UDP")))
}

/// The flags, serialised under the dotted names of their fields.
pub(super) fn flags(schema: &Schema, flags: &impl Serialize) -> Layer {
    let mut layer = Layer::default();
    let dict = Serialized::defaults(flags).data().ok().and_then(|profiles| profiles.into_values().next());
    for (path, value) in dict.unwrap_or_default() {
        let source = Source::Flag(flag_name(&path));
        if schema.is_leaf(&path) {
            let text = value.as_str().map(str::to_owned);
            let value = text.as_deref().map_or(value, guess);
            layer.leaves.push(Leaf { path, value, text, source });
        } else {
            let message = schema.unknown(&path);
            layer.wrong(path, source, message);
        }
    }
    layer
}

/// The flag that sets a field, where its name is not the field's own.
fn flag_name(path: &str) -> String {
    let name = match path {
        "redis.url" => "redis",
        "log.level" => "log-level",
        "log.format" => "log-format",
        "leader_election.enabled" => "leader-election",
        "leader_election.ttl" => "lease-ttl",
        "leader_election.renew_interval" => "lease-renew",
        "recovery.enabled" => "recovery",
        "workload.type" => "workload",
        "workload.arrival_rate_per_s" => "rate",
        _ => return format!("--{}", path.rsplit('.').next().unwrap_or(path).replace('_', "-")),
    };
    format!("--{name}")
}
