//! What is stored of an admitted task beside its place: the payload, and what a worker must know that the member lacks.

use super::{Micros, Task};
use bytes::{Bytes, BytesMut};
use std::sync::Arc;

/// The value of one field of the `tasks` hash; it travels with the delivery.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// When the leader admitted it.
    pub admitted: Micros,
    /// Retries it may spend.
    pub max_retries: u32,
    /// What kind of work it is.
    pub kind: Arc<str>,
    /// The JSON as the producer sent it.
    pub body: Bytes,
}

const VERSION: &str = "1";
const SEPARATOR: u8 = 0x1f;

/// Why bytes are not a record.
#[derive(Debug, thiserror::Error)]
#[error("not a task record: {0}")]
pub struct BadRecord(&'static str);

impl Record {
    /// The record of a task admitted at `admitted`; `max_retries` fills in where the task names no budget.
    pub fn of(task: &Task, admitted: Micros, max_retries: u32) -> Self {
        Record {
            admitted,
            max_retries: task.max_retries.unwrap_or(max_retries),
            kind: task.kind.clone(),
            body: task.body.clone(),
        }
    }

    /// `1␟<admitted µs>␟<max retries>␟<kind>␟<body>`, where ␟ is the byte 0x1f.
    pub fn encode(&self) -> Bytes {
        let mut out = BytesMut::with_capacity(self.body.len() + self.kind.len() + 32);
        for field in [VERSION, &self.admitted.to_string(), &self.max_retries.to_string(), &self.kind] {
            out.extend_from_slice(field.as_bytes());
            out.extend_from_slice(&[SEPARATOR]);
        }
        out.extend_from_slice(&self.body);
        out.freeze()
    }

    /// Reads what [`Record::encode`] wrote.
    pub fn decode(bytes: &Bytes) -> Result<Self, BadRecord> {
        let mut at = 0;
        let mut field = || {
            let end = bytes[at..].iter().position(|byte| *byte == SEPARATOR).ok_or(BadRecord("a field is missing"))?;
            let text = std::str::from_utf8(&bytes[at..at + end]).map_err(|_| BadRecord("a field is not UTF-8"))?;
            at += end + 1;
            Ok(text)
        };
        if field()? != VERSION {
            return Err(BadRecord("unknown version"));
        }
        let admitted = Micros(field()?.parse().map_err(|_| BadRecord("admitted is not a number"))?);
        let max_retries = field()?.parse().map_err(|_| BadRecord("max_retries is not a number"))?;
        let kind = field()?.into();
        Ok(Record { admitted, max_retries, kind, body: bytes.slice(at..) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_record_survives_the_round_trip(admitted: i64, max_retries: u32, kind in "[^\\pC]{0,20}", body: Vec<u8>) {
            let record = Record { admitted: Micros(admitted), max_retries, kind: kind.into(), body: body.into() };
            prop_assert_eq!(Record::decode(&record.encode()).unwrap(), record);
        }

        #[test]
        fn no_bytes_panic(bytes: Vec<u8>) {
            let _ = Record::decode(&bytes.into());
        }
    }
}
