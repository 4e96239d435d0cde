//! `retry`: a live attempt ends, and its task goes where its fate says, once.

use super::kit::{again, by_worker, complete, dead, ended, fetched, running};
use tq::broker::{Broker, Fate, Retry};
use tq::clock::Clock;
use tq::model::{EntryId, Epoch, Micros};

pub(crate) async fn back_to_pending_keeps_the_rank<B: Broker>(broker: B, clock: Clock) {
    let delivery = running(&broker, &clock, &["a"]).await.remove(0);
    let rank = again(&delivery);
    assert!(ended(&broker, &clock, &delivery, Fate::Pending(rank.clone())).await);
    assert_eq!(broker.pending_scan(None, 9).await.unwrap(), [rank]);
    let seen = broker.snapshot(clock.now()).await.unwrap();
    assert_eq!((seen.in_flight, seen.in_flight_counted, seen.returned, seen.unfinished), (0, 0, 1, 1));
    assert_eq!((seen.counter("retried"), seen.counter("handler_failed"), seen.counter("interrupted")), (1, 1, 0));
}

pub(crate) async fn an_interruption_is_no_retry<B: Broker>(broker: B, clock: Clock) {
    let delivery = running(&broker, &clock, &["a"]).await.remove(0);
    let retry = by_worker(&delivery, Fate::Pending(delivery.rank.clone()), false);
    broker.retry(&[retry], clock.now()).await.unwrap();
    let seen = broker.snapshot(clock.now()).await.unwrap();
    assert_eq!((seen.counter("retried"), seen.counter("handler_failed"), seen.counter("interrupted")), (0, 0, 1));
}

pub(crate) async fn to_delayed_until_due<B: Broker>(broker: B, clock: Clock) {
    let delivery = running(&broker, &clock, &["a"]).await.remove(0);
    let (rank, due) = (again(&delivery), clock.now() + Micros::from_secs(3_600));
    assert!(ended(&broker, &clock, &delivery, Fate::Delayed(rank.clone(), due)).await);
    let seen = broker.snapshot(clock.now()).await.unwrap();
    assert_eq!((seen.pending, seen.delayed, seen.returned, seen.in_flight), (0, 1, 0, 0));
    let promoted = broker.promote(Epoch::NONE, due, 9).await.unwrap();
    assert_eq!((promoted.promoted, promoted.next_due), (vec![rank], None));
}

pub(crate) async fn to_the_dead_letters_for_good<B: Broker>(broker: B, clock: Clock) {
    let delivery = running(&broker, &clock, &["a"]).await.remove(0);
    let given_up = dead(&delivery, &clock);
    assert!(ended(&broker, &clock, &delivery, Fate::Dead(given_up.clone())).await);
    let letters = broker.dead(EntryId::ZERO, 9).await.unwrap();
    assert_eq!((letters.len(), &letters[0].letter, &letters[0].raw), (1, &given_up.letter, &given_up.raw));
    let seen = broker.snapshot(clock.now()).await.unwrap();
    assert_eq!((seen.unfinished, seen.in_flight, seen.counter("dead"), seen.counter("retried")), (0, 0, 1, 0));
    assert_eq!(broker.known(&["a"], clock.now()).await.unwrap(), [true]);
    assert_eq!(complete(&broker, &clock, &delivery).await, [0], "a dead task is not completed any more");
}

pub(crate) async fn an_ended_attempt_is_stale<B: Broker>(broker: B, clock: Clock) {
    let deliveries = running(&broker, &clock, &["a", "b"]).await;
    let retry = |n: usize| by_worker(&deliveries[n], Fate::Pending(again(&deliveries[n])), true);
    assert_eq!(broker.retry(&[retry(0), retry(0), retry(1)], clock.now()).await.unwrap().stale, [1]);
    assert_eq!(broker.retry(&[retry(1)], clock.now()).await.unwrap().stale, [0]);
    let seen = broker.snapshot(clock.now()).await.unwrap();
    assert_eq!((seen.pending, seen.returned, seen.counter("retried"), seen.counter("freed")), (2, 2, 2, 2));
}

pub(crate) async fn a_completed_attempt_is_stale<B: Broker>(broker: B, clock: Clock) {
    let delivery = running(&broker, &clock, &["a"]).await.remove(0);
    complete(&broker, &clock, &delivery).await;
    assert!(!ended(&broker, &clock, &delivery, Fate::Pending(again(&delivery))).await);
    let seen = broker.snapshot(clock.now()).await.unwrap();
    assert_eq!((seen.pending, seen.counter("retried"), seen.counter("freed")), (0, 0, 1));
}

pub(crate) async fn an_attempt_that_is_not_idle_enough_is_left_alone<B: Broker>(broker: B, clock: Clock) {
    let delivery = running(&broker, &clock, &["a"]).await.remove(0);
    let reclaim = |min_idle| Retry {
        min_idle: Some(min_idle),
        spent: true,
        ..by_worker(&delivery, Fate::Pending(again(&delivery)), false)
    };
    let reply = broker.retry(&[reclaim(Micros::from_secs(3_600))], clock.now()).await.unwrap();
    assert_eq!(reply.stale, [0]);
    assert_eq!(broker.snapshot(clock.now()).await.unwrap().in_flight_counted, 1);
    clock.sleep(Micros::from_millis(15)).await;
    let reply = broker.retry(&[reclaim(Micros::from_millis(10))], clock.now()).await.unwrap();
    assert_eq!(reply.stale, [0; 0]);
    let seen = broker.snapshot(clock.now()).await.unwrap();
    assert_eq!((seen.pending, seen.counter("retried"), seen.counter("handler_failed")), (1, 1, 0));
}

pub(crate) async fn of_a_finished_task_it_only_frees<B: Broker>(broker: B, clock: Clock) {
    let first = running(&broker, &clock, &["a"]).await.remove(0);
    let rank = again(&first);
    ended(&broker, &clock, &first, Fate::Pending(rank.clone())).await;
    super::kit::dispatched(&broker, &clock, &[rank]).await;
    let second = fetched(&broker, "w#2", 1).await.remove(0);
    complete(&broker, &clock, &first).await;
    assert!(ended(&broker, &clock, &second, Fate::Pending(again(&second))).await);
    let seen = broker.snapshot(clock.now()).await.unwrap();
    assert_eq!((seen.pending, seen.in_flight, seen.counter("retried"), seen.counter("freed")), (0, 0, 1, 2));
    assert_eq!(seen.counter("handler_failed"), 1, "a failure of a finished task is nobody's");
}
