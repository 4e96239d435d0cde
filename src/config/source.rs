//! Where a configured value came from, and what is wrong with one.

use serde::{Serialize, Serializer};
use std::fmt;
use std::path::PathBuf;

/// The layer that set a value; later ones win.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    /// Built in.
    Default,
    /// The configuration file.
    File(PathBuf),
    /// This environment variable.
    Env(String),
    /// This flag.
    Flag(String),
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::Default => f.write_str("default"),
            Source::File(path) => write!(f, "file {}", path.display()),
            Source::Env(name) => write!(f, "env {name}"),
            Source::Flag(name) => write!(f, "flag {name}"),
        }
    }
}

impl Serialize for Source {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}

/// One thing that is wrong with the configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// The dotted field, or the file or variable where there is none.
    pub field: String,
    /// Which layer said so, where it was not a default.
    pub source: Option<Source>,
    /// What is wrong and what would be right.
    pub message: String,
}

impl Violation {
    /// A violation by a value of unknown origin.
    pub fn new(field: impl Into<String>, message: impl Into<String>) -> Self {
        Violation { field: field.into(), source: None, message: message.into() }
    }
}

/// Everything that is wrong with the configuration, at once.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct Violations(pub Vec<Violation>);

impl fmt::Display for Violations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.len() {
            1 => write!(f, "the configuration has an error:")?,
            n => write!(f, "the configuration has {n} errors:")?,
        }
        for violation in &self.0 {
            write!(f, "\n  {}", violation.field)?;
            match &violation.source {
                None | Some(Source::Default) => {}
                Some(source) => write!(f, " ({source})")?,
            }
            write!(f, ": {}", violation.message)?;
        }
        Ok(())
    }
}
