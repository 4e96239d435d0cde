//! A task as the scheduler knows it, after the wire format has been read and checked.

use super::{EntryId, Member, Micros};
use bytes::Bytes;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;

/// The name that a task keeps for life; retries share it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TaskId(pub Arc<str>);

/// The fairness class that a task belongs to.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TenantId(pub Arc<str>);

macro_rules! text {
    ($name:ident) => {
        impl $name {
            /// The text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }
        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                $name(text.into())
            }
        }
        impl From<String> for $name {
            fn from(text: String) -> Self {
                $name(text.into())
            }
        }
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
        impl std::borrow::Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }
    };
}
text!(TaskId);
text!(TenantId);

/// A task that has been read from ingress and found well-formed.
#[derive(Debug, Clone, PartialEq)]
pub struct Task {
    /// Stable id; at most 256 bytes, no control characters.
    pub id: TaskId,
    /// Fairness class; at most 128 bytes, no control characters.
    pub tenant: TenantId,
    /// What kind of work it is; at most 128 bytes, no control characters.
    pub kind: Arc<str>,
    /// Importance, higher first.
    pub priority: u8,
    /// Declared service time; the cost that fair policies charge.
    pub cost: Micros,
    /// Absolute due time.
    pub deadline: Option<Micros>,
    /// How many retries it may spend; `None`: the configured budget.
    pub max_retries: Option<u32>,
    /// The intended arrival instant.
    pub submitted: Micros,
    /// Not to be dispatched before this instant.
    pub not_before: Option<Micros>,
    /// The ingress entry that carried it.
    pub arrival: EntryId,
    /// The JSON as the producer sent it, unknown fields included.
    pub body: Bytes,
}

impl Task {
    /// The place of its first attempt in pending, without a score.
    pub fn member(&self) -> Member {
        Member::of(self)
    }
}
