//! What task records add up to. Pure: seconds in, figures out; percentiles, fairness, intervals, summaries.

mod interval;
mod inversions;
mod jain;
mod paired;
mod percentile;
mod spread;
mod summary;
mod tenant;

pub use interval::{Interval, interval95};
pub use inversions::{Order, inversions};
pub use jain::jain;
pub use paired::{Paired, holm, paired};
pub use percentile::percentile;
pub use spread::Spread;
pub use summary::{Summary, summarise};
pub use tenant::{TenantSummary, by_tenant};
