//! Writing to stdout without a panic where the reader has gone.

use std::io::Write;

/// Writes `text` as it is.
///
/// # Errors
/// When stdout is closed; [`super::run`] ends quietly on a broken pipe.
pub(super) fn print(text: &str) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()?;
    Ok(())
}

/// Writes `value` as indented JSON.
///
/// # Errors
/// As [`print`].
pub(super) fn print_json(value: &impl serde::Serialize) -> anyhow::Result<()> {
    print(&format!("{}\n", serde_json::to_string_pretty(value)?))
}
