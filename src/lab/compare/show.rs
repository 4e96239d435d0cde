//! A comparison as text and as Markdown.

use super::{By, Compared, Comparison, Family, Verdict};
use crate::lab::grid::Grid;

const WORDS: [usize; 3] = [0, 2, 9];

impl Comparison {
    /// For a terminal.
    pub fn text(&self) -> String {
        self.written(|name| format!("\n{name}\n"), Grid::text)
    }

    /// For a document.
    pub fn markdown(&self) -> String {
        self.written(|name| format!("\n### {name}\n\n"), Grid::markdown)
    }

    fn written(&self, heading: impl Fn(&str) -> String, grid: fn(&Grid) -> String) -> String {
        let (left, right) = (&self.left, &self.right);
        let mut out = format!(
            "{right} against {left}, paired by repetition. A change is the ratio {right} / {left}, or, with a sign, the\n\
             difference {right} - {left}; its 95 % interval is of one cell alone. It is called real if the p of the paired\n\
             t-test, adjusted for all cells of the metric (Holm), is below 0.05.\n"
        );
        if !self.settings.is_empty() {
            let mut settings = Grid::new(&["setting", left, right], &[0, 1, 2]);
            self.settings.iter().for_each(|d| settings.push(vec![d.field.clone(), d.left.clone(), d.right.clone()]));
            out += &heading("the runs differ in");
            out += &grid(&settings);
        }
        for family in &self.metrics {
            out += &heading(&family.heading());
            out += &grid(&family.grid(left, right));
        }
        if !self.notes.is_empty() {
            out += &heading("notes");
            self.notes.iter().for_each(|note| out += &format!("- {note}\n"));
        }
        out
    }
}

impl Family {
    fn heading(&self) -> String {
        let count = |verdict| self.cells.iter().filter(|cell| cell.verdict == verdict).count();
        let (real, cells) = (count(Verdict::Real), self.cells.len());
        let verdicts = if self.cells.iter().all(|cell| cell.n < 2) {
            "one repetition, no verdict".to_owned()
        } else {
            format!("{real} of {cells} changes are real")
        };
        format!("{} ({}): {verdicts}", self.metric.name, self.metric.column)
    }

    fn grid(&self, left: &str, right: &str) -> Grid {
        let header = ["workload", "load", "policy", left, right, "change", "95 % interval", "n", "p (Holm)", "verdict"];
        let mut grid = Grid::new(&header, &WORDS);
        for cell in &self.cells {
            grid.push(vec![
                cell.workload.clone(),
                format!("{:.2}", cell.load),
                cell.policy.clone(),
                value(cell.left),
                value(cell.right),
                cell.shown(cell.estimate),
                if cell.n < 2 { "-".into() } else { format!("{} … {}", cell.shown(cell.low), cell.shown(cell.high)) },
                cell.n.to_string(),
                if cell.n < 2 { "-".into() } else { probability(cell.p_adjusted) },
                cell.verdict.text().into(),
            ]);
        }
        grid
    }
}

impl Compared {
    /// A ratio plainly, a difference with its sign.
    fn shown(&self, estimate: f64) -> String {
        match self.by {
            _ if estimate.is_nan() => "-".into(),
            By::Ratio if estimate >= 1_000.0 => format!("{estimate:.0}"),
            By::Ratio => format!("{estimate:.3}"),
            By::Difference => format!("{estimate:+.4}"),
        }
    }
}

/// Four digits that matter.
pub(super) fn value(x: f64) -> String {
    match x.abs() {
        _ if x.is_nan() => "-".into(),
        size if size >= 100.0 => format!("{x:.1}"),
        size if size >= 10.0 => format!("{x:.2}"),
        _ => format!("{x:.3}"),
    }
}

fn probability(p: f64) -> String {
    if p < 0.0001 { "< 0.0001".into() } else { format!("{p:.4}") }
}
