//! The metric families by name, their descriptions, and the recorder that renders them.
//!
//! `contract.md` lists the names; they are final. Constant labels `component` and `scheduler` (the policy) are set once, by
//! [`install`]; the only dynamic label is [`TENANT`], bounded by [`TenantLabels`].

use ::metrics::{Unit, counter, describe_counter, describe_gauge, describe_histogram, gauge, histogram};
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

/// The dynamic label.
pub const TENANT: &str = "tenant";
/// How many tenants get series of their own; the others share [`OTHER`].
pub const TENANTS_MAX: usize = 200;
/// The label of the tenants past [`TENANTS_MAX`].
pub const OTHER: &str = "other";

/// Which process exposes a family: one exposes only what it can produce.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Component {
    /// `tq scheduler`.
    Scheduler,
    /// `tq worker`.
    Worker,
}

impl Component {
    /// The value of the label `component`.
    pub const fn name(self) -> &'static str {
        match self {
            Component::Scheduler => "scheduler",
            Component::Worker => "worker",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Counter,
    Gauge,
    Histogram,
}

/// One metric family.
#[derive(Debug)]
pub struct Family {
    /// Its name.
    pub name: &'static str,
    kind: Kind,
    only: Option<Component>,
    /// Whether its series carry [`TENANT`].
    pub by_tenant: bool,
    help: &'static str,
}

impl Family {
    /// Whether `component` exposes it.
    pub fn belongs_to(&self, component: Component) -> bool {
        self.only.is_none_or(|only| only == component)
    }
}

macro_rules! families {
    ($($constant:ident = $name:literal, $kind:ident, $only:expr, $by_tenant:literal, $help:literal;)*) => {
        $(#[doc = $help] pub const $constant: &str = $name;)*
        /// Every family, in the order of the contract.
        pub const FAMILIES: &[Family] = &[
            $(Family { name: $name, kind: Kind::$kind, only: $only, by_tenant: $by_tenant, help: $help },)*
        ];
    };
}

const SCHEDULER: Option<Component> = Some(Component::Scheduler);
const WORKER: Option<Component> = Some(Component::Worker);
const BOTH: Option<Component> = None;

families! {
    TASKS_ADMITTED = "tq_tasks_admitted_total", Counter, SCHEDULER, false, "Tasks admitted from ingress to pending or delayed.";
    TASKS_DISPATCHED = "tq_tasks_dispatched_total", Counter, SCHEDULER, true, "Tasks moved from pending to execution.";
    PENDING_TASKS = "tq_pending_tasks", Gauge, SCHEDULER, false, "Tasks that wait in pending.";
    INFLIGHT_TASKS = "tq_inflight_tasks", Gauge, SCHEDULER, false, "Tasks dispatched and not ended.";
    LONGEST_PENDING_WAIT = "tq_longest_pending_wait_seconds", Gauge, SCHEDULER, false, "How long the longest-waiting pending task has waited since its submission.";
    MAX_OBSERVED_WAIT = "tq_max_observed_wait_seconds", Gauge, SCHEDULER, false, "The longest wait from submission to dispatch that this process has seen.";
    RECOVERY_RECLAIMED = "tq_recovery_reclaimed_total", Counter, SCHEDULER, false, "Attempts taken over from workers that fell silent.";
    IS_LEADER = "tq_scheduler_is_leader", Gauge, SCHEDULER, false, "1 while this process holds the lease, else 0.";
    LEADER_EPOCH = "tq_scheduler_leader_epoch", Gauge, SCHEDULER, false, "The epoch of this process's last term.";
    LEADER_TRANSITIONS = "tq_scheduler_leader_transitions_total", Counter, SCHEDULER, false, "Times that this process began or ended a term.";
    FENCED_OPERATIONS = "tq_scheduler_fenced_operations_total", Counter, SCHEDULER, false, "Writes of this process that the fence refused.";
    DISPATCH_ERRORS = "tq_dispatch_errors_total", Counter, SCHEDULER, false, "Dispatches that ended in an error.";
    DUPLICATE_ADMISSIONS = "tq_duplicate_admissions_total", Counter, SCHEDULER, false, "Ingress entries dropped because their task id was known.";
    REJECTED_SUBMISSIONS = "tq_rejected_submissions_total", Counter, SCHEDULER, false, "Ingress entries that could not be read and went to the dead letters.";
    RECORD_DIFFERENCES = "tq_record_differences_total", Counter, SCHEDULER, false, "Differences found between the leader's waiting room and the broker's record.";
    TASKS_COMPLETED = "tq_tasks_completed_total", Counter, WORKER, true, "Tasks whose completion this worker recorded.";
    TASK_FAILURES = "tq_task_failures_total", Counter, WORKER, false, "Attempts that the handler reported as failed.";
    DUPLICATE_COMPLETIONS = "tq_duplicate_completions_total", Counter, WORKER, false, "Completions of tasks that had been recorded before.";
    DEADLINE_MISSED = "tq_deadline_missed_total", Counter, WORKER, true, "Tasks completed after their deadline.";
    QUEUE_WAIT = "tq_queue_wait_seconds", Histogram, WORKER, false, "Submission to the start of the attempt that completed.";
    TASK_LATENCY = "tq_task_latency_seconds", Histogram, WORKER, false, "Submission to completion.";
    TASK_EXEC = "tq_task_exec_seconds", Histogram, WORKER, false, "Measured execution time of the attempt that completed.";
    WORKER_BUSY = "tq_worker_busy_seconds_total", Counter, WORKER, false, "Slot-seconds spent on tasks, in whole seconds.";
    WORKER_SLOT = "tq_worker_slot_seconds_total", Counter, WORKER, false, "Slot-seconds offered, in whole seconds.";
    WORKER_UTILIZATION = "tq_worker_utilization_ratio", Gauge, WORKER, false, "Busy slot-seconds over offered slot-seconds since the start.";
    WORKER_CONCURRENCY = "tq_worker_concurrency", Gauge, WORKER, false, "Execution slots.";
    TENANT_SERVICE = "tq_tenant_service_seconds_total", Counter, WORKER, true, "Measured service given, in whole seconds.";
    TENANT_COMPLETED = "tq_tenant_completed_tasks_total", Counter, WORKER, true, "Tasks completed.";
    TASK_RETRIES = "tq_task_retries_total", Counter, BOTH, false, "Attempts that this process sent back to pending or delayed.";
    TASKS_DEAD_LETTERED = "tq_tasks_dead_lettered_total", Counter, BOTH, false, "Tasks that this process gave up.";
}

/// Seventeen exponential buckets, 1 ms to 65.5 s.
pub fn buckets() -> [f64; 17] {
    std::array::from_fn(|n| 0.001 * f64::from(1u32 << n))
}

/// Renders what has been recorded.
#[derive(Clone)]
pub struct Exporter {
    handle: PrometheusHandle,
    process: metrics_process::Collector,
}

impl Exporter {
    /// The text format, process metrics included.
    pub fn render(&self) -> String {
        self.process.collect();
        self.handle.render()
    }

    /// Empties the histograms' buffers; to be called now and then where nobody scrapes.
    pub fn upkeep(&self) {
        self.handle.run_upkeep();
    }
}

/// Installs the process's recorder, describes the families of `component` and shows every one of them at zero, for
/// each of `tenants` too.
///
/// # Errors
/// When a recorder is installed already.
pub fn install<'a>(
    component: Component,
    policy: &str,
    tenants: impl IntoIterator<Item = &'a str>,
) -> Result<Exporter, String> {
    let handle = PrometheusBuilder::new()
        .add_global_label("component", component.name())
        .add_global_label("scheduler", policy)
        .set_buckets(&buckets())
        .and_then(PrometheusBuilder::install_recorder)
        .map_err(|error| format!("metrics cannot be recorded: {error}"))?;
    describe(component);
    zero(component);
    let labels = TenantLabels::new(component, TENANTS_MAX);
    for tenant in tenants {
        labels.of(tenant);
    }
    let process = metrics_process::Collector::default();
    process.describe();
    Ok(Exporter { handle, process })
}

/// Describes the families of `component` to the recorder.
pub fn describe(component: Component) {
    for family in FAMILIES.iter().filter(|family| family.belongs_to(component)) {
        match family.kind {
            Kind::Counter => describe_counter!(family.name, family.help),
            Kind::Gauge => describe_gauge!(family.name, family.help),
            Kind::Histogram => describe_histogram!(family.name, Unit::Seconds, family.help),
        }
    }
}

fn zero(component: Component) {
    for family in FAMILIES.iter().filter(|family| family.belongs_to(component) && !family.by_tenant) {
        match family.kind {
            Kind::Counter => counter!(family.name).absolute(0),
            Kind::Gauge => gauge!(family.name).set(0.0),
            // Registering it is enough: it renders with a count of zero.
            Kind::Histogram => drop(histogram!(family.name)),
        }
    }
}

/// Bounds the values of [`TENANT`]: the first so many tenants get their own, all others share [`OTHER`]. The first sight of
/// a tenant shows every family that carries the label at zero. Clones share what they have seen.
#[derive(Debug, Clone)]
pub struct TenantLabels {
    component: Component,
    most: usize,
    seen: Arc<Mutex<BTreeSet<Arc<str>>>>,
}

impl TenantLabels {
    /// For the families of `component`, with at most `most` labels beside [`OTHER`].
    pub fn new(component: Component, most: usize) -> Self {
        TenantLabels { component, most, seen: Arc::default() }
    }

    /// The label of `tenant`.
    pub fn of(&self, tenant: &str) -> Arc<str> {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(label) = seen.get(tenant) {
            return label.clone();
        }
        let label: Arc<str> = if seen.len() < self.most { tenant.into() } else { OTHER.into() };
        if seen.len() <= self.most && seen.insert(label.clone()) {
            self.zero(&label);
        }
        label
    }

    fn zero(&self, label: &Arc<str>) {
        for family in FAMILIES.iter().filter(|family| family.by_tenant && family.belongs_to(self.component)) {
            counter!(family.name, TENANT => label.clone()).absolute(0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_double_from_a_millisecond() {
        let buckets = buckets();
        assert_eq!((buckets[0], buckets[16]), (0.001, 65.536));
    }

    #[test]
    fn names_are_unique_and_carry_the_prefix() {
        let names: BTreeSet<_> = FAMILIES.iter().map(|family| family.name).collect();
        assert_eq!(names.len(), FAMILIES.len());
        assert!(names.iter().all(|name| name.starts_with("tq_")));
        for family in FAMILIES {
            assert_eq!(family.kind == Kind::Counter, family.name.ends_with("_total"), "{}", family.name);
        }
    }

    #[test]
    fn tenants_past_the_limit_share_a_label() {
        let labels = TenantLabels::new(Component::Worker, 2);
        let of = |tenant| labels.of(tenant).to_string();
        assert_eq!([of("a"), of("b"), of("c"), of("d"), of("a")], ["a", "b", "other", "other", "a"]);
    }
}
