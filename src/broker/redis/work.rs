//! The operations of workers and recovery: fetch, complete, retry, heartbeats, expired attempts.

use super::codec::{self, Entry};
use super::keys::GROUP;
use super::{RedisBroker, scripts};
use crate::broker::{BrokerError, BrokerResult, Completed, Fate, Retried, Retry, Source, WorkerBeat, WorkerSeen};
use crate::model::outcome::{Completion, Dead, Delivery};
use crate::model::wire::{self, IngressEntry};
use crate::model::{EntryId, Epoch, Micros, Rank, Record};
use fred::types::Value;
use std::collections::BTreeMap;

/// Largest task that the control arm takes; it has no scheduler whose limit could apply.
const TASK_BYTES_MAX: usize = 1 << 20;

/// Per tenant: completed, measured service, missed deadlines.
type Sums<'a> = BTreeMap<&'a str, (i64, i64, i64)>;

fn source_name(source: Source) -> &'static str {
    match source {
        Source::Execution => "execution",
        Source::Ingress => "ingress",
    }
}

/// Whole milliseconds, rounded up: an attempt is not idle enough a moment too early.
fn idle_ms(span: Micros) -> i64 {
    span.0.max(0).saturating_add(999) / 1_000
}

impl RedisBroker {
    fn stream(&self, source: Source) -> Value {
        match source {
            Source::Execution => self.shared.keys.execution(),
            Source::Ingress => self.shared.keys.ingress(),
        }
    }

    pub(super) async fn take(
        &self,
        source: Source,
        worker: &str,
        count: usize,
        block: Micros,
    ) -> BrokerResult<Vec<Delivery>> {
        if count == 0 {
            return Ok(Vec::new());
        }
        let mut arguments: Vec<Value> =
            vec!["GROUP".into(), GROUP.into(), worker.into(), "COUNT".into(), Value::from(count as i64)];
        if block > Micros::ZERO {
            arguments.extend(["BLOCK".into(), Value::from(block.as_millis().max(1))]);
        }
        arguments.extend(["STREAMS".into(), self.stream(source), ">".into()]);
        let reply = match self.shared.connections.call_blocking("XREADGROUP", arguments.clone(), block).await {
            Err(error) if is_no_group(&error) => {
                self.create_group(source).await?;
                self.shared.connections.call_blocking("XREADGROUP", arguments, block).await?
            }
            reply => reply?,
        };
        let now = self.shared.clock.now();
        let mut taken = Vec::with_capacity(count);
        for entry in codec::read_entries(reply)? {
            let read = match source {
                Source::Execution => entry.delivery().map_err(|why| Box::new(entry.corrupt(why, now, worker))),
                Source::Ingress => arrival(&entry, now),
            };
            match read {
                Ok(delivery) => taken.push(delivery),
                Err(dead) => self.reject(source, entry.id, &dead, now).await?,
            }
        }
        Ok(taken)
    }

    /// Creates the consumer group, from the front, if it is not there.
    pub(super) async fn create_group(&self, source: Source) -> BrokerResult<()> {
        let arguments = vec!["CREATE".into(), self.stream(source), GROUP.into(), "0".into(), "MKSTREAM".into()];
        match self.shared.connections.call_raw("XGROUP", arguments).await {
            Err(error) if error.details().starts_with("BUSYGROUP") => Ok(()),
            reply => reply.map(|_| ()).map_err(|error| crate::runtime::redis::broker_error(&error)),
        }
    }

    async fn reject(&self, source: Source, entry: EntryId, dead: &Dead, now: Micros) -> BrokerResult<()> {
        tracing::warn!(%entry, detail = dead.letter.detail, "a delivery cannot be read and goes to the dead letters");
        let (k, (done, life)) = (&self.shared.keys, self.done(now));
        let names = vec![self.stream(source), k.tasks(), k.dead(), k.counters(), done];
        let arguments = vec![
            k.wake().into(),
            GROUP.into(),
            source_name(source).into(),
            entry.to_string().into(),
            dead.letter.id.as_str().into(),
            codec::letter(&dead.letter)?,
            Value::Bytes(dead.raw.clone()),
            life,
        ];
        self.run(&scripts::REJECT, names, arguments).await.map(|_| ())
    }

    pub(super) async fn complete_batch(
        &self,
        source: Source,
        batch: &[Completion],
        now: Micros,
    ) -> BrokerResult<Completed> {
        if batch.is_empty() {
            return Ok(Completed::default());
        }
        let mut sums = Sums::new();
        for completion in batch {
            let sum = sums.entry(completion.delivery.member().tenant()).or_default();
            sum.0 += 1;
            sum.1 = sum.1.saturating_add(completion.measured().0);
            sum.2 += i64::from(completion.deadline_missed());
        }
        let increments = increments(&sums);
        let (k, (done, life)) = (&self.shared.keys, self.done(now));
        let mut arguments = vec![
            k.wake().into(),
            GROUP.into(),
            source_name(source).into(),
            life,
            Value::from(batch.len() as i64),
            Value::from(sums.values().map(|sum| sum.2).sum::<i64>()),
            Value::from(increments.len() as i64 / 2),
        ];
        arguments.extend(batch.iter().map(|completion| Value::from(completion.delivery.entry.to_string())));
        arguments.extend(batch.iter().map(|completion| Value::from(completion.delivery.member().id())));
        for completion in batch {
            arguments.extend(["result".into(), codec::json(&completion.result())?]);
        }
        arguments.extend(increments);
        let names = vec![self.stream(source), k.tasks(), k.results(), k.counters(), k.service(), done];
        let reply = self.run(&scripts::COMPLETE, names, arguments).await?;
        Ok(Completed { duplicates: codec::places(reply, batch.len())? })
    }

    pub(super) async fn retry_batch(&self, batch: &[Retry], now: Micros) -> BrokerResult<Retried> {
        if batch.is_empty() {
            return Ok(Retried::default());
        }
        let (k, (done, life)) = (&self.shared.keys, self.done(now));
        let mut arguments = vec![k.wake().into(), GROUP.into(), life, Value::from(batch.len() as i64)];
        for retry in batch {
            let flag = |set: bool| Value::from(i64::from(set));
            arguments.extend([
                retry.entry.to_string().into(),
                retry.id.as_str().into(),
                Value::from(retry.min_idle.map_or(-1, idle_ms)),
                flag(retry.handler_failed),
                flag(retry.spent),
            ]);
            arguments.extend(match &retry.fate {
                Fate::Pending(rank) => ["pending".into(), rank.score_text().into(), rank.member.as_str().into()],
                Fate::Delayed(rank, due) => ["delayed".into(), Value::from(due.0), codec::rank_text(rank).into()],
                Fate::Dead(dead) => ["dead".into(), codec::letter(&dead.letter)?, Value::Bytes(dead.raw.clone())],
            });
        }
        let names =
            vec![k.execution(), k.tasks(), k.pending(), k.delayed(), k.dead(), k.counters(), k.returned(), done];
        let reply = self.run(&scripts::RETRY, names, arguments).await?;
        Ok(Retried { stale: codec::places(reply, batch.len())? })
    }

    pub(super) async fn heartbeat(
        &self,
        beat: &WorkerBeat,
        attempts: &[EntryId],
        now: Micros,
    ) -> BrokerResult<Vec<EntryId>> {
        let k = &self.shared.keys;
        let seen = codec::json(&WorkerSeen { beat: beat.clone(), seen_us: now })?;
        let mut arguments = vec![k.wake().into(), GROUP.into(), beat.worker.as_str().into(), seen];
        arguments.extend(attempts.iter().map(|entry| Value::from(entry.to_string())));
        let reply = self.run(&scripts::EXTEND, vec![k.execution(), k.workers(), k.counters()], arguments).await?;
        codec::array(reply)?.into_iter().map(codec::entry_id).collect()
    }

    /// Removes a worker; with `before`, only if it has been silent since then.
    pub(super) async fn unregister(&self, worker: &str, before: Option<Micros>) -> BrokerResult<()> {
        let k = &self.shared.keys;
        let before = before.map_or_else(|| "".into(), |before| Value::from(before.0));
        let arguments = vec![k.wake().into(), GROUP.into(), worker.into(), before];
        self.run(&scripts::LEAVE, vec![k.execution(), k.workers(), k.counters()], arguments).await.map(|_| ())
    }

    pub(super) async fn overdue(&self, min_idle: Micros, count: usize) -> BrokerResult<Vec<(Delivery, String)>> {
        if count == 0 {
            return Ok(Vec::new());
        }
        let k = &self.shared.keys;
        let arguments = vec![GROUP.into(), Value::from(idle_ms(min_idle)), Value::from(count as i64)];
        let reply = self.run(&scripts::EXPIRED, vec![k.execution(), k.counters()], arguments).await?;
        let now = self.shared.clock.now();
        let mut found = Vec::new();
        for held in codec::array(reply)? {
            let [id, fields, worker] = codec::exactly(held)?;
            let (entry, worker) = (Entry::read(id, fields)?, codec::text(worker)?);
            match entry.delivery() {
                Ok(delivery) => found.push((delivery, worker)),
                Err(why) => {
                    let dead = entry.corrupt(why, now, &worker);
                    self.reject(Source::Execution, entry.id, &dead, now).await?;
                }
            }
        }
        Ok(found)
    }
}

/// Fields of the `service` hash and what to add to them.
fn increments(sums: &Sums<'_>) -> Vec<Value> {
    let mut increments = Vec::with_capacity(6 * sums.len());
    for (tenant, (completed, service, missed)) in sums {
        for (kind, by) in [("c", completed), ("s", service), ("m", missed)] {
            if *by != 0 {
                increments.extend([Value::from(format!("{kind}:{tenant}")), Value::from(*by)]);
            }
        }
    }
    increments
}

/// The control arm: the delivery that an ingress entry amounts to.
fn arrival(entry: &Entry, now: Micros) -> Result<Delivery, Box<Dead>> {
    let arrived = IngressEntry { id: entry.id, task: entry.field("task").cloned() };
    let task = wire::read(&arrived, TASK_BYTES_MAX, now)?;
    Ok(Delivery {
        entry: entry.id,
        rank: Rank::new(0.0, task.member()),
        record: Record::of(&task, now, 0),
        dispatched: now,
        epoch: Epoch::NONE,
    })
}

fn is_no_group(error: &BrokerError) -> bool {
    let (BrokerError::Unavailable(said) | BrokerError::Corrupt(said)) = error else { return false };
    said.starts_with("NOGROUP")
        // XREADGROUP that was waiting when the group or the stream went away.
        || said.starts_with("UNBLOCKED")
        || said.contains("consumer group this client was blocked on no longer exists")
}
