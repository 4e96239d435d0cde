//! Reading replies: every shape is checked, nothing that lies in Redis may panic.

use crate::broker::{BrokerError, BrokerResult};
use crate::model::outcome::{Dead, DeadLetter, DeadReason, Delivery};
use crate::model::{EntryId, Epoch, Member, Micros, Rank, Record};
use bytes::Bytes;
use fred::types::Value;

/// Between score and member in texts of `delayed` and `returned`.
pub(super) const SEPARATOR: char = '\u{1e}';

fn corrupt(what: &str, value: &Value) -> BrokerError {
    let shown: String = format!("{value:?}").chars().take(80).collect();
    BrokerError::Corrupt(format!("expected {what}, not {shown}"))
}

pub(super) fn array(value: Value) -> BrokerResult<Vec<Value>> {
    match value {
        Value::Array(values) => Ok(values),
        Value::Null => Ok(Vec::new()),
        other => Err(corrupt("a list", &other)),
    }
}

pub(super) fn bytes(value: Value) -> BrokerResult<Bytes> {
    match value {
        Value::Bytes(bytes) => Ok(bytes),
        Value::String(text) => Ok(text.into_inner()),
        Value::Integer(n) => Ok(n.to_string().into()),
        other => Err(corrupt("bytes", &other)),
    }
}

pub(super) fn text(value: Value) -> BrokerResult<String> {
    match value {
        Value::String(text) => Ok(text.to_string()),
        Value::Integer(n) => Ok(n.to_string()),
        other => Err(corrupt("text", &other)),
    }
}

pub(super) fn integer(value: &Value) -> BrokerResult<i64> {
    match value {
        Value::Integer(n) => Ok(*n),
        Value::String(text) => text.parse().map_err(|_| corrupt("a number", value)),
        other => Err(corrupt("a number", other)),
    }
}

pub(super) fn count(value: &Value) -> BrokerResult<u64> {
    Ok(integer(value)?.max(0) as u64)
}

pub(super) fn entry_id(value: Value) -> BrokerResult<EntryId> {
    let text = text(value)?;
    text.parse().map_err(|_| BrokerError::Corrupt(format!("`{text}` is not an entry id")))
}

/// Places in a batch; those that cannot be are left out.
pub(super) fn places(value: Value, most: usize) -> BrokerResult<Vec<usize>> {
    let mut places = Vec::new();
    for value in array(value)? {
        let place = count(&value)? as usize;
        if place < most {
            places.push(place);
        }
    }
    Ok(places)
}

/// Exactly `N` values.
pub(super) fn exactly<const N: usize>(value: Value) -> BrokerResult<[Value; N]> {
    array(value)?.try_into().map_err(|values: Vec<Value>| {
        BrokerError::Corrupt(format!("expected {N} values in the reply, not {}", values.len()))
    })
}

/// (field, value) pairs of a hash.
pub(super) fn pairs(value: Value) -> BrokerResult<Vec<(String, Value)>> {
    let mut pairs = Vec::new();
    let mut values = array(value)?.into_iter();
    while let (Some(field), Some(value)) = (values.next(), values.next()) {
        pairs.push((String::from_utf8_lossy(&bytes(field)?).into_owned(), value));
    }
    Ok(pairs)
}

/// A stream entry: its id and its fields in order.
pub(super) struct Entry {
    pub(super) id: EntryId,
    pub(super) fields: Vec<(Bytes, Bytes)>,
}

impl Entry {
    pub(super) fn read(id: Value, fields: Value) -> BrokerResult<Self> {
        let mut read = Vec::new();
        let mut values = array(fields)?.into_iter();
        while let (Some(field), Some(value)) = (values.next(), values.next()) {
            read.push((bytes(field)?, bytes(value)?));
        }
        Ok(Entry { id: entry_id(id)?, fields: read })
    }

    pub(super) fn field(&self, name: &str) -> Option<&Bytes> {
        self.fields.iter().find(|(field, _)| field == name).map(|(_, value)| value)
    }

    fn text(&self, name: &str) -> Result<&str, String> {
        let value = self.field(name).ok_or_else(|| format!("the field `{name}` is missing"))?;
        std::str::from_utf8(value).map_err(|_| format!("the field `{name}` is not UTF-8"))
    }

    fn number<T: std::str::FromStr>(&self, name: &str) -> Result<T, String> {
        self.text(name)?.parse().map_err(|_| format!("the field `{name}` is not a number"))
    }

    /// The delivery that an execution entry holds.
    pub(super) fn delivery(&self) -> Result<Delivery, String> {
        let member = Member::parse(self.text("m")?).map_err(|error| error.to_string())?;
        let record = self.field("r").ok_or("the field `r` is missing")?;
        Ok(Delivery {
            entry: self.id,
            rank: Rank::new(self.number("s")?, member),
            record: Record::decode(record).map_err(|error| error.to_string())?,
            dispatched: Micros(self.number("d")?),
            epoch: Epoch(self.number("e")?),
        })
    }

    /// What is left of an execution entry that cannot be read, for the dead letters.
    pub(super) fn corrupt(&self, detail: String, now: Micros, worker: &str) -> Dead {
        let member = self.text("m").unwrap_or_default();
        let header: Vec<&str> = member.splitn(3, '|').nth(2).unwrap_or_default().split('\u{1f}').collect();
        let raw = self.field("r").cloned().unwrap_or_default();
        let letter = DeadLetter {
            id: header.first().copied().unwrap_or_default().to_owned(),
            tenant: header.get(1).copied().unwrap_or_default().to_owned(),
            reason: DeadReason::Corrupt,
            detail,
            attempts: 0,
            at_us: now,
            submitted_us: None,
            arrival: EntryId::ZERO,
            last_attempt: Some(self.id),
            last_worker: Some(worker.to_owned()),
        };
        // The body begins behind the fourth separator of a record; without one, all that is there is kept.
        let body = Record::decode(&raw).map(|record| record.body).unwrap_or(raw);
        Dead { letter, raw: body }
    }
}

/// The entries of XRANGE, or of one stream of XREAD.
pub(super) fn entries(value: Value) -> BrokerResult<Vec<Entry>> {
    array(value)?
        .into_iter()
        .map(|entry| {
            let [id, fields] = exactly(entry)?;
            Entry::read(id, fields)
        })
        .collect()
}

/// The entries of XREAD and XREADGROUP with one stream.
pub(super) fn read_entries(value: Value) -> BrokerResult<Vec<Entry>> {
    match array(value)?.into_iter().next() {
        None => Ok(Vec::new()),
        Some(stream) => {
            let [_, found] = exactly(stream)?;
            entries(found)
        }
    }
}

/// `score 0x1e member`.
pub(super) fn rank_text(rank: &Rank) -> String {
    format!("{}{SEPARATOR}{}", rank.score_text(), rank.member.as_str())
}

/// Reads what [`rank_text`] wrote.
pub(super) fn rank(value: Value) -> Option<Rank> {
    let text = text(value).ok()?;
    let (score, member) = text.split_once(SEPARATOR)?;
    Some(Rank::new(score.parse().ok()?, Member::parse(member).ok()?))
}

/// The rank of a sorted-set member and its score.
pub(super) fn member(member: &Value, score: &Value) -> Option<Rank> {
    let score = text(score.clone()).ok()?.parse().ok()?;
    Some(Rank::new(score, Member::parse(&text(member.clone()).ok()?).ok()?))
}

/// The ranks among texts; what cannot be read is logged and left out.
pub(super) fn ranks(value: Value) -> BrokerResult<Vec<Rank>> {
    let mut ranks = Vec::new();
    for value in array(value)? {
        match rank(value) {
            Some(rank) => ranks.push(rank),
            None => tracing::warn!("a rank that cannot be read was left out"),
        }
    }
    Ok(ranks)
}

/// A dead letter as JSON.
pub(super) fn letter(letter: &DeadLetter) -> BrokerResult<Value> {
    json(letter)
}

pub(super) fn json<T: serde::Serialize>(value: &T) -> BrokerResult<Value> {
    serde_json::to_string(value).map(Value::from).map_err(|error| BrokerError::Corrupt(error.to_string()))
}
