//! Leases and the sign of presence, on Redis.

use super::{RedisBroker, codec, scripts};
use crate::broker::{BrokerError, BrokerResult, Grant, Presence};
use crate::model::{Epoch, Micros};
use crate::runtime::redis::broker_error;
use fred::interfaces::PubsubInterface;
use fred::types::Value;

impl RedisBroker {
    pub(super) async fn acquire(&self, owner: &str, ttl: Micros) -> BrokerResult<Grant> {
        if let Some(reason) = &self.shared.unguarded {
            return Err(BrokerError::Unsupported(reason.clone()));
        }
        let k = &self.shared.keys;
        let arguments = vec![owner.into(), lease_ms(ttl)];
        let reply = self.run(&scripts::LEASE_ACQUIRE, vec![k.leader(), k.epoch(), k.fence()], arguments).await?;
        let mut values = codec::array(reply)?.into_iter();
        match (values.next(), values.next(), values.next()) {
            (Some(Value::Integer(1)), Some(epoch), None) => Ok(Grant::Granted(Epoch(codec::count(&epoch)?))),
            (Some(Value::Integer(0)), Some(term), Some(left)) => {
                let term = codec::text(term)?;
                let (epoch, owner) = term.split_once(' ').unwrap_or(("0", &term));
                let epoch = Epoch(epoch.parse().unwrap_or_default());
                let left = Micros::from_millis(codec::integer(&left)?.max(0));
                Ok(Grant::Held { owner: owner.to_owned(), epoch, left })
            }
            _ => Err(BrokerError::Corrupt("lease_acquire.lua gave an unknown reply".into())),
        }
    }

    pub(super) async fn renew(&self, owner: &str, epoch: Epoch, ttl: Micros) -> BrokerResult<bool> {
        let arguments = vec![term(owner, epoch), lease_ms(ttl)];
        let reply = self.run(&scripts::LEASE_RENEW, vec![self.shared.keys.leader()], arguments).await?;
        Ok(codec::integer(&reply)? == 1)
    }

    pub(super) async fn release(&self, owner: &str, epoch: Epoch) -> BrokerResult<bool> {
        let k = &self.shared.keys;
        let arguments = vec![term(owner, epoch), k.wake().into(), Value::from(epoch.to_string())];
        let reply = self.run(&scripts::LEASE_RELEASE, vec![k.leader()], arguments).await?;
        Ok(codec::integer(&reply)? == 1)
    }

    pub(super) async fn depose(&self, owner: &str, epoch: Epoch) -> BrokerResult<bool> {
        let k = &self.shared.keys;
        let channel = k.presence(owner).into();
        let arguments = vec![term(owner, epoch), channel, k.wake().into(), Value::from(epoch.to_string())];
        let reply = self.run(&scripts::LEASE_DEPOSE, vec![k.leader()], arguments).await?;
        Ok(codec::integer(&reply)? == 1)
    }

    /// A subscription to a channel on which nobody publishes: Redis ends it with the connection, at once.
    pub(super) async fn show(&self, owner: &str) -> BrokerResult<Presence> {
        let channel = self.shared.keys.presence(owner);
        let subscriber = self.shared.connections.subscriber().clone();
        subscriber.ssubscribe(channel.as_str()).await.map_err(|error| broker_error(&error))?;
        Ok(Presence::new(move || {
            if let Ok(runtime) = tokio::runtime::Handle::try_current() {
                runtime.spawn(async move {
                    let _ = subscriber.sunsubscribe(channel).await;
                });
            }
        }))
    }

    pub(super) async fn sees(&self, owner: &str) -> BrokerResult<bool> {
        let arguments = vec!["SHARDNUMSUB".into(), self.shared.keys.presence(owner).into()];
        let [_, subscribers] = codec::exactly(self.shared.connections.call("PUBSUB", arguments).await?)?;
        Ok(codec::integer(&subscribers)? > 0)
    }
}

fn term(owner: &str, epoch: Epoch) -> Value {
    Value::from(format!("{epoch} {owner}"))
}

fn lease_ms(ttl: Micros) -> Value {
    Value::from(ttl.as_millis().max(1))
}
