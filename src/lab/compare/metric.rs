//! The figures that comparisons are about.

use serde::Serialize;
use std::borrow::Cow;
use std::str::FromStr;

/// How two values of a figure are held against each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum By {
    /// The second over the first: times and rates.
    Ratio,
    /// The second less the first: shares, indices and counts, which may be 0.
    Difference,
}

/// A column of `aggregate.csv` under a short name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Metric {
    /// As it is typed and shown.
    pub name: Cow<'static, str>,
    /// In `aggregate.csv`.
    pub column: Cow<'static, str>,
    /// How it is compared.
    pub by: By,
}

const fn metric(name: &'static str, column: &'static str, by: By) -> Metric {
    Metric { name: Cow::Borrowed(name), column: Cow::Borrowed(column), by }
}

/// The ones that have a name of their own.
static NAMED: [Metric; 12] = [
    metric("p50", "latency_p50_s", By::Ratio),
    metric("p95", "latency_p95_s", By::Ratio),
    metric("p99", "latency_p99_s", By::Ratio),
    metric("throughput", "throughput_tasks_per_s", By::Ratio),
    metric("miss_rate", "deadline_miss_rate", By::Difference),
    metric("max_wait", "wait_max_s", By::Ratio),
    metric("jain", "jain_fairness_service", By::Difference),
    metric("mean", "latency_mean_s", By::Ratio),
    metric("p999", "latency_p999_s", By::Ratio),
    metric("max", "latency_max_s", By::Ratio),
    metric("utilization", "worker_utilization", By::Difference),
    metric("inversions", "inversions", By::Difference),
];

impl Metric {
    /// Those that are compared unless others are asked for: the first seven.
    pub fn usual() -> Vec<Metric> {
        NAMED[..7].to_vec()
    }

    /// Those that a virtual run is held to: p50, p95, p99 and throughput decide, miss rate and longest wait are shown.
    pub fn of_agreement() -> Vec<Metric> {
        NAMED[..6].to_vec()
    }

    /// Whether a cell only agrees when this figure does.
    pub fn decides_agreement(&self) -> bool {
        NAMED[..4].contains(self)
    }
}

impl FromStr for Metric {
    type Err = String;

    /// A short name, or the name of a column: one that ends in `_s` (a time, or a rate) is compared by ratio, any other by
    /// difference.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if let Some(found) = NAMED.iter().find(|metric| metric.name == text || metric.column == text) {
            return Ok(found.clone());
        }
        if !text.contains('_') || !text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
            let names: Vec<&str> = NAMED.iter().map(|metric| metric.name.as_ref()).collect();
            return Err(format!("`{text}` is neither {} nor a column of aggregate.csv", names.join(", ")));
        }
        let by = if text.ends_with("_s") { By::Ratio } else { By::Difference };
        Ok(Metric { name: text.to_owned().into(), column: text.to_owned().into(), by })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_names_and_columns() {
        let read = |text: &str| text.parse::<Metric>();
        assert_eq!(read("p95").unwrap(), read("latency_p95_s").unwrap());
        assert_eq!(read("tenant_p99_max_s").unwrap().by, By::Ratio);
        assert_eq!(read("min_tenant_service_share").unwrap().by, By::Difference);
        assert!(read("p97").unwrap_err().contains("p50, p95"));
        let decides: Vec<bool> = Metric::of_agreement().iter().map(Metric::decides_agreement).collect();
        assert_eq!(decides, [true, true, true, true, false, false]);
    }
}
