//! WFQ's state: what the record holds is enough to go on from, and a batch that was not admitted leaves no trace.

use super::dispatcher::{task, tenant};
use proptest::prelude::*;
use std::collections::BTreeMap;
use tq::model::{Micros, Rank};
use tq::policy::{Policy, PolicyKind, Weights, build};

/// What an engine does to its policy.
#[derive(Debug, Clone)]
enum Step {
    /// Admits a batch of (flow, cost).
    Admit(Vec<(usize, i64)>),
    /// Dispatches so many.
    Dispatch(usize),
    /// Ranks a batch of (flow, cost) which the broker does not admit; dispatches so many before it hears of that.
    Refused(Vec<(usize, i64)>, usize),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let batch = || prop::collection::vec((0usize..5, 0i64..100), 1..6);
    let step = prop_oneof![
        3 => batch().prop_map(Step::Admit),
        3 => (1usize..6).prop_map(Step::Dispatch),
        2 => (batch(), 0usize..6).prop_map(|(batch, dispatches)| Step::Refused(batch, dispatches)),
    ];
    prop::collection::vec(step, 1..40)
}

fn new_policy() -> Box<dyn Policy> {
    let by_tenant = [(tenant(0), 3.0), (tenant(1), 0.7), (tenant(2), 1.0 / 3.0)].into();
    build(PolicyKind::Wfq, Weights { by_tenant, default: 1.0 })
}

/// A policy, the broker's record of its state, and what it has done.
struct Engine {
    policy: Box<dyn Policy>,
    record: BTreeMap<String, String>,
    arrivals: usize,
    log: Vec<Rank>,
}

impl Engine {
    fn new() -> Self {
        Engine { policy: new_policy(), record: BTreeMap::new(), arrivals: 0, log: Vec::new() }
    }

    fn store_changes(&mut self) {
        for (field, value) in self.policy.take_changes() {
            match value {
                Some(value) => self.record.insert(field, value),
                None => self.record.remove(&field),
            };
        }
    }

    fn rank(&mut self, batch: &[(usize, i64)]) -> Vec<Rank> {
        let first = self.arrivals;
        let ranks =
            batch.iter().enumerate().map(|(k, (flow, cost))| self.policy.rank(&task(first + k, *flow, 0, *cost)));
        ranks.collect()
    }

    fn admit(&mut self, batch: &[(usize, i64)]) {
        self.policy.begin();
        let ranks = self.rank(batch);
        self.store_changes();
        self.policy.commit();
        self.arrivals += batch.len();
        self.log.extend(ranks.iter().cloned());
        ranks.into_iter().for_each(|rank| self.policy.insert(rank));
    }

    fn dispatch(&mut self, count: usize) {
        for _ in 0..count {
            self.log.extend(self.policy.next(Micros::ZERO));
        }
        self.store_changes();
    }

    fn refused(&mut self, batch: &[(usize, i64)], dispatches: usize) {
        self.policy.begin();
        self.rank(batch);
        let lost = self.policy.take_changes();
        assert!(!lost.is_empty());
        self.dispatch(dispatches);
        self.policy.rollback();
    }

    /// Another leader's policy, made from what the broker holds.
    fn succeed(&self) -> Engine {
        let mut policy = new_policy();
        let state: Vec<(String, String)> = self.record.clone().into_iter().collect();
        policy.load(&state).unwrap();
        self.policy.ranks().for_each(|rank| policy.insert(rank.clone()));
        Engine { policy, record: self.record.clone(), arrivals: self.arrivals, log: Vec::new() }
    }

    fn step(&mut self, step: &Step, refuse: bool) {
        match step {
            Step::Admit(batch) => self.admit(batch),
            Step::Dispatch(count) => self.dispatch(*count),
            Step::Refused(batch, dispatches) if refuse => self.refused(batch, *dispatches),
            Step::Refused(_, dispatches) => self.dispatch(*dispatches),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn a_refused_batch_leaves_no_trace(steps in steps()) {
        let (mut plain, mut disturbed) = (Engine::new(), Engine::new());
        for step in &steps {
            plain.step(step, false);
            disturbed.step(step, true);
        }
        disturbed.store_changes();
        prop_assert_eq!(&plain.log, &disturbed.log);
        prop_assert_eq!(&plain.record, &disturbed.record);
        prop_assert!(plain.policy.ranks().eq(disturbed.policy.ranks()));
    }

    #[test]
    fn a_new_leader_goes_on_where_the_old_one_stopped(before in steps(), after in steps()) {
        let mut old = Engine::new();
        for step in &before {
            old.step(step, true);
        }
        // A refused batch is corrected in the record by the changes of the next step.
        old.store_changes();
        let mut new = old.succeed();
        old.log.clear();
        for step in &after {
            old.step(step, true);
            new.step(step, true);
        }
        old.store_changes();
        new.store_changes();
        prop_assert_eq!(&old.log, &new.log);
        prop_assert_eq!(&old.record, &new.record);
    }
}
