//! The order of each policy against sorting, and that it does not depend on the order of insertion.

use super::dispatcher::{task, tenant};
use proptest::prelude::*;
use tq::model::{Micros, Rank, Task};
use tq::policy::{Policy, PolicyKind, Weights, build};

fn tasks() -> impl Strategy<Value = Vec<Task>> {
    let deadline = prop::option::of(prop_oneof![0i64..5, Just(9_007_199_254_740_991), -3i64..0]);
    prop::collection::vec((0usize..4, 0i64..4, 0i64..4, 0u8..4, deadline), 1..60).prop_map(|drawn| {
        let make =
            |(n, (flow, submitted, cost, priority, deadline)): (usize, (usize, i64, i64, u8, Option<i64>))| Task {
                // The highest two priorities as well as the lowest two.
                priority: if priority < 2 { priority } else { 252 + priority },
                deadline: deadline.map(Micros),
                ..task(n, flow, 1_700_000_000_000_000 + submitted, cost)
            };
        drawn.into_iter().enumerate().map(make).collect()
    })
}

fn weights() -> Weights {
    Weights { by_tenant: [(tenant(0), 2.5), (tenant(1), 0.3)].into(), default: 1.0 }
}

fn drain(policy: &mut dyn Policy) -> Vec<Rank> {
    let mut order = Vec::new();
    while !policy.is_empty() {
        order.push(policy.next(Micros::ZERO).expect("a room that is not empty must give somebody"));
    }
    assert_eq!(policy.next(Micros::ZERO), None);
    order
}

proptest! {
    #[test]
    fn fifo_priority_and_edf_sort(tasks in tasks()) {
        for kind in [PolicyKind::Fifo, PolicyKind::Priority, PolicyKind::Edf] {
            let mut policy = build(kind, weights());
            for task in &tasks {
                let rank = policy.rank(task);
                policy.insert(rank);
            }
            let order: Vec<String> =
                drain(policy.as_mut()).iter().map(|rank| rank.member.id().to_owned()).collect();
            let mut sorted: Vec<&Task> = tasks.iter().collect();
            // Integers here, so that a score that lost microseconds would show.
            sorted.sort_by_key(|task| {
                let key = match kind {
                    PolicyKind::Priority => -i64::from(task.priority),
                    PolicyKind::Edf => task.deadline.map_or(i64::MAX, |deadline| deadline.0),
                    _ => 0,
                };
                (key, task.submitted, task.arrival)
            });
            let expected: Vec<String> = sorted.iter().map(|task| task.id.to_string()).collect();
            prop_assert_eq!(order, expected, "{}", kind);
        }
    }

    #[test]
    fn the_order_is_that_of_the_ranks_however_they_came(tasks in tasks(), keys: [u64; 60], again: [bool; 60]) {
        for kind in PolicyKind::ALL {
            let mut policy = build(kind, weights());
            let mut ranks: Vec<Rank> = tasks.iter().map(|task| policy.rank(task)).collect();
            for (n, rank) in ranks.iter().enumerate() {
                policy.insert(rank.clone());
                if again[n] {
                    policy.insert(rank.clone());
                }
            }
            prop_assert_eq!(policy.len(), ranks.len(), "inserting twice must change nothing");
            let mut shuffled: Vec<(u64, Rank)> = keys.into_iter().zip(ranks.iter().cloned()).collect();
            shuffled.sort_by_key(|(key, _)| *key);
            let mut other = build(kind, weights());
            for (_, rank) in shuffled {
                other.insert(rank);
            }
            ranks.sort();
            prop_assert!(other.ranks().eq(ranks.iter()), "{} lists another order", kind);
            prop_assert_eq!(&drain(policy.as_mut()), &ranks, "{}", kind);
            prop_assert_eq!(&drain(other.as_mut()), &ranks, "{}", kind);
        }
    }

    #[test]
    fn a_retry_goes_back_to_its_place(tasks in tasks(), failing: prop::sample::Index) {
        for kind in PolicyKind::ALL {
            let mut policy = build(kind, weights());
            for task in &tasks {
                let rank = policy.rank(task);
                policy.insert(rank);
            }
            let ahead: Vec<Rank> = (0..=failing.index(tasks.len())).filter_map(|_| policy.next(Micros::ZERO)).collect();
            let failed = &ahead[failing.index(ahead.len())];
            let retry = Rank::new(failed.score, failed.member.with_counts(2, 0));
            policy.insert(retry.clone());
            prop_assert_eq!(policy.next(Micros::ZERO), Some(retry), "{}: it was ahead of all that still wait", kind);
        }
    }
}
