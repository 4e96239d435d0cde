//! What every process shares: logging, signals, metrics and their endpoints, the offset to the broker's clock.

pub mod dead_letters;
pub mod http;
pub mod lease;
pub mod logging;
pub mod metrics;
pub mod offset;
pub mod redis;
pub mod shutdown;
pub mod status_table;
pub mod status_view;
pub mod utc;
mod watch;
