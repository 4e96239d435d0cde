//! The Lua scripts, joined with what they share at compile time, and how they are run.

use crate::broker::{BrokerError, BrokerResult};
use crate::runtime::redis::{Connections, broker_error};
use fred::types::Value;
use std::sync::LazyLock;

/// One script.
#[derive(Debug)]
pub struct Script {
    /// File name without `.lua`.
    pub name: &'static str,
    /// What is sent: the shared parts and the file.
    pub source: &'static str,
    sha: LazyLock<String>,
}

macro_rules! scripts {
    ($($constant:ident = $name:literal [$($lib:literal)*];)*) => {
        $(pub(super) static $constant: Script = Script {
            name: $name,
            source: concat!($(include_str!(concat!("../../../lua/lib/", $lib, ".lua")), "\n",)*
                include_str!(concat!("../../../lua/", $name, ".lua"))),
            sha: LazyLock::new(|| fred::util::sha1_hash($constant.source)),
        };)*
        /// Every script.
        pub static ALL: &[&Script] = &[$(&$constant),*];
    };
}

scripts! {
    ADMIT = "admit" ["fence" "chunk"];
    COMPLETE = "complete" ["chunk" "trim"];
    DEAD_TAKE = "dead_take" [];
    DISPATCH = "dispatch" ["fence" "chunk"];
    EXPIRED = "expired" [];
    EXTEND = "extend" [];
    KNOWN = "known" [];
    LEASE_ACQUIRE = "lease_acquire" [];
    LEASE_DEPOSE = "lease_depose" [];
    LEASE_RELEASE = "lease_release" [];
    LEASE_RENEW = "lease_renew" [];
    LEAVE = "leave" [];
    PENDING_SCAN = "pending_scan" [];
    PROMOTE = "promote" ["fence"];
    REJECT = "reject" [];
    RETRY = "retry" ["trim"];
    SNAPSHOT = "snapshot" [];
    SUBMIT = "submit" [];
}

/// Loads every script, so that none has to be sent whole. To be done on connecting and on every reconnect.
pub(super) async fn load(connections: &Connections) -> BrokerResult<()> {
    for script in ALL {
        connections.call("SCRIPT", vec!["LOAD".into(), script.source.into()]).await?;
    }
    Ok(())
}

/// Runs a script: by its hash, and whole where Redis does not know it (it then knows it again).
pub(super) async fn run(
    connections: &Connections,
    script: &Script,
    keys: Vec<Value>,
    arguments: Vec<Value>,
) -> BrokerResult<Value> {
    let mut sent = Vec::with_capacity(2 + keys.len() + arguments.len());
    sent.push(Value::from(script.sha.as_str()));
    sent.push(Value::from(keys.len() as i64));
    sent.extend(keys);
    sent.extend(arguments);
    match connections.call_raw("EVALSHA", sent.clone()).await {
        Err(error) if error.details().starts_with("NOSCRIPT") => {
            sent[0] = script.source.into();
            connections.call_raw("EVAL", sent).await
        }
        answer => answer,
    }
    .map_err(|error| match broker_error(&error) {
        BrokerError::Corrupt(said) => BrokerError::Corrupt(format!("{}.lua: {said}", script.name)),
        other => other,
    })
}
