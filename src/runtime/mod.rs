//! What every process shares: logging, signals, metrics and their endpoints, the offset to the broker's clock.

pub mod http;
pub mod lease;
pub mod logging;
pub mod metrics;
pub mod offset;
pub mod shutdown;
