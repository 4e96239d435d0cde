//! The operations of the leader: admit, dispatch, promote and the scan.

use super::{RedisBroker, codec, keys, scripts};
use crate::broker::{AdmitBatch, AdmitItem, Admitted, BrokerResult, DispatchBatch, Dispatched, Promoted};
use crate::model::{Epoch, Micros, Rank, StateChange};
use fred::types::Value;
use std::collections::BTreeSet;

/// Policy changes as script arguments: fields and values to set, then fields to remove.
fn policy_arguments(changes: &[StateChange]) -> (usize, usize, Vec<Value>) {
    let (mut sets, mut removals) = (Vec::new(), Vec::new());
    for (field, value) in changes {
        match value {
            Some(value) => sets.extend([Value::from(field.as_str()), Value::from(value.as_str())]),
            None => removals.push(Value::from(field.as_str())),
        }
    }
    let counts = (sets.len() / 2, removals.len());
    sets.extend(removals);
    (counts.0, counts.1, sets)
}

fn number(n: usize) -> Value {
    Value::from(n as i64)
}

/// A batch laid out as `admit.lua` reads it.
#[derive(Default)]
struct Layout {
    ids: [Vec<Value>; 2],
    zadds: [Vec<Value>; 2],
    records: [Vec<Value>; 2],
    /// Places in the batch of pending and delayed items.
    places: [Vec<usize>; 2],
    rejected: Vec<Value>,
    duplicates: usize,
    /// Places whose id stands earlier in the batch.
    repeated: Vec<usize>,
}

impl Layout {
    fn of(batch: &AdmitBatch) -> BrokerResult<Self> {
        let mut layout = Layout::default();
        let mut seen = BTreeSet::new();
        for (place, item) in batch.items.iter().enumerate() {
            let (kind, rank, record, score, text) = match item {
                AdmitItem::Duplicate => {
                    layout.duplicates += 1;
                    continue;
                }
                AdmitItem::Rejected(dead) => {
                    layout.rejected.extend([codec::letter(&dead.letter)?, Value::Bytes(dead.raw.clone())]);
                    continue;
                }
                AdmitItem::Pending { rank, record } => {
                    (0, rank, record, Value::from(rank.score_text()), Value::from(rank.member.as_str()))
                }
                AdmitItem::Delayed { rank, record, due } => {
                    (1, rank, record, Value::from(due.0), Value::from(codec::rank_text(rank)))
                }
            };
            let id = rank.member.id();
            if !seen.insert(id) {
                layout.repeated.push(place);
            }
            layout.ids[kind].push(id.into());
            layout.zadds[kind].extend([score, text]);
            layout.records[kind].extend([id.into(), Value::Bytes(record.encode())]);
            layout.places[kind].push(place);
        }
        Ok(layout)
    }
}

impl RedisBroker {
    pub(super) async fn admit_batch(&self, epoch: Epoch, batch: &AdmitBatch) -> BrokerResult<Admitted> {
        let layout = Layout::of(batch)?;
        let (sets, removals, policy) = policy_arguments(&batch.changes);
        let mut arguments = vec![
            Value::from(epoch.to_string()),
            Value::from(batch.upto.next().to_string()),
            number(layout.duplicates),
            number(layout.ids[0].len()),
            number(layout.ids[1].len()),
            number(layout.rejected.len() / 2),
            number(sets),
            number(removals),
            number(usize::from(!layout.repeated.is_empty())),
        ];
        let places = layout.places.concat();
        let [pending, delayed] = layout.records;
        for part in layout.ids.into_iter().chain(layout.zadds).chain([pending, delayed, layout.rejected, policy]) {
            arguments.extend(part);
        }
        let k = &self.shared.keys;
        let done = [k.done(batch.now, batch.done_retention), k.done_before(batch.now, batch.done_retention)];
        let mut names =
            vec![k.fence(), k.ingress(), k.pending(), k.tasks(), k.delayed(), k.dead(), k.counters(), k.policy()];
        names.extend(done);
        let reply = self.run(&scripts::ADMIT, names, arguments).await?;
        let known = codec::places(reply, places.len())?.into_iter().map(|place| places[place]);
        let duplicates: BTreeSet<usize> = known.chain(layout.repeated).collect();
        Ok(if duplicates.is_empty() { Admitted::Done } else { Admitted::Duplicates(duplicates.into_iter().collect()) })
    }

    pub(super) async fn dispatch_batch(&self, epoch: Epoch, batch: &DispatchBatch) -> BrokerResult<Dispatched> {
        let (sets, removals, policy) = policy_arguments(&batch.changes);
        let window = batch.window.map_or(-1, |window| i64::try_from(window).unwrap_or(i64::MAX));
        let mut arguments = vec![
            Value::from(epoch.to_string()),
            Value::from(batch.now.0),
            Value::from(window),
            number(batch.chosen.len()),
            number(sets),
            number(removals),
        ];
        arguments.extend(batch.chosen.iter().map(|rank| Value::from(rank.member.id())));
        arguments.extend(batch.chosen.iter().map(|rank| Value::from(rank.member.as_str())));
        arguments.extend(batch.chosen.iter().map(|rank| Value::from(rank.score_text())));
        arguments.extend(policy);
        let k = &self.shared.keys;
        let names = vec![k.fence(), k.pending(), k.tasks(), k.execution(), k.counters(), k.returned(), k.policy()];
        let reply = self.run(&scripts::DISPATCH, names, arguments).await?;
        let [considered, missing, dispatched, freed, returned] = codec::exactly(reply)?;
        Ok(Dispatched {
            considered: codec::count(&considered)? as usize,
            missing: codec::places(missing, batch.chosen.len())?,
            dispatched_total: codec::count(&dispatched)?,
            freed_total: codec::count(&freed)?,
            returned: codec::ranks(returned)?,
        })
    }

    pub(super) async fn promote_due(&self, epoch: Epoch, now: Micros, count: usize) -> BrokerResult<Promoted> {
        let k = &self.shared.keys;
        let arguments = vec![Value::from(epoch.to_string()), Value::from(now.0), number(count)];
        let reply = self.run(&scripts::PROMOTE, vec![k.fence(), k.delayed(), k.pending()], arguments).await?;
        let [promoted, next] = codec::exactly(reply)?;
        let next = codec::text(next)?;
        let next_due = next.parse::<f64>().ok().map(|due| Micros(due as i64));
        Ok(Promoted { promoted: codec::ranks(promoted)?, next_due })
    }

    pub(super) async fn scan(&self, after: Option<&Rank>, count: usize) -> BrokerResult<Vec<Rank>> {
        let count = count.max(1);
        let (mut score, mut member) = match after {
            Some(rank) => (Value::from(rank.score_text()), Value::from(rank.member.as_str())),
            None => ("".into(), "".into()),
        };
        // A chunk in which nothing can be read must not look like the end, so reading goes on behind it.
        loop {
            let arguments = vec![score.clone(), member.clone(), number(count)];
            let reply = self.run(&scripts::PENDING_SCAN, vec![self.shared.keys.pending()], arguments).await?;
            let found = codec::array(reply)?;
            let full = found.len() >= 2 * count;
            let mut ranks = Vec::with_capacity(found.len() / 2);
            let mut found = found.into_iter();
            while let (Some(found_member), Some(found_score)) = (found.next(), found.next()) {
                match codec::member(&found_member, &found_score) {
                    Some(rank) => ranks.push(rank),
                    None => tracing::warn!("a pending member that cannot be read was left out"),
                }
                (member, score) = (found_member, found_score);
            }
            if !ranks.is_empty() || !full {
                return Ok(ranks);
            }
        }
    }

    /// Keys and bucket life for what puts ids among the finished.
    pub(super) fn done(&self, now: Micros) -> (Value, Value) {
        let retention = self.done_retention;
        (self.shared.keys.done(now, retention), Value::from(keys::done_life_ms(retention)))
    }
}
