//! Which fields there are, taken from the defaults themselves.

use super::Config;
use figment::Provider;
use figment::providers::Serialized;
use figment::value::{Dict, Value};
use std::collections::BTreeMap;

/// Fields without a default value, which therefore do not appear in the serialised defaults.
pub(super) const UNSET: [&str; 4] = ["redis.username", "redis.password", "redis.password_file", "redis.db"];

/// Tables whose keys are the user's: they are replaced whole, never merged.
const OPEN: [&str; 3] = ["scheduler.tenant_weights", "workload.tenants", "workload.skew_tenants"];

/// The fields by dotted path with their defaults.
#[derive(Debug)]
pub(super) struct Schema {
    defaults: BTreeMap<String, Value>,
}

impl Schema {
    pub(super) fn new() -> Self {
        let mut defaults = BTreeMap::new();
        let data = Serialized::defaults(Config::default()).data().expect("the defaults are plain data");
        for (key, value) in data.into_values().flatten() {
            flatten(&mut defaults, key, value);
        }
        Schema { defaults }
    }

    pub(super) fn defaults(&self) -> &BTreeMap<String, Value> {
        &self.defaults
    }

    /// Every field, those without a default included.
    pub(super) fn fields(&self) -> impl Iterator<Item = &str> {
        self.defaults.keys().map(String::as_str).chain(UNSET)
    }

    pub(super) fn is_leaf(&self, path: &str) -> bool {
        self.defaults.contains_key(path) || UNSET.contains(&path)
    }

    pub(super) fn is_section(&self, path: &str) -> bool {
        self.fields().any(|field| field.strip_prefix(path).is_some_and(|rest| rest.starts_with('.')))
    }

    /// Says that there is no such field, and which one may have been meant.
    pub(super) fn unknown(&self, path: &str) -> String {
        if let Some(open) = OPEN.iter().find(|open| path.strip_prefix(**open).is_some_and(|rest| rest.starts_with('.')))
        {
            return format!("set {open} as a whole, such as {{ gold = 4, free = 1 }}");
        }
        let as_field = path.replace('.', "_");
        let near = |field: &&str| distance(&field.replace('.', "_"), &as_field);
        match self.fields().min_by_key(near) {
            Some(field) if near(&field) <= 3 => format!("there is no such field; did you mean {field}?"),
            _ => "there is no such field; `tq config` lists them all".into(),
        }
    }
}

fn flatten(into: &mut BTreeMap<String, Value>, path: String, value: Value) {
    match value {
        Value::Dict(_, dict) if !dict.is_empty() && !OPEN.contains(&path.as_str()) => {
            for (key, value) in dict {
                flatten(into, format!("{path}.{key}"), value);
            }
        }
        value => {
            into.insert(path, value);
        }
    }
}

/// The tree that these leaves make.
pub(super) fn nest<'a>(leaves: impl IntoIterator<Item = (&'a String, &'a Value)>) -> Dict {
    let mut root = Dict::new();
    for (path, value) in leaves {
        let mut dict = &mut root;
        let mut keys = path.split('.').peekable();
        while let Some(key) = keys.next() {
            if keys.peek().is_none() {
                dict.insert(key.to_owned(), value.clone());
                break;
            }
            let entry = dict.entry(key.to_owned()).or_insert_with(|| Value::from(Dict::new()));
            match entry {
                Value::Dict(_, inner) => dict = inner,
                _ => break,
            }
        }
    }
    root
}

/// Edits that turn one word into the other.
fn distance(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (i, a) in from.chars().enumerate() {
        let mut corner = row[0];
        row[0] = i + 1;
        for (j, b) in to.iter().enumerate() {
            let cost = (corner + usize::from(a != *b)).min(row[j] + 1).min(row[j + 1] + 1);
            corner = std::mem::replace(&mut row[j + 1], cost);
        }
    }
    row[to.len()]
}
