//! `admit` and `known`: a prefix of ingress, all or nothing, no id twice.

use super::kit::{DAY, batch, body, complete, dispatched, fetched, pending, read, running, submitted};
use tq::broker::{AdmitItem, Admitted, Broker};
use tq::clock::Clock;
use tq::model::outcome::DeadReason;
use tq::model::wire::{self, IngressEntry};
use tq::model::{EntryId, Epoch, Micros};

fn item(entry: &IngressEntry, clock: &Clock) -> AdmitItem {
    let (rank, record) = read(entry, 1.0, clock.now());
    AdmitItem::Pending { rank, record }
}

pub(crate) async fn a_prefix_goes_to_pending_and_is_trimmed<B: Broker>(broker: B, clock: Clock) {
    let entries = submitted(&broker, &["a", "b", "c"]).await;
    let items = entries[..2].iter().map(|entry| item(entry, &clock)).collect();
    let admitted = broker.admit(Epoch::NONE, &batch(items, entries[1].id, &clock)).await;
    assert_eq!(admitted, Ok(Admitted::Done));
    let seen = broker.snapshot(clock.now()).await.unwrap();
    assert_eq!((seen.ingress, seen.pending, seen.unfinished, seen.counter("admitted")), (1, 2, 2, 2));
    assert_eq!(broker.ingress_read(EntryId::ZERO, 9, Micros::ZERO).await.unwrap(), entries[2..]);
}

pub(crate) async fn a_duplicate_stops_the_whole_batch<B: Broker>(broker: B, clock: Clock) {
    pending(&broker, &clock, &["a"]).await;
    let entries = submitted(&broker, &["b", "a", "c"]).await;
    let items = entries.iter().map(|entry| item(entry, &clock)).collect();
    let admitted = broker.admit(Epoch::NONE, &batch(items, entries[2].id, &clock)).await;
    assert_eq!(admitted, Ok(Admitted::Duplicates(vec![1])));
    let seen = broker.snapshot(clock.now()).await.unwrap();
    assert_eq!((seen.ingress, seen.pending, seen.unfinished, seen.counter("admitted")), (3, 1, 1, 1));
}

pub(crate) async fn a_repeated_id_within_a_batch_is_a_duplicate<B: Broker>(broker: B, clock: Clock) {
    let entries = submitted(&broker, &["a", "b", "a", "a"]).await;
    let items: Vec<_> = entries.iter().map(|entry| item(entry, &clock)).collect();
    let whole = batch(items, entries[3].id, &clock);
    assert_eq!(broker.admit(Epoch::NONE, &whole).await, Ok(Admitted::Duplicates(vec![2, 3])));
    assert_eq!(broker.snapshot(clock.now()).await.unwrap().pending, 0);
}

pub(crate) async fn a_finished_id_is_a_duplicate<B: Broker>(broker: B, clock: Clock) {
    let delivery = running(&broker, &clock, &["a"]).await.remove(0);
    assert_eq!(broker.known(&["a", "b"], clock.now()).await.unwrap(), [true, false]);
    complete(&broker, &clock, &delivery).await;
    assert_eq!(broker.known(&["b", "a"], clock.now()).await.unwrap(), [false, true]);
    let entries = submitted(&broker, &["a"]).await;
    let once = batch(vec![item(&entries[0], &clock)], entries[0].id, &clock);
    assert_eq!(broker.admit(Epoch::NONE, &once).await, Ok(Admitted::Duplicates(vec![0])));
}

pub(crate) async fn the_id_of_a_period_before_the_last_is_forgotten<B: Broker>(broker: B, clock: Clock) {
    let delivery = running(&broker, &clock, &["a"]).await.remove(0);
    complete(&broker, &clock, &delivery).await;
    let entries = submitted(&broker, &["a"]).await;
    let mut later = batch(vec![item(&entries[0], &clock)], entries[0].id, &clock);
    later.now = clock.now() + DAY;
    assert_eq!(broker.admit(Epoch::NONE, &later).await, Ok(Admitted::Duplicates(vec![0])));
    later.now = clock.now() + DAY * 2;
    assert_eq!(broker.admit(Epoch::NONE, &later).await, Ok(Admitted::Done));
}

pub(crate) async fn a_rejected_entry_becomes_a_dead_letter<B: Broker>(broker: B, clock: Clock) {
    let entry = broker.submit(&["{\"priority\":-1}".into()]).await.unwrap()[0];
    let found = broker.ingress_read(EntryId::ZERO, 1, Micros::ZERO).await.unwrap().remove(0);
    let dead = wire::read(&found, 100, clock.now()).unwrap_err();
    let rejected = batch(vec![AdmitItem::Rejected(dead.clone())], entry, &clock);
    assert_eq!(broker.admit(Epoch::NONE, &rejected).await, Ok(Admitted::Done));
    let letters = broker.dead(EntryId::ZERO, 10).await.unwrap();
    assert_eq!(letters.len(), 1);
    assert_eq!((&letters[0].letter, &letters[0].raw), (&dead.letter, &dead.raw));
    assert_eq!(letters[0].letter.reason, DeadReason::Malformed);
    let seen = broker.snapshot(clock.now()).await.unwrap();
    assert_eq!((seen.ingress, seen.dead, seen.counter("rejected"), seen.counter("admitted")), (0, 1, 1, 0));
}

pub(crate) async fn a_counted_duplicate_leaves_only_a_count<B: Broker>(broker: B, clock: Clock) {
    let entries = submitted(&broker, &["a", "a"]).await;
    let items = vec![item(&entries[0], &clock), AdmitItem::Duplicate];
    assert_eq!(broker.admit(Epoch::NONE, &batch(items, entries[1].id, &clock)).await, Ok(Admitted::Done));
    let seen = broker.snapshot(clock.now()).await.unwrap();
    assert_eq!((seen.ingress, seen.pending, seen.counter("duplicate_admissions")), (0, 1, 1));
}

pub(crate) async fn a_delayed_item_waits_apart<B: Broker>(broker: B, clock: Clock) {
    let entry = submitted(&broker, &["a"]).await.remove(0);
    let (rank, record) = read(&entry, 4.0, clock.now());
    let due = clock.now() + DAY;
    let items = vec![AdmitItem::Delayed { rank: rank.clone(), record, due }];
    broker.admit(Epoch::NONE, &batch(items, entry.id, &clock)).await.unwrap();
    let seen = broker.snapshot(clock.now()).await.unwrap();
    assert_eq!((seen.pending, seen.delayed, seen.unfinished), (0, 1, 1));
    assert_eq!(broker.known(&["a"], clock.now()).await.unwrap(), [true]);
    assert_eq!(dispatched(&broker, &clock, &[rank]).await.missing, [0]);
    assert_eq!(fetched(&broker, "w#1", 1).await, []);
}

pub(crate) async fn an_empty_prefix_changes_nothing<B: Broker>(broker: B, clock: Clock) {
    broker.submit(&[body("a")]).await.unwrap();
    let none = batch(vec![], EntryId::ZERO, &clock);
    assert_eq!(broker.admit(Epoch::NONE, &none).await, Ok(Admitted::Done));
    assert_eq!(broker.snapshot(clock.now()).await.unwrap().ingress, 1);
}
