//! What a scheduler shows of itself.

use crate::model::{Epoch, Micros, Rank};
use crate::runtime::metrics::{self as names, Component, TENANT, TENANTS_MAX, TenantLabels};
use metrics::{Counter, Gauge, counter, gauge};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicI64, Ordering};

/// The handles of the scheduler's metrics.
#[derive(Debug)]
pub(super) struct Observer {
    pub(super) admitted: Counter,
    pub(super) duplicates: Counter,
    pub(super) rejected: Counter,
    pub(super) dispatch_errors: Counter,
    pub(super) differences: Counter,
    pub(super) pending: Gauge,
    pub(super) in_flight: Gauge,
    pub(super) longest_wait: Gauge,
    max_wait: Gauge,
    max_wait_us: AtomicI64,
    is_leader: Gauge,
    epoch: Gauge,
    transitions: Counter,
    fenced: Counter,
    tenants: TenantLabels,
}

impl Observer {
    pub(super) fn new() -> Self {
        Observer {
            admitted: counter!(names::TASKS_ADMITTED),
            duplicates: counter!(names::DUPLICATE_ADMISSIONS),
            rejected: counter!(names::REJECTED_SUBMISSIONS),
            dispatch_errors: counter!(names::DISPATCH_ERRORS),
            differences: counter!(names::RECORD_DIFFERENCES),
            pending: gauge!(names::PENDING_TASKS),
            in_flight: gauge!(names::INFLIGHT_TASKS),
            longest_wait: gauge!(names::LONGEST_PENDING_WAIT),
            max_wait: gauge!(names::MAX_OBSERVED_WAIT),
            max_wait_us: AtomicI64::new(0),
            is_leader: gauge!(names::IS_LEADER),
            epoch: gauge!(names::LEADER_EPOCH),
            transitions: counter!(names::LEADER_TRANSITIONS),
            fenced: counter!(names::FENCED_OPERATIONS),
            tenants: TenantLabels::new(Component::Scheduler, TENANTS_MAX),
        }
    }

    /// A term begins.
    pub(super) fn begins(&self, epoch: Epoch) {
        self.is_leader.set(1.0);
        self.epoch.set(epoch.0 as f64);
        self.transitions.increment(1);
    }

    /// A term ends.
    pub(super) fn ends(&self) {
        self.is_leader.set(0.0);
        self.transitions.increment(1);
        // A standby knows nothing of the room; the leader's figures must not be counted twice.
        for gauge in [&self.pending, &self.in_flight, &self.longest_wait] {
            gauge.set(0.0);
        }
    }

    /// A write was refused by the fence.
    pub(super) fn fenced(&self) {
        self.fenced.increment(1);
    }

    /// Tasks went to execution at `now`.
    pub(super) fn dispatched<'a>(&self, ranks: impl Iterator<Item = &'a Rank>, now: Micros) {
        let mut by_tenant: BTreeMap<&str, u64> = BTreeMap::new();
        let mut longest = Micros::ZERO;
        for rank in ranks {
            *by_tenant.entry(rank.member.tenant()).or_default() += 1;
            longest = longest.max(now.since(rank.member.submitted()));
        }
        for (tenant, count) in by_tenant {
            counter!(names::TASKS_DISPATCHED, TENANT => self.tenants.of(tenant)).increment(count);
        }
        if self.max_wait_us.fetch_max(longest.0, Ordering::Relaxed) < longest.0 {
            self.max_wait.set(longest.as_secs_f64());
        }
    }
}
