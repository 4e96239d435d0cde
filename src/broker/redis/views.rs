//! What the broker shows of itself, and its upkeep: snapshot, results, dead letters, retention, reset.

use super::keys::{GROUP, PLACES};
use super::{RedisBroker, codec, scripts};
use crate::broker::{BrokerError, BrokerResult, DeadEntry, ResultEntry, Snapshot, TenantTotals, WorkerSeen};
use crate::model::outcome::{Delivery, TaskResult};
use crate::model::{EntryId, Epoch, Micros};
use fred::types::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Entries of `results` read at once; each may hold a whole batch.
const RESULT_ENTRIES: i64 = 16;

impl RedisBroker {
    pub(super) async fn count_all(&self) -> BrokerResult<Snapshot> {
        let k = &self.shared.keys;
        let names = vec![
            k.leader(),
            k.epoch(),
            k.fence(),
            k.ingress(),
            k.pending(),
            k.delayed(),
            k.tasks(),
            k.execution(),
            k.returned(),
            k.dead(),
            k.counters(),
            k.service(),
            k.workers(),
        ];
        let reply = self.run(&scripts::SNAPSHOT, names, vec![GROUP.into()]).await?;
        let [term, left, epoch, fence, sizes @ .., counters, service, workers] = codec::exactly::<16>(reply)?;
        let sizes = sizes.iter().map(codec::count).collect::<BrokerResult<Vec<u64>>>()?;
        let [ingress, pending, delayed, unfinished, execution_entries, returned, dead, delivered, waiting] = sizes[..]
        else {
            return Err(BrokerError::Corrupt("snapshot.lua gave an unknown reply".into()));
        };
        let term = codec::text(term)?;
        let mut totals = BTreeMap::new();
        for (name, value) in codec::pairs(counters)? {
            totals.insert(name, codec::count(&value)?);
        }
        let total = |name: &str| totals.get(name).copied().unwrap_or(0);
        Ok(Snapshot {
            leader: term.split_once(' ').map(|(_, owner)| owner.to_owned()),
            epoch: Epoch(codec::count(&epoch)?),
            fence: Epoch(codec::count(&fence)?),
            lease_left_us: Micros::from_millis(codec::integer(&left)?.max(0)),
            ingress,
            pending,
            delayed,
            unfinished,
            in_flight: total("dispatched").saturating_sub(total("freed")),
            in_flight_counted: delivered + waiting,
            execution_entries,
            returned,
            dead,
            tenants: tenants(service)?,
            workers: workers_seen(workers)?,
            counters: totals,
        })
    }

    /// Entries after `after`.
    async fn range(&self, key: Value, after: EntryId, count: i64) -> BrokerResult<Vec<codec::Entry>> {
        let from = if after == EntryId::ZERO { "-".into() } else { Value::from(format!("({after}")) };
        let arguments = vec![key, from, "+".into(), "COUNT".into(), count.into()];
        codec::entries(self.shared.connections.call("XRANGE", arguments).await?)
    }

    pub(super) async fn results_after(&self, after: EntryId, count: usize) -> BrokerResult<Vec<ResultEntry>> {
        let (mut found, mut after) = (Vec::new(), after);
        while found.len() < count {
            let entries = self.range(self.shared.keys.results(), after, RESULT_ENTRIES).await?;
            let Some(last) = entries.last() else { break };
            after = last.id;
            for entry in entries {
                if found.len() >= count {
                    break;
                }
                for (_, json) in entry.fields.iter().filter(|(field, _)| field == "result") {
                    match serde_json::from_slice::<TaskResult>(json) {
                        Ok(result) => found.push(ResultEntry { entry: entry.id, result }),
                        Err(error) => tracing::warn!(entry = %entry.id, %error, "a result cannot be read"),
                    }
                }
            }
        }
        Ok(found)
    }

    /// Dispatched attempts after `after` that are still in the execution stream, up to `count`, waiting up to `block` for the
    /// first: for whoever follows what is dispatched without taking anything.
    ///
    /// # Errors
    /// As the operations of [`crate::broker::Broker`].
    pub async fn execution_after(&self, after: EntryId, count: usize, block: Micros) -> BrokerResult<Vec<Delivery>> {
        let (most, wait) = (Value::from(count.max(1) as i64), Value::from(block.as_millis().max(1)));
        let key = self.shared.keys.execution();
        let place: [Value; 3] = ["STREAMS".into(), key, after.to_string().into()];
        let arguments = [vec!["COUNT".into(), most, "BLOCK".into(), wait], place.to_vec()].concat();
        let reply = self.shared.connections.call_blocking("XREAD", arguments, block).await?;
        Ok(codec::read_entries(reply)?.iter().filter_map(|entry| entry.delivery().ok()).collect())
    }

    pub(super) async fn dead_after(&self, after: EntryId, count: usize) -> BrokerResult<Vec<DeadEntry>> {
        let mut found = Vec::new();
        let most = i64::try_from(count.max(1)).unwrap_or(i64::MAX);
        for entry in self.range(self.shared.keys.dead(), after, most).await? {
            let letter = entry.field("letter").cloned().unwrap_or_default();
            match serde_json::from_slice(&letter) {
                Ok(letter) => {
                    let raw = entry.field("task").cloned().unwrap_or_default();
                    found.push(DeadEntry { entry: entry.id, letter, raw });
                }
                Err(error) => tracing::warn!(entry = %entry.id, %error, "a dead letter cannot be read"),
            }
        }
        Ok(found)
    }

    pub(super) async fn take_dead(&self, entries: &[EntryId], requeue: bool) -> BrokerResult<u64> {
        let k = &self.shared.keys;
        let mut names = vec![k.dead(), k.ingress()];
        if requeue {
            names.extend(self.done_buckets().await?);
        }
        let mut arguments = vec![Value::from(i64::from(requeue))];
        arguments.extend(entries.iter().map(|entry| Value::from(entry.to_string())));
        codec::count(&self.run(&scripts::DEAD_TAKE, names, arguments).await?)
    }

    /// The sets of finished ids that exist.
    async fn done_buckets(&self) -> BrokerResult<Vec<Value>> {
        let pattern = self.shared.keys.done_pattern();
        let (mut cursor, mut found) = (Value::from("0"), BTreeSet::new());
        loop {
            let arguments =
                vec![cursor, "MATCH".into(), pattern.as_str().into(), "COUNT".into(), Value::from(1_000_i64)];
            let [next, keys] = codec::exactly(self.shared.connections.call("SCAN", arguments).await?)?;
            for key in codec::array(keys)? {
                found.insert(codec::text(key)?);
            }
            if codec::integer(&next)? == 0 {
                return Ok(found.into_iter().map(Value::from).collect());
            }
            cursor = next;
        }
    }

    pub(super) async fn upkeep(
        &self,
        now: Micros,
        results_retention: Micros,
        worker_silence: Micros,
    ) -> BrokerResult<()> {
        let k = &self.shared.keys;
        if results_retention > Micros::ZERO {
            let oldest = Value::from(format!("{}-0", (now - results_retention).as_millis().max(0)));
            let arguments = vec![k.results(), "MINID".into(), "=".into(), oldest];
            self.shared.connections.call("XTRIM", arguments).await?;
        }
        let silent_since = now - worker_silence + Micros(1);
        let registered = codec::array(self.shared.connections.call("HVALS", vec![k.workers()]).await?)?;
        let mut live = BTreeSet::new();
        for seen in workers_seen(Value::Array(registered))? {
            if seen.seen_us < silent_since {
                self.unregister(&seen.beat.worker, Some(silent_since)).await?;
            } else {
                live.insert(seen.beat.worker);
            }
        }
        for consumer in self.idle_consumers(worker_silence).await? {
            if !live.contains(&consumer) {
                self.unregister(&consumer, Some(silent_since)).await?;
            }
        }
        Ok(())
    }

    /// Consumers that hold nothing and have not read for `silence`.
    async fn idle_consumers(&self, silence: Micros) -> BrokerResult<Vec<String>> {
        let arguments = vec!["CONSUMERS".into(), self.shared.keys.execution(), GROUP.into()];
        let reply = match self.shared.connections.call_raw("XINFO", arguments).await {
            // No stream or no group: no consumers.
            Err(error) if error.details().starts_with("ERR no such key") => return Ok(Vec::new()),
            Err(error) if error.details().starts_with("NOGROUP") => return Ok(Vec::new()),
            reply => reply.map_err(|error| crate::runtime::redis::broker_error(&error))?,
        };
        let mut idle = Vec::new();
        for consumer in codec::array(reply)? {
            let fields: BTreeMap<String, Value> = codec::pairs(consumer)?.into_iter().collect();
            let number = |name: &str| fields.get(name).and_then(|value| codec::integer(value).ok()).unwrap_or(0);
            if number("pending") == 0
                && Micros::from_millis(number("idle")) >= silence
                && let Some(name) = fields.get("name")
            {
                idle.push(codec::text(name.clone())?);
            }
        }
        Ok(idle)
    }

    pub(super) async fn delete_all(&self) -> BrokerResult<()> {
        let places = PLACES.iter().filter(|place| !matches!(**place, "epoch" | "fence"));
        let mut keys: Vec<Value> = places.map(|place| self.shared.keys.key(place)).collect();
        keys.extend(self.done_buckets().await?);
        self.shared.connections.call("UNLINK", keys).await.map(|_| ())
    }
}

fn tenants(service: Value) -> BrokerResult<BTreeMap<String, TenantTotals>> {
    let mut tenants: BTreeMap<String, TenantTotals> = BTreeMap::new();
    for (field, value) in codec::pairs(service)? {
        let Some((kind, tenant)) = field.split_once(':') else { continue };
        let totals = tenants.entry(tenant.to_owned()).or_default();
        match kind {
            "c" => totals.completed = codec::count(&value)?,
            "s" => totals.service_us = Micros(codec::integer(&value)?),
            "m" => totals.deadline_missed = codec::count(&value)?,
            _ => {}
        }
    }
    Ok(tenants)
}

/// The register in the order of names; what cannot be read is left out.
fn workers_seen(values: Value) -> BrokerResult<Vec<WorkerSeen>> {
    let mut workers = Vec::new();
    for value in codec::array(values)? {
        match serde_json::from_slice::<WorkerSeen>(&codec::bytes(value)?) {
            Ok(seen) => workers.push(seen),
            Err(error) => tracing::warn!(%error, "a registered worker cannot be read"),
        }
    }
    workers.sort_by(|a: &WorkerSeen, b| a.beat.worker.cmp(&b.beat.worker));
    Ok(workers)
}
