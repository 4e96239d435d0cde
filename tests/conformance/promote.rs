//! `promote`: delayed tasks go to pending when their time has come.

use super::kit::{batch, read, submitted};
use tq::broker::{AdmitItem, Broker};
use tq::clock::Clock;
use tq::model::{Epoch, Micros, Rank};

/// Three delayed tasks, due 1, 2 and 3 s from `start`, at scores 3, 2, 1.
async fn delayed<B: Broker>(broker: &B, clock: &Clock, start: Micros) -> Vec<Rank> {
    let entries = submitted(broker, &["a", "b", "c"]).await;
    let mut ranks = vec![];
    let mut items = vec![];
    for (n, entry) in (1i32..).zip(&entries) {
        let (rank, record) = read(entry, f64::from(4 - n), clock.now());
        ranks.push(rank.clone());
        items.push(AdmitItem::Delayed { rank, record, due: start + Micros::from_secs(n.into()) });
    }
    broker.admit(Epoch::NONE, &batch(items, entries[2].id, clock)).await.unwrap();
    ranks
}

pub(crate) async fn only_what_is_due_goes<B: Broker>(broker: B, clock: Clock) {
    let start = clock.now();
    let ranks = delayed(&broker, &clock, start).await;
    let early = broker.promote(Epoch::NONE, start, 9).await.unwrap();
    assert_eq!((early.promoted, early.next_due), (vec![], Some(start + Micros::from_secs(1))));
    let some = broker.promote(Epoch::NONE, start + Micros::from_secs(2), 9).await.unwrap();
    assert_eq!((&some.promoted[..], some.next_due), (&ranks[..2], Some(start + Micros::from_secs(3))));
    assert_eq!(broker.pending_scan(None, 9).await.unwrap(), [ranks[1].clone(), ranks[0].clone()]);
}

pub(crate) async fn at_most_count_go_and_the_last_leaves_nothing_due<B: Broker>(broker: B, clock: Clock) {
    let start = clock.now();
    let ranks = delayed(&broker, &clock, start).await;
    let late = start + Micros::from_secs(60);
    let first = broker.promote(Epoch::NONE, late, 2).await.unwrap();
    assert_eq!((&first.promoted[..], first.next_due), (&ranks[..2], Some(start + Micros::from_secs(3))));
    let rest = broker.promote(Epoch::NONE, late, 2).await.unwrap();
    assert_eq!((&rest.promoted[..], rest.next_due), (&ranks[2..], None));
    assert_eq!(broker.snapshot(late).await.unwrap().delayed, 0);
}
