//! Tasks for the unit tests of the policies.

use super::Policy;
use crate::model::{EntryId, Micros, Task};

/// Task `t<n>` of tenant `a`, the n-th to arrive, submitted with all others at one instant, cost 1 µs.
pub(super) fn task(n: u64) -> Task {
    Task {
        id: format!("t{n}").into(),
        tenant: "a".into(),
        kind: "sim".into(),
        priority: 0,
        cost: Micros(1),
        deadline: None,
        max_retries: None,
        submitted: Micros(1_000_000),
        not_before: None,
        arrival: EntryId::new(1_000, n),
        body: bytes::Bytes::new(),
    }
}

/// Task `t<n>` of another tenant and cost.
pub(super) fn task_of(n: u64, tenant: &str, cost: i64) -> Task {
    Task { tenant: tenant.into(), cost: Micros(cost), ..task(n) }
}

/// Ids in the order in which they go.
pub(super) fn drain(policy: &mut dyn Policy) -> Vec<String> {
    std::iter::from_fn(|| policy.next(Micros::ZERO)).map(|rank| rank.member.id().to_owned()).collect()
}
