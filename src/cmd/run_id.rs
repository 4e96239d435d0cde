//! The name of a run, which becomes a directory's.

use super::Usage;
use crate::clock::Clock;
use crate::lab::stamp;

/// The given name, checked, or the present instant.
pub(super) fn run_id(given: Option<&String>) -> anyhow::Result<String> {
    let Some(id) = given else {
        return Ok(stamp::utc(Clock::real().now()).replace([':', '-'], "").to_lowercase());
    };
    let named = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    if id.is_empty() || id.len() > 64 || id.starts_with('.') || !id.chars().all(named) {
        return Err(Usage(format!("--run-id `{id}`: use at most 64 letters, digits, - _ .")).into());
    }
    Ok(id.clone())
}
