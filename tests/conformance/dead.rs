//! `dead` and `dead_take`: listed, purged, sent again.

use super::kit::{dead, ended, running};
use tq::broker::{Broker, DeadEntry, Fate};
use tq::clock::Clock;
use tq::model::{EntryId, Micros};

async fn letters<B: Broker>(broker: &B, clock: &Clock, ids: &[&str]) -> Vec<DeadEntry> {
    for delivery in running(broker, clock, ids).await {
        ended(broker, clock, &delivery, Fate::Dead(dead(&delivery, clock))).await;
    }
    broker.dead(EntryId::ZERO, 99).await.unwrap()
}

pub(crate) async fn a_list_pages_oldest_first<B: Broker>(broker: B, clock: Clock) {
    let all = letters(&broker, &clock, &["a", "b", "c"]).await;
    assert_eq!(all.iter().map(|entry| entry.letter.id.as_str()).collect::<Vec<_>>(), ["a", "b", "c"]);
    assert_eq!(broker.dead(EntryId::ZERO, 2).await.unwrap(), all[..2]);
    assert_eq!(broker.dead(all[1].entry, 2).await.unwrap(), all[2..]);
}

pub(crate) async fn a_requeued_letter_is_sent_again_and_its_id_forgotten<B: Broker>(broker: B, clock: Clock) {
    let all = letters(&broker, &clock, &["a", "b"]).await;
    assert_eq!(broker.dead_take(&[all[0].entry, EntryId::new(1, 1)], true).await.unwrap(), 1);
    assert_eq!(broker.known(&["a", "b"], clock.now()).await.unwrap(), [false, true]);
    let sent = broker.ingress_read(EntryId::ZERO, 9, Micros::ZERO).await.unwrap();
    assert_eq!((sent.len(), sent[0].task.as_ref()), (1, Some(&all[0].raw)));
    assert_eq!(broker.dead_take(&[all[0].entry], true).await.unwrap(), 0);
    assert_eq!(broker.dead(EntryId::ZERO, 9).await.unwrap(), all[1..]);
}

pub(crate) async fn a_purged_letter_is_gone_but_its_id_is_known<B: Broker>(broker: B, clock: Clock) {
    let all = letters(&broker, &clock, &["a"]).await;
    assert_eq!(broker.dead_take(&[all[0].entry], false).await.unwrap(), 1);
    assert_eq!(broker.known(&["a"], clock.now()).await.unwrap(), [true]);
    let seen = broker.snapshot(clock.now()).await.unwrap();
    assert_eq!((seen.dead, seen.ingress, seen.counter("dead")), (0, 0, 1));
}
