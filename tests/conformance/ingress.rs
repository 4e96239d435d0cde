//! `ingress_read`: a look that takes nothing out.

use super::kit::{LONG, body, submitted};
use tq::broker::Broker;
use tq::clock::Clock;
use tq::model::{EntryId, Micros};

pub(crate) async fn reading_takes_nothing_out<B: Broker>(broker: B, _: Clock) {
    submitted(&broker, &["a", "b", "c"]).await;
    for _ in 0..2 {
        assert_eq!(broker.ingress_read(EntryId::ZERO, 10, Micros::ZERO).await.unwrap().len(), 3);
    }
}

pub(crate) async fn a_read_starts_after_and_stops_at_count<B: Broker>(broker: B, _: Clock) {
    let entries = submitted(&broker, &["a", "b", "c", "d"]).await;
    let read = broker.ingress_read(entries[0].id, 2, Micros::ZERO).await.unwrap();
    assert_eq!(read, entries[1..3]);
}

pub(crate) async fn a_blocked_read_wakes_on_submit<B: Broker>(broker: B, clock: Clock) {
    let submit = async {
        clock.sleep(Micros::from_millis(20)).await;
        broker.submit(&[body("a")]).await.unwrap();
    };
    let (read, ()) = tokio::join!(broker.ingress_read(EntryId::ZERO, 10, LONG), submit);
    assert_eq!(read.unwrap().len(), 1);
}

pub(crate) async fn an_empty_read_ends_when_its_time_is_up<B: Broker>(broker: B, _: Clock) {
    assert_eq!(broker.ingress_read(EntryId::ZERO, 10, Micros::from_millis(5)).await.unwrap(), []);
}
