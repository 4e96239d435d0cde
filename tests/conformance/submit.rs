//! `submit`: entries keep order and bytes.

use super::kit::{body, submitted};
use bytes::Bytes;
use tq::broker::Broker;
use tq::clock::Clock;
use tq::model::{EntryId, Micros};

pub(crate) async fn entries_keep_their_order_and_bytes<B: Broker>(broker: B, _: Clock) {
    let odd = Bytes::from_static(&[0, 0xff, b'\n', 0x1f]);
    let sent = [body("a"), odd, Bytes::new()];
    let entries = broker.submit(&sent).await.unwrap();
    assert!(entries.is_sorted() && entries[0] < entries[1] && entries[1] < entries[2]);
    let read = broker.ingress_read(EntryId::ZERO, 10, Micros::ZERO).await.unwrap();
    assert_eq!(read.iter().map(|entry| entry.id).collect::<Vec<_>>(), entries);
    assert_eq!(read.into_iter().map(|entry| entry.task.unwrap()).collect::<Vec<_>>(), sent);
}

pub(crate) async fn nothing_submitted_is_nothing<B: Broker>(broker: B, clock: Clock) {
    assert_eq!(broker.submit(&[]).await.unwrap(), []);
    assert_eq!(broker.snapshot(clock.now()).await.unwrap().ingress, 0);
}

pub(crate) async fn ids_only_grow<B: Broker>(broker: B, _: Clock) {
    let first = submitted(&broker, &["a", "b"]).await;
    let second = submitted(&broker, &["c"]).await;
    assert!(first.iter().all(|entry| entry.id < second[0].id));
}
