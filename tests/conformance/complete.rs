//! `complete` and `results`: recorded once, whoever comes first.

use super::kit::{again, complete, completion, dispatched, ended, fetched, running};
use bytes::Bytes;
use tq::broker::{Broker, Fate, Source};
use tq::clock::Clock;
use tq::model::{EntryId, Micros};

pub(crate) async fn a_completion_is_recorded_and_frees_its_slot<B: Broker>(broker: B, clock: Clock) {
    let deliveries = running(&broker, &clock, &["a", "b"]).await;
    let batch = [completion(&deliveries[0], &clock), completion(&deliveries[1], &clock)];
    let reply = broker.complete(Source::Execution, &batch, clock.now()).await.unwrap();
    assert_eq!(reply.duplicates, [0; 0]);
    let results = broker.results(EntryId::ZERO, 9).await.unwrap();
    assert_eq!(results.iter().map(|entry| entry.result.clone()).collect::<Vec<_>>(), batch.map(|c| c.result()));
    let seen = broker.snapshot(clock.now()).await.unwrap();
    assert_eq!((seen.unfinished, seen.in_flight, seen.in_flight_counted), (0, 0, 0));
    assert_eq!((seen.counter("completed"), seen.counter("freed")), (2, 2));
    let tenant = &seen.tenants["t"];
    assert_eq!((tenant.completed, tenant.service_us, tenant.deadline_missed), (2, Micros(1_400), 0));
}

pub(crate) async fn a_second_completion_is_counted_and_nothing_else<B: Broker>(broker: B, clock: Clock) {
    let delivery = running(&broker, &clock, &["a"]).await.remove(0);
    assert_eq!(complete(&broker, &clock, &delivery).await, [0; 0]);
    assert_eq!(complete(&broker, &clock, &delivery).await, [0]);
    let seen = broker.snapshot(clock.now()).await.unwrap();
    assert_eq!((seen.counter("completed"), seen.counter("duplicate_completions")), (1, 1));
    assert_eq!((seen.counter("freed"), seen.tenants["t"].completed), (1, 1));
    assert_eq!(broker.results(EntryId::ZERO, 9).await.unwrap().len(), 1);
}

pub(crate) async fn twice_in_one_batch_is_recorded_once<B: Broker>(broker: B, clock: Clock) {
    let deliveries = running(&broker, &clock, &["a", "b"]).await;
    let batch = [&deliveries[0], &deliveries[0], &deliveries[1]].map(|delivery| completion(delivery, &clock));
    let reply = broker.complete(Source::Execution, &batch, clock.now()).await.unwrap();
    assert_eq!(reply.duplicates, [1]);
    let seen = broker.snapshot(clock.now()).await.unwrap();
    assert_eq!((seen.counter("completed"), seen.counter("freed"), seen.tenants["t"].service_us), (2, 2, Micros(1_400)));
}

pub(crate) async fn the_first_completion_wins_even_from_a_reclaimed_attempt<B: Broker>(broker: B, clock: Clock) {
    let first = running(&broker, &clock, &["a"]).await.remove(0);
    let rank = again(&first);
    ended(&broker, &clock, &first, Fate::Pending(rank.clone())).await;
    dispatched(&broker, &clock, &[rank]).await;
    let second = fetched(&broker, "w#2", 1).await.remove(0);
    assert_eq!(complete(&broker, &clock, &first).await, [0; 0]);
    assert_eq!(complete(&broker, &clock, &second).await, [0]);
    let results = broker.results(EntryId::ZERO, 9).await.unwrap();
    assert_eq!((results.len(), results[0].result.attempts), (1, 1));
    let seen = broker.snapshot(clock.now()).await.unwrap();
    assert_eq!((seen.in_flight, seen.counter("freed"), seen.unfinished), (0, 2, 0));
}

pub(crate) async fn a_missed_deadline_is_counted<B: Broker>(broker: B, clock: Clock) {
    let task = Bytes::from_static(b"{\"id\":\"late\",\"tenant\":\"t\",\"deadline_us\":5}");
    broker.submit(&[task]).await.unwrap();
    let found = broker.fetch(Source::Ingress, "w#1", 1, Micros::ZERO).await.unwrap();
    broker.complete(Source::Ingress, &[completion(&found[0], &clock)], clock.now()).await.unwrap();
    let seen = broker.snapshot(clock.now()).await.unwrap();
    assert_eq!((seen.counter("deadline_missed"), seen.tenants["t"].deadline_missed), (1, 1));
}

pub(crate) async fn the_control_arm_records_once_per_id<B: Broker>(broker: B, clock: Clock) {
    broker.submit(&[super::kit::body("a"), super::kit::body("a")]).await.unwrap();
    let found = broker.fetch(Source::Ingress, "w#1", 2, Micros::ZERO).await.unwrap();
    let batch = [completion(&found[0], &clock)];
    let again = [completion(&found[1], &clock)];
    assert_eq!(broker.complete(Source::Ingress, &batch, clock.now()).await.unwrap().duplicates, [0; 0]);
    assert_eq!(broker.complete(Source::Ingress, &again, clock.now()).await.unwrap().duplicates, [0]);
    let seen = broker.snapshot(clock.now()).await.unwrap();
    assert_eq!((seen.counter("completed"), seen.counter("duplicate_completions"), seen.in_flight), (1, 1, 0));
    assert_eq!(seen.ingress, 0);
}

pub(crate) async fn results_page_by_entry<B: Broker>(broker: B, clock: Clock) {
    for delivery in running(&broker, &clock, &["a", "b", "c"]).await {
        complete(&broker, &clock, &delivery).await;
    }
    let (mut after, mut seen) = (EntryId::ZERO, vec![]);
    loop {
        let page = broker.results(after, 1).await.unwrap();
        let Some(last) = page.last() else { break };
        after = last.entry;
        seen.extend(page.into_iter().map(|entry| entry.result.id.to_string()));
    }
    assert_eq!(seen, ["a", "b", "c"]);
}
