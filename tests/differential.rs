//! The two brokers mean the same: random sequences of operations run on memory and on Redis, and after every step the
//! reply and everything that can be observed are compared. Entry ids differ, so they are compared by position.
//!
//! `PROPTEST_CASES=2000` looks harder.

mod ops;
mod side;

use crate::support::redis;
use ops::Op;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestRng, TestRunner};
use side::Side;
use std::cell::RefCell;
use std::collections::BTreeMap;
use tq::broker::memory::MemoryBroker;
use tq::clock::Clock;

/// Sequences for each test unless the environment says otherwise; about eight seconds.
const CASES: u32 = 80;

/// Runs random sequences of what `strategy` makes until one shows a difference. Everything in `reached` must have been
/// counted in some of them: sequences that never come anywhere agree on nothing.
fn compare(strategy: &impl proptest::strategy::Strategy<Value = Vec<Op>>, reached: &[&str]) {
    let Some(server) = redis::shared() else { return };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(CASES);
    let config = Config { cases, failure_persistence: None, max_shrink_iters: 400, ..Config::default() };
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let totals = RefCell::new(BTreeMap::<String, u64>::new());
    let count = |name: &str, by: u64| *totals.borrow_mut().entry(name.to_owned()).or_default() += by;
    let outcome = TestRunner::new_with_rng(config, rng).run(strategy, |ops| {
        runtime.block_on(async {
            let clock = Clock::real();
            let start = clock.now();
            let mut memory = Side::new(MemoryBroker::new(clock.clone()), start);
            let mut redis = Side::new(redis::fresh(&server, &clock).await, start);
            for (step, op) in ops.iter().enumerate() {
                let (left, right) = (memory.apply(op).await, redis.apply(op).await);
                count("fenced", u64::from(left.contains("Fenced")));
                if left != right {
                    return Err(TestCaseError::fail(format!(
                        "reply to {op:?}, step {step}:\nmemory {left}\nredis  {right}"
                    )));
                }
                let (left, right) = (memory.observe().await, redis.observe().await);
                if left != right {
                    return Err(TestCaseError::fail(format!(
                        "after {op:?}, step {step}:\nmemory {left}\nredis  {right}"
                    )));
                }
            }
            memory.counters().await.iter().for_each(|(name, by)| count(name, *by));
            Ok(())
        })
    });
    if let Err(difference) = outcome {
        panic!("{difference}");
    }
    let totals = totals.into_inner();
    println!("reached {totals:?}");
    for name in reached {
        assert!(totals.get(*name).is_some_and(|total| *total > 0), "no sequence reached `{name}`: {totals:?}");
    }
}

#[test]
fn the_brokers_agree_on_scheduled_work() {
    let reached = "admitted dispatched freed completed retried interrupted dead handler_failed duplicate_admissions \
                   duplicate_completions rejected deadline_missed fenced";
    compare(&ops::scheduled(), &reached.split_whitespace().collect::<Vec<_>>());
}

#[test]
fn the_brokers_agree_on_the_control_arm() {
    compare(&ops::control(), &["completed", "duplicate_completions", "rejected", "deadline_missed"]);
}
