//! `lease_acquire`, `lease_renew`, `lease_release`: one holder, exact terms, growing epochs.

use super::kit::eventually;
use tq::broker::{Broker, Grant};
use tq::clock::Clock;
use tq::model::{Epoch, Micros};

const TTL: Micros = Micros::from_secs(30);

pub(crate) async fn one_holds_and_others_learn_who<B: Broker>(broker: B, clock: Clock) {
    assert_eq!(broker.lease_acquire("one", TTL).await.unwrap(), Grant::Granted(Epoch(1)));
    for candidate in ["two", "one"] {
        let Grant::Held { owner, epoch: Epoch(1), left } = broker.lease_acquire(candidate, TTL).await.unwrap() else {
            panic!("the lease was granted twice");
        };
        assert!(owner == "one" && left > Micros::ZERO && left <= TTL, "{owner} {left}");
    }
    let seen = broker.snapshot(clock.now()).await.unwrap();
    assert_eq!((seen.leader.as_deref(), seen.epoch), (Some("one"), Epoch(1)));
    assert!(seen.lease_left_us > Micros::ZERO && seen.lease_left_us <= TTL);
}

pub(crate) async fn only_the_exact_term_renews_and_releases<B: Broker>(broker: B, clock: Clock) {
    assert!(!broker.lease_renew("one", Epoch(1), TTL).await.unwrap());
    assert_eq!(broker.lease_acquire("one", TTL).await.unwrap(), Grant::Granted(Epoch(1)));
    for (owner, epoch) in [("two", Epoch(1)), ("one", Epoch(2)), ("one", Epoch(0))] {
        assert!(!broker.lease_renew(owner, epoch, TTL).await.unwrap());
        assert!(!broker.lease_release(owner, epoch).await.unwrap());
    }
    assert!(broker.lease_renew("one", Epoch(1), TTL).await.unwrap());
    assert!(broker.lease_release("one", Epoch(1)).await.unwrap());
    assert!(!broker.lease_release("one", Epoch(1)).await.unwrap());
    assert_eq!(broker.snapshot(clock.now()).await.unwrap().leader, None);
    assert_eq!(broker.lease_acquire("one", TTL).await.unwrap(), Grant::Granted(Epoch(2)));
    assert!(!broker.lease_renew("one", Epoch(1), TTL).await.unwrap(), "a term does not outlive its release");
}

pub(crate) async fn a_lease_that_is_not_renewed_expires<B: Broker>(broker: B, clock: Clock) {
    let short = Micros::from_millis(30);
    assert_eq!(broker.lease_acquire("one", short).await.unwrap(), Grant::Granted(Epoch(1)));
    eventually(&clock, "the lease goes to the next", async || {
        broker.lease_acquire("two", TTL).await.unwrap() == Grant::Granted(Epoch(2))
    })
    .await;
    assert!(!broker.lease_renew("one", Epoch(1), TTL).await.unwrap());
    assert!(!broker.lease_release("one", Epoch(1)).await.unwrap());
    assert_eq!(broker.snapshot(clock.now()).await.unwrap().leader.as_deref(), Some("two"));
}

pub(crate) async fn a_renewal_gives_the_whole_ttl_again<B: Broker>(broker: B, clock: Clock) {
    broker.lease_acquire("one", Micros::from_secs(5)).await.unwrap();
    assert!(broker.lease_renew("one", Epoch(1), TTL).await.unwrap());
    assert!(broker.snapshot(clock.now()).await.unwrap().lease_left_us > Micros::from_secs(6));
}

pub(crate) async fn who_shows_itself_is_seen_until_it_is_gone<B: Broker>(broker: B, clock: Clock) {
    assert!(!broker.is_connected("one").await.unwrap(), "nobody came yet");
    let sign = broker.announce("one").await.unwrap();
    assert!(broker.is_connected("one").await.unwrap());
    assert!(!broker.is_connected("two").await.unwrap());
    drop(sign);
    eventually(&clock, "a sign that was taken away is gone", async || !broker.is_connected("one").await.unwrap()).await;
}

pub(crate) async fn only_the_exact_term_of_a_holder_that_is_gone_can_be_ended<B: Broker>(broker: B, clock: Clock) {
    let sign = broker.announce("one").await.unwrap();
    assert_eq!(broker.lease_acquire("one", TTL).await.unwrap(), Grant::Granted(Epoch(1)));
    assert!(!broker.lease_depose("one", Epoch(1)).await.unwrap(), "it is connected");
    drop(sign);
    eventually(&clock, "the holder is gone", async || !broker.is_connected("one").await.unwrap()).await;
    for (owner, epoch) in [("two", Epoch(1)), ("one", Epoch(2)), ("one", Epoch(0))] {
        assert!(!broker.lease_depose(owner, epoch).await.unwrap(), "{owner} {epoch}");
    }
    assert_eq!(broker.snapshot(clock.now()).await.unwrap().leader.as_deref(), Some("one"));
    assert!(broker.lease_depose("one", Epoch(1)).await.unwrap());
    assert!(!broker.lease_depose("one", Epoch(1)).await.unwrap(), "once");
    assert!(!broker.lease_renew("one", Epoch(1), TTL).await.unwrap(), "whoever comes back finds its term over");
    assert_eq!(broker.lease_acquire("two", TTL).await.unwrap(), Grant::Granted(Epoch(2)));
}
