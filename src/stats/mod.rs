//! What task records add up to. Pure: seconds in, figures out; percentiles, fairness, intervals, summaries.

mod batch;
mod fair_share;
mod interval;
mod inversions;
mod jain;
mod paired;
mod percentile;
mod priority;
mod slowdown;
mod spread;
mod summary;
mod tenant;

pub use batch::batch_half_width;
pub use fair_share::{Claim, fair_share_satisfaction, max_min_shares};
pub use interval::{Interval, interval95};
pub use inversions::{Order, inversions};
pub use jain::jain;
pub use paired::{Paired, holm, paired};
pub use percentile::percentile;
pub use priority::{PrioritySummary, by_priority};
pub use slowdown::Slowdown;
pub use spread::Spread;
pub use summary::{Summary, Terms, Unfinished, summarise};
pub use tenant::{TenantSummary, by_tenant};
