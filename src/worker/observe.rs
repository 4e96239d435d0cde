//! What a worker shows of itself.

use crate::model::Micros;
use crate::model::outcome::Completion;
use crate::runtime::metrics::{self as names, Component, TENANT, TENANTS_MAX, TenantLabels};
use metrics::{counter, gauge, histogram};
use std::collections::BTreeMap;
use std::sync::{LazyLock, Mutex, PoisonError};

static TENANTS: LazyLock<TenantLabels> = LazyLock::new(|| TenantLabels::new(Component::Worker, TENANTS_MAX));
/// Counters count whole numbers: service in µs accumulates here and is shown in whole seconds.
static SERVICE_US: Mutex<BTreeMap<String, Micros>> = Mutex::new(BTreeMap::new());

/// The worker's slots.
pub(super) fn concurrency(slots: u32) {
    gauge!(names::WORKER_CONCURRENCY).set(f64::from(slots));
}

/// How much slot time was spent and offered since the start.
pub(super) fn slot_time(busy: Micros, offered: Micros) {
    counter!(names::WORKER_BUSY).absolute((busy.0 / 1_000_000) as u64);
    counter!(names::WORKER_SLOT).absolute((offered.0 / 1_000_000) as u64);
    if offered > Micros::ZERO {
        gauge!(names::WORKER_UTILIZATION).set(busy.as_secs_f64() / offered.as_secs_f64());
    }
}

/// Completions were recorded, except those at `duplicates`.
pub(super) fn completed(completions: &[Completion], duplicates: &[usize]) {
    counter!(names::DUPLICATE_COMPLETIONS).increment(duplicates.len() as u64);
    // Looked up and locked once a batch: this runs for every task.
    let (wait, latency, exec) =
        (histogram!(names::QUEUE_WAIT), histogram!(names::TASK_LATENCY), histogram!(names::TASK_EXEC));
    let mut service = SERVICE_US.lock().unwrap_or_else(PoisonError::into_inner);
    for (place, completion) in completions.iter().enumerate() {
        if duplicates.contains(&place) {
            continue;
        }
        let member = completion.delivery.member();
        let tenant = TENANTS.of(member.tenant());
        counter!(names::TASKS_COMPLETED, TENANT => tenant.clone()).increment(1);
        counter!(names::TENANT_COMPLETED, TENANT => tenant.clone()).increment(1);
        if completion.deadline_missed() {
            counter!(names::DEADLINE_MISSED, TENANT => tenant.clone()).increment(1);
        }
        wait.record(completion.started.since(member.submitted()).as_secs_f64());
        latency.record(completion.finished.since(member.submitted()).as_secs_f64());
        exec.record(completion.measured().as_secs_f64());
        let total = service.entry(tenant.to_string()).or_default();
        *total += completion.measured();
        counter!(names::TENANT_SERVICE, TENANT => tenant).absolute((total.0 / 1_000_000) as u64);
    }
}

/// Attempts failed.
pub(super) fn failed(handler: u64, retried: u64, dead: u64) {
    counter!(names::TASK_FAILURES).increment(handler);
    counter!(names::TASK_RETRIES).increment(retried);
    counter!(names::TASKS_DEAD_LETTERED).increment(dead);
}
