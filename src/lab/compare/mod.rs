//! Is it different? Two runs cell by cell, two policies of one run, or a virtual run and the real one that it predicts.
//!
//! Repetitions are paired: both sides of a pair met the same tasks (common random numbers), so that what the tasks have in
//! common drops out. Questions asked together are answered together: verdicts hold for a whole metric, not for one cell.

mod metric;
mod pairing;
mod show;

use self::pairing::Pairing;
use super::results::{Difference, Run, differences};
use crate::stats::{holm, paired};
pub use metric::{By, Metric};
use serde::Serialize;

/// A chance of false alarm for a whole metric that is small enough to speak of a difference.
const ALPHA: f64 = 0.05;

/// What can be said of a difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Chance does not explain it, even though so many cells were looked at.
    Real,
    /// Chance may explain it; that is no proof that there is none.
    NoDifferenceShown,
    /// One pair says nothing about chance.
    OneRepetition,
    /// The figure is not there.
    NoFigures,
}

impl Verdict {
    /// In words.
    pub const fn text(self) -> &'static str {
        match self {
            Verdict::Real => "real",
            Verdict::NoDifferenceShown => "no difference shown",
            Verdict::OneRepetition => "one repetition: no verdict",
            Verdict::NoFigures => "no figures",
        }
    }
}

/// One figure of one cell under both conditions.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Compared {
    /// The policy, or `second/first`.
    pub policy: String,
    /// The workload.
    pub workload: String,
    /// Offered load.
    pub load: f64,
    /// Pairs that have the figure.
    pub n: usize,
    /// Mean on the first side.
    pub left: f64,
    /// Mean on the second side.
    pub right: f64,
    /// A ratio, unless a value of a pair is not above 0.
    pub by: By,
    /// Second over first (geometric mean over the pairs), or second less first (mean).
    pub estimate: f64,
    /// Lower end of the 95 % confidence interval of the estimate, for this cell alone; not-a-number for one pair.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
    /// Of the paired t-test on logarithms (or differences).
    pub p: f64,
    /// Adjusted for the number of cells of the metric (Holm).
    pub p_adjusted: f64,
    /// What follows.
    pub verdict: Verdict,
}

/// All cells of one metric; their verdicts hold together.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Family {
    /// The figure.
    pub metric: Metric,
    /// A cell each.
    pub cells: Vec<Compared>,
}

/// Two conditions compared.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    /// The first side: a run, or the policy that others are held against.
    pub left: String,
    /// The second side.
    pub right: String,
    /// Settings in which two runs differ.
    pub settings: Vec<Difference>,
    /// A family per metric.
    pub metrics: Vec<Family>,
    /// What a reader must know.
    pub notes: Vec<String>,
}

impl Comparison {
    /// Two runs, over the cells that they share.
    ///
    /// # Errors
    /// When they share none.
    pub fn of_runs(left: &Run, right: &Run, metrics: &[Metric]) -> anyhow::Result<Self> {
        let pairings = pairing::of_runs(left, right)?;
        Ok(Comparison {
            left: left.id().into(),
            right: right.id().into(),
            settings: differences(left, right),
            metrics: families(&pairings, metrics),
            notes: timed_out(&pairings),
        })
    }

    /// Policies of one run: the others against the first.
    ///
    /// # Errors
    /// When the run does not have them.
    pub fn of_policies(run: &Run, policies: &[String], metrics: &[Metric]) -> anyhow::Result<Self> {
        let pairings = pairing::of_policies(run, policies)?;
        Ok(Comparison {
            left: policies[0].clone(),
            right: if let [_, other] = policies { other.clone() } else { "the others".into() },
            settings: Vec::new(),
            metrics: families(&pairings, metrics),
            notes: timed_out(&pairings),
        })
    }
}

fn families(pairings: &[Pairing], metrics: &[Metric]) -> Vec<Family> {
    let family = |metric: &Metric| {
        let mut cells: Vec<Compared> = pairings.iter().map(|pairing| compared(pairing, metric)).collect();
        let adjusted = holm(&cells.iter().map(|cell| cell.p).collect::<Vec<_>>());
        for (cell, p) in cells.iter_mut().zip(adjusted) {
            cell.p_adjusted = p;
            cell.verdict = match cell.n {
                0 => Verdict::NoFigures,
                1 => Verdict::OneRepetition,
                _ if p < ALPHA => Verdict::Real,
                _ => Verdict::NoDifferenceShown,
            };
        }
        Family { metric: metric.clone(), cells }
    };
    metrics.iter().map(family).collect()
}

/// One figure of one cell; the verdict needs the others.
fn compared(pairing: &Pairing, metric: &Metric) -> Compared {
    let values = pairing.rows.iter().map(|(a, b)| (a.figure(&metric.column), b.figure(&metric.column)));
    let pairs: Vec<(f64, f64)> = values.filter(|(a, b)| a.is_finite() && b.is_finite()).collect();
    let positive = pairs.iter().all(|(a, b)| *a > 0.0 && *b > 0.0);
    let by = if positive { metric.by } else { By::Difference };
    let apart = |(a, b): &(f64, f64)| if by == By::Ratio { (b / a).ln() } else { b - a };
    let found = paired(&pairs.iter().map(apart).collect::<Vec<_>>());
    let back = |x: f64| if by == By::Ratio { x.exp() } else { x };
    let mean = |side: fn(&(f64, f64)) -> f64| pairs.iter().map(side).sum::<f64>() / pairs.len() as f64;
    Compared {
        policy: pairing.policy.clone(),
        workload: pairing.workload.clone(),
        load: pairing.load,
        n: found.n,
        left: mean(|pair| pair.0),
        right: mean(|pair| pair.1),
        by,
        estimate: back(found.mean),
        low: back(found.mean - found.half_width),
        high: back(found.mean + found.half_width),
        p: found.p,
        p_adjusted: f64::NAN,
        verdict: Verdict::NoFigures,
    }
}

/// A cell that gave up has no latencies of the tasks that it left: they would have been the longest.
fn timed_out(pairings: &[Pairing]) -> Vec<String> {
    let gave_up = |pairing: &Pairing| {
        let rows = pairing.rows.iter().filter(|(a, b)| a.figure("timed_out") == 1.0 || b.figure("timed_out") == 1.0);
        let repetitions: Vec<String> = rows.map(|(a, _)| a.repetition.to_string()).collect();
        let label = pairing.label();
        (!repetitions.is_empty())
            .then(|| format!("{label}: repetition {} timed out; its times are too short", repetitions.join(", ")))
    };
    pairings.iter().filter_map(gave_up).collect()
}
