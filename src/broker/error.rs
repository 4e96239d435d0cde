//! What can go wrong at the seam, as far as callers branch on it.

use crate::model::Epoch;

/// The result of a broker operation.
pub type BrokerResult<T> = Result<T, BrokerError>;

/// Why a broker operation did not give a result.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BrokerError {
    /// A newer term has written: this leader is superseded for good. Nothing was done.
    #[error("refused by the fence: epoch {epoch} is below {fence}")]
    Fenced {
        /// The epoch that was sent.
        epoch: Epoch,
        /// The fence that refused it.
        fence: Epoch,
    },
    /// No connection, or it broke. Whether the operation was done is unknown.
    #[error("the broker cannot be reached: {0}")]
    Unavailable(String),
    /// No answer in time. Whether the operation was done is unknown.
    #[error("the broker did not answer in time")]
    Timeout,
    /// Something of the wrong type or form lies under one of our keys, or an answer cannot be read.
    #[error("what the broker holds cannot be read: {0}")]
    Corrupt(String),
    /// The store is full. Nothing was done.
    #[error("the broker is out of memory: {0}")]
    OutOfMemory(String),
    /// The user may not do this. Nothing was done.
    #[error("the broker refuses permission: {0}")]
    NoPermission(String),
    /// The store refuses writes for now (read-only replica, loading, too few replicas). Nothing was done.
    #[error("the broker does not take writes now: {0}")]
    NotWritable(String),
    /// The store is too old or lacks a command.
    #[error("the broker is not supported: {0}")]
    Unsupported(String),
}

impl BrokerError {
    /// Whether the operation may have been done in spite of the error: the caller must look it up, not repeat it.
    pub fn is_ambiguous(&self) -> bool {
        matches!(self, BrokerError::Unavailable(_) | BrokerError::Timeout | BrokerError::Corrupt(_))
    }

    /// A short name for logs and counters.
    pub fn kind(&self) -> &'static str {
        match self {
            BrokerError::Fenced { .. } => "fenced",
            BrokerError::Unavailable(_) => "unavailable",
            BrokerError::Timeout => "timeout",
            BrokerError::Corrupt(_) => "corrupt",
            BrokerError::OutOfMemory(_) => "out_of_memory",
            BrokerError::NoPermission(_) => "no_permission",
            BrokerError::NotWritable(_) => "not_writable",
            BrokerError::Unsupported(_) => "unsupported",
        }
    }
}
