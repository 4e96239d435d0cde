//! Signals: the first SIGTERM or SIGINT asks to stop, the second one ends the process at once.

use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

/// The exit code after a second signal: that of a process that SIGINT killed.
const AT_ONCE: i32 = 130;

/// A token that the first signal cancels. Must be called inside a tokio runtime.
///
/// # Errors
/// When the handlers cannot be installed.
pub fn on_signals() -> std::io::Result<CancellationToken> {
    let stop = CancellationToken::new();
    let (mut term, mut int) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    let asked = stop.clone();
    tokio::spawn(async move {
        loop {
            let name = tokio::select! {
                biased;
                _ = term.recv() => "SIGTERM",
                _ = int.recv() => "SIGINT",
            };
            if asked.is_cancelled() {
                tracing::warn!(signal = name, "stopping at once");
                std::process::exit(AT_ONCE);
            }
            tracing::info!(signal = name, "stopping; a second signal stops at once");
            asked.cancel();
        }
    });
    Ok(stop)
}
