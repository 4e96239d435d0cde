//! Cases 1 and 2 of the list in `docs/testing.md`: one tenant's backlog in front of another tenant's task, on the whole stack
//! in virtual time. Ageing, which case 2 also names, is no policy here.

use crate::support::cluster::{Cluster, scheduling, working};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use tq::broker::memory::MemoryBroker;
use tq::clock::Clock;
use tq::model::Micros;
use tq::policy::PolicyKind;

fn task(tenant: &str, n: usize, service_us: u64) -> Value {
    json!({ "id": format!("{tenant}{n}"), "tenant": tenant, "service_us": service_us })
}

async fn assert_conserved(cluster: &Cluster<MemoryBroker>, submitted: usize) {
    cluster.ended(submitted as u64).await;
    let results = cluster.results().await;
    let ids: BTreeSet<_> = results.iter().map(|entry| entry.result.id.clone()).collect();
    assert_eq!((results.len(), ids.len()), (submitted, submitted));
}

/// One slot; `backlog` tasks of A of 100 ms each, and B1–B3 of `service_us` when A2 starts.
fn late_customer(policy: PolicyKind, backlog: usize, service_us: u64) -> String {
    Clock::run_virtual(async |clock| {
        let cluster = Cluster::in_memory(clock);
        cluster.submit((1..=backlog).map(|n| task("A", n, 100_000))).await;
        let _scheduler = cluster.scheduler("s", scheduling(policy, 1));
        let _worker = cluster.worker("w", working(1));
        cluster.started("A2").await;
        cluster.submit((1..=3).map(|n| task("B", n, service_us))).await;
        assert_conserved(&cluster, backlog + 3).await;
        cluster.order().join(" ")
    })
}

/// Case 1: the second customer's batch interleaves from the moment it arrives.
///
/// The case asks for `A1 A2 B1 A3 B2 B3`. A self-clocked tag of B1 equals that of A3 (V is A2's finish tag; both add one
/// task to it), and ties go by arrival, as in order vector V4 of Golestani's discipline: with equal sizes A3 is let through
/// once, and from then on the two alternate. One microsecond decides the tie, and gives the order of the case exactly.
#[test]
fn a_batch_does_not_block_the_next_customer() {
    assert_eq!(late_customer(PolicyKind::Wfq, 3, 99_999), "A1 A2 B1 A3 B2 B3");
    assert_eq!(late_customer(PolicyKind::Wfq, 3, 100_000), "A1 A2 A3 B1 B2 B3");
    assert_eq!(late_customer(PolicyKind::Wfq, 6, 100_000), "A1 A2 A3 B1 A4 B2 A5 B3 A6");
    // The control: this is what was reported.
    assert_eq!(late_customer(PolicyKind::Fifo, 3, 100_000), "A1 A2 A3 B1 B2 B3");
    assert_eq!(late_customer(PolicyKind::Fifo, 6, 99_999), "A1 A2 A3 A4 A5 A6 B1 B2 B3");
}

/// Four slots, A floods 1,000 tasks of 50 ms; how many start after B's single task was enqueued and before it starts.
fn overtaken_by(policy: PolicyKind) -> usize {
    Clock::run_virtual(async |clock| {
        let cluster = Cluster::in_memory(clock);
        cluster.submit((0..1_000).map(|n| task("A", n, 50_000))).await;
        let _scheduler = cluster.scheduler("s", scheduling(policy, 4));
        let _worker = cluster.worker("w", working(4));
        cluster.started("A100").await;
        let before = cluster.order().len();
        cluster.clock.sleep(Micros(1)).await;
        cluster.submit([task("B", 0, 50_000)]).await;
        assert_conserved(&cluster, 1_001).await;
        cluster.order().iter().position(|id| id == "B0").unwrap() - before
    })
}

/// Case 2: a flood does not hold up another tenant, whose wait is bounded by the number of active tenants.
#[test]
fn a_single_task_passes_a_flood() {
    let overtaking = overtaken_by(PolicyKind::Wfq);
    assert!(overtaking < 2, "B must be among the next two dispatches, not after {overtaking}");
    // The control, and what ageing within one priority level would give: the whole backlog goes first.
    let behind = overtaken_by(PolicyKind::Fifo);
    assert!(behind > 850, "{behind}");
}
