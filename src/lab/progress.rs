//! How far a run is: a bar on a terminal, a line per cell elsewhere. To stderr, so that stdout holds results only.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::{IsTerminal, Write};

/// Progress over tasks and cells. Clones share it.
#[derive(Debug, Clone)]
pub(super) struct Progress {
    bar: ProgressBar,
    cells: usize,
    plain: bool,
}

impl Progress {
    /// Quiet: shows nothing.
    pub(super) fn start(tasks: u64, cells: usize, quiet: bool) -> Self {
        let terminal = std::io::stderr().is_terminal();
        let plain = !terminal && !quiet;
        let target = if quiet || !terminal { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
        let bar = ProgressBar::with_draw_target(Some(tasks), target);
        if let Ok(style) = ProgressStyle::with_template("{wide_bar} {pos}/{len} tasks  {msg}  {eta} left") {
            bar.set_style(style);
        }
        Progress { bar, cells, plain }
    }

    /// A hearer for one cell: it is told how many of its tasks have ended.
    pub(super) fn of_cell(&self) -> impl Fn(u64) + use<> {
        let bar = self.bar.clone();
        let told = std::cell::Cell::new(0);
        move |ended: u64| bar.inc(ended.saturating_sub(told.replace(ended)))
    }

    /// A cell has ended.
    pub(super) fn cell_done(&self, done: usize, line: &str) {
        self.bar.set_message(format!("{done}/{} cells", self.cells));
        if self.plain {
            // Not `eprintln!`: that panics where stderr is closed.
            let _ = writeln!(std::io::stderr(), "[{done}/{}] {line}", self.cells);
        }
    }

    pub(super) fn end(&self) {
        self.bar.finish_and_clear();
    }
}
