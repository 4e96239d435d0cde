//! What every process shares: logging, signals, metrics and their endpoints, the offset to the broker's clock.

pub mod lease;
pub mod metrics;
