//! Logs to stderr, as text for people or one JSON object a line for programs.

use crate::config::LogConfig;
use std::io::IsTerminal;
use tracing_subscriber::EnvFilter;

/// Starts logging for this process. A second call changes nothing: the first one holds.
///
/// # Errors
/// When `log.level` is no filter; validation has refused that before.
pub fn init(log: &LogConfig) -> Result<(), String> {
    let filter = EnvFilter::builder().parse(&log.level).map_err(|error| format!("log.level: {error}"))?;
    let builder = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    let started = match log.format.as_str() {
        "json" => builder.json().flatten_event(true).with_current_span(false).with_span_list(false).try_init(),
        _ => builder.with_ansi(colours()).with_target(false).try_init(),
    };
    // Only a second call can fail here.
    drop(started);
    Ok(())
}

/// Whether stderr takes colours: a terminal, and `NO_COLOR` unset or empty.
fn colours() -> bool {
    std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}
