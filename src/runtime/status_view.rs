//! What `tq status` shows, collected from a broker.

use crate::broker::{Broker, BrokerResult, Snapshot, WorkerSeen};
use crate::clock::Clock;
use crate::model::{Epoch, Micros};
use serde::Serialize;
use std::collections::BTreeMap;

/// Ranks read per request while pending is scanned.
const PAGE: usize = 2_000;
/// Ranks and deliveries looked at in all; past this, what is counted per tenant is a sample and says so.
const LOOKED_AT_MAX: usize = 200_000;

/// Who leads.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LeaderView {
    /// Name and incarnation.
    pub owner: String,
    /// Its term.
    pub epoch: Epoch,
    /// The rest of its lease.
    pub lease_left_us: Micros,
}

/// How much is where; counted at one moment. Admitted and unfinished = pending + delayed + in flight.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct PlacesView {
    /// Submitted, not admitted.
    pub ingress: u64,
    /// Admitted, waiting.
    pub pending: u64,
    /// Admitted, waiting for its time.
    pub delayed: u64,
    /// Dispatched, not ended.
    pub in_flight: u64,
    /// Admitted, not ended.
    pub unfinished: u64,
    /// Completed since the namespace began.
    pub completed: u64,
    /// In the dead letters.
    pub dead: u64,
}

/// One tenant.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct TenantView {
    /// Waiting in pending.
    pub pending: u64,
    /// Delivered to workers.
    pub in_flight: u64,
    /// Completed.
    pub completed: u64,
    /// Measured service.
    pub service_us: Micros,
    /// Completed late.
    pub deadline_missed: u64,
}

/// A worker of the register.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct WorkerView {
    /// Last heartbeat.
    #[serde(flatten)]
    pub seen: WorkerSeen,
    /// How long ago that was.
    pub silent_us: Micros,
}

/// Everything that `tq status` shows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StatusView {
    /// The broker's time.
    pub at_us: Micros,
    /// `None`: nobody leads.
    pub leader: Option<LeaderView>,
    /// The last epoch that was granted.
    pub epoch: Epoch,
    /// The highest epoch that has written.
    pub fence: Epoch,
    /// Depths.
    pub places: PlacesView,
    /// Wait of the longest-waiting pending task, from its submission.
    pub oldest_wait_us: Option<Micros>,
    /// Whether every pending task was looked at; else what is told per tenant is too low.
    pub complete: bool,
    /// Totals since the namespace began.
    pub totals: BTreeMap<String, u64>,
    /// By name.
    pub tenants: BTreeMap<String, TenantView>,
    /// By name and incarnation.
    pub workers: Vec<WorkerView>,
    /// Slots of the registered workers.
    pub slots: u64,
}

/// Collects the view. The counts of places are of one moment; what needs scanning (tenants, oldest wait) is of shortly
/// after.
///
/// # Errors
/// When the broker does not answer.
pub async fn collect<B: Broker>(broker: &B, clock: &Clock) -> BrokerResult<StatusView> {
    let now = clock.now();
    let snapshot = broker.snapshot(now).await?;
    let mut view = of_snapshot(snapshot, now);
    let mut after = None;
    let mut looked_at = 0;
    let mut oldest: Option<Micros> = None;
    loop {
        let page = broker.pending_scan(after.as_ref(), PAGE).await?;
        let Some(last) = page.last() else { break };
        looked_at += page.len();
        for rank in &page {
            let submitted = rank.member.submitted();
            oldest = Some(oldest.map_or(submitted, |oldest| oldest.min(submitted)));
            view.tenants.entry(rank.member.tenant().to_owned()).or_default().pending += 1;
        }
        after = Some(last.clone());
        if looked_at >= LOOKED_AT_MAX {
            view.complete = false;
            break;
        }
    }
    for (delivery, _) in broker.expired(Micros::ZERO, LOOKED_AT_MAX).await? {
        view.tenants.entry(delivery.member().tenant().to_owned()).or_default().in_flight += 1;
    }
    view.oldest_wait_us = oldest.map(|submitted| now.since(submitted));
    Ok(view)
}

fn of_snapshot(snapshot: Snapshot, now: Micros) -> StatusView {
    let slots = snapshot.slots();
    let completed = snapshot.counter("completed");
    let tenants = snapshot.tenants.into_iter().map(|(name, totals)| {
        let (completed, service_us, deadline_missed) = (totals.completed, totals.service_us, totals.deadline_missed);
        (name, TenantView { completed, service_us, deadline_missed, ..TenantView::default() })
    });
    let workers = snapshot.workers.into_iter().map(|seen| WorkerView { silent_us: now.since(seen.seen_us), seen });
    StatusView {
        at_us: now,
        leader: snapshot.leader.map(|owner| LeaderView {
            owner,
            epoch: snapshot.epoch,
            lease_left_us: snapshot.lease_left_us,
        }),
        epoch: snapshot.epoch,
        fence: snapshot.fence,
        places: PlacesView {
            ingress: snapshot.ingress,
            pending: snapshot.pending,
            delayed: snapshot.delayed,
            in_flight: snapshot.in_flight_counted,
            unfinished: snapshot.unfinished,
            completed,
            dead: snapshot.dead,
        },
        oldest_wait_us: None,
        complete: true,
        totals: snapshot.counters,
        tenants: tenants.collect(),
        workers: workers.collect(),
        slots,
    }
}
