//! `pending_scan`: stored order, in pages, strictly after a rank.

use super::kit::{batch, dispatched, pending, read, submitted};
use tq::broker::{AdmitItem, Broker};
use tq::clock::Clock;
use tq::model::{Epoch, Rank};

pub(crate) async fn pages_follow_the_stored_order<B: Broker>(broker: B, clock: Clock) {
    let entries = submitted(&broker, &["a", "b", "c", "d", "e", "f"]).await;
    let scores = [f64::INFINITY, 2.5, -3.0, 2.5, 1e15 + 0.5, 0.1 + 0.2];
    let placed: Vec<_> = entries.iter().zip(scores).map(|(entry, score)| read(entry, score, clock.now())).collect();
    let mut ranks: Vec<Rank> = placed.iter().map(|(rank, _)| rank.clone()).collect();
    let items = placed.into_iter().map(|(rank, record)| AdmitItem::Pending { rank, record }).collect();
    broker.admit(Epoch::NONE, &batch(items, entries[5].id, &clock)).await.unwrap();
    ranks.sort();
    for size in [1, 2, 4, 9] {
        let mut seen: Vec<Rank> = vec![];
        loop {
            let page = broker.pending_scan(seen.last(), size).await.unwrap();
            assert!(page.len() <= size);
            if page.is_empty() {
                break;
            }
            seen.extend(page);
        }
        assert_eq!(seen, ranks, "in pages of {size}");
    }
}

pub(crate) async fn a_scan_goes_on_after_a_rank_that_is_gone<B: Broker>(broker: B, clock: Clock) {
    let ranks = pending(&broker, &clock, &["a", "b", "c"]).await;
    dispatched(&broker, &clock, &ranks[1..2]).await;
    assert_eq!(broker.pending_scan(Some(&ranks[1]), 9).await.unwrap(), ranks[2..]);
    assert_eq!(broker.pending_scan(Some(&ranks[2]), 9).await.unwrap(), []);
}
