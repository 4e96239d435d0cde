//! `dispatch`: the chosen ranks move in order, within the window, whole or not at all.

use super::kit::{again, complete, dispatched, ended, fetched, ids, pending, running};
use tq::broker::{Broker, DispatchBatch, Fate};
use tq::clock::Clock;
use tq::model::{Epoch, Micros};

pub(crate) async fn ranks_move_in_the_order_given<B: Broker>(broker: B, clock: Clock) {
    let ranks = pending(&broker, &clock, &["a", "b", "c"]).await;
    let chosen = [ranks[2].clone(), ranks[0].clone()];
    let reply = dispatched(&broker, &clock, &chosen).await;
    assert_eq!((reply.considered, reply.dispatched_total, reply.freed_total), (2, 2, 0));
    assert_eq!((&reply.missing[..], &reply.returned[..]), (&[][..], &[][..]));
    assert_eq!(ids(&fetched(&broker, "w#1", 5).await), ["c", "a"]);
    assert_eq!(broker.pending_scan(None, 9).await.unwrap(), ranks[1..2]);
}

pub(crate) async fn a_delivery_carries_everything<B: Broker>(broker: B, clock: Clock) {
    let ranks = pending(&broker, &clock, &["a"]).await;
    let now = Micros(1_714_521_600_000_123);
    let batch = DispatchBatch { chosen: ranks.clone(), window: None, changes: vec![], now };
    broker.dispatch(Epoch(7), &batch).await.unwrap();
    let delivery = fetched(&broker, "w#1", 1).await.remove(0);
    assert_eq!((&delivery.rank, delivery.dispatched, delivery.epoch), (&ranks[0], now, Epoch(7)));
    assert_eq!((delivery.record.body, delivery.record.max_retries), (super::kit::body("a"), 3));
}

pub(crate) async fn the_window_counts_what_is_in_flight<B: Broker>(broker: B, clock: Clock) {
    let ranks = pending(&broker, &clock, &["a", "b", "c", "d"]).await;
    let within = |chosen: &[tq::model::Rank], window| DispatchBatch {
        chosen: chosen.to_vec(),
        window: Some(window),
        changes: vec![],
        now: clock.now(),
    };
    let reply = broker.dispatch(Epoch::NONE, &within(&ranks, 2)).await.unwrap();
    assert_eq!((reply.considered, reply.dispatched_total), (2, 2));
    let reply = broker.dispatch(Epoch::NONE, &within(&ranks[2..], 2)).await.unwrap();
    assert_eq!((reply.considered, reply.dispatched_total), (0, 2));
    let delivery = fetched(&broker, "w#1", 1).await.remove(0);
    complete(&broker, &clock, &delivery).await;
    let reply = broker.dispatch(Epoch::NONE, &within(&ranks[2..], 2)).await.unwrap();
    assert_eq!((reply.considered, reply.dispatched_total, reply.freed_total), (1, 3, 1));
    let reply = broker.dispatch(Epoch::NONE, &within(&ranks[3..], 0)).await.unwrap();
    assert_eq!(reply.considered, 0);
    assert_eq!(broker.pending_scan(None, 9).await.unwrap(), ranks[3..]);
}

pub(crate) async fn a_rank_that_is_not_pending_is_missing<B: Broker>(broker: B, clock: Clock) {
    let ranks = pending(&broker, &clock, &["a", "b"]).await;
    dispatched(&broker, &clock, &ranks[..1]).await;
    let reply = dispatched(&broker, &clock, &ranks).await;
    assert_eq!((reply.considered, &reply.missing[..], reply.dispatched_total), (2, &[0][..], 2));
    assert_eq!(ids(&fetched(&broker, "w#1", 9).await), ["a", "b"]);
}

pub(crate) async fn missing_ranks_take_no_room<B: Broker>(broker: B, clock: Clock) {
    let ranks = pending(&broker, &clock, &["a", "b", "c"]).await;
    let first = dispatched(&broker, &clock, &ranks[..1]).await;
    assert_eq!(first.considered, 1);
    let batch = DispatchBatch { chosen: ranks, window: Some(2), changes: vec![], now: clock.now() };
    let reply = broker.dispatch(Epoch::NONE, &batch).await.unwrap();
    assert_eq!((reply.considered, &reply.missing[..]), (2, &[0][..]));
}

pub(crate) async fn a_ghost_is_removed_and_missing<B: Broker>(broker: B, clock: Clock) {
    let delivery = running(&broker, &clock, &["a"]).await.remove(0);
    let rank = again(&delivery);
    assert!(ended(&broker, &clock, &delivery, Fate::Pending(rank.clone())).await);
    assert_eq!(complete(&broker, &clock, &delivery).await, [0; 0]);
    assert_eq!(broker.snapshot(clock.now()).await.unwrap().pending, 1);
    let reply = dispatched(&broker, &clock, &[rank]).await;
    assert_eq!((reply.considered, &reply.missing[..], reply.dispatched_total), (1, &[0][..], 1));
    assert_eq!(broker.snapshot(clock.now()).await.unwrap().pending, 0);
}

pub(crate) async fn what_was_returned_is_handed_over_once<B: Broker>(broker: B, clock: Clock) {
    let deliveries = running(&broker, &clock, &["a", "b"]).await;
    let ranks: Vec<_> = deliveries.iter().map(again).collect();
    for (delivery, rank) in deliveries.iter().zip(&ranks) {
        ended(&broker, &clock, delivery, Fate::Pending(rank.clone())).await;
    }
    assert_eq!(dispatched(&broker, &clock, &[]).await.returned, ranks);
    assert_eq!(dispatched(&broker, &clock, &[]).await.returned, []);
}
