//! The id of a stream entry, and its fixed-width text for ties in a rank.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// A Redis stream entry id: milliseconds and a sequence number. Ordered as the stream is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EntryId {
    /// Milliseconds part.
    pub ms: u64,
    /// Sequence number within the millisecond.
    pub seq: u64,
}

/// Sixty-four digits in ascending byte order, so that text order is numeric order.
const DIGITS: &[u8; 64] = b"-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz";

impl EntryId {
    /// Before every entry.
    pub const ZERO: EntryId = EntryId { ms: 0, seq: 0 };
    /// Width of [`EntryId::sortable`] in bytes.
    pub const SORTABLE_WIDTH: usize = 22;

    /// An id from its two parts.
    pub const fn new(ms: u64, seq: u64) -> Self {
        EntryId { ms, seq }
    }

    /// The smallest id after this one.
    pub const fn next(self) -> Self {
        match self.seq.checked_add(1) {
            Some(seq) => EntryId { ms: self.ms, seq },
            None => EntryId { ms: self.ms.saturating_add(1), seq: 0 },
        }
    }

    /// 22 bytes of base 64 whose byte order is the order of the ids.
    pub fn sortable(self) -> String {
        let mut text = String::with_capacity(Self::SORTABLE_WIDTH);
        for part in [self.ms, self.seq] {
            for digit in (0..11).rev() {
                text.push(DIGITS[((part >> (6 * digit)) & 63) as usize] as char);
            }
        }
        text
    }

    /// Reads what [`EntryId::sortable`] wrote; `None` for anything else.
    pub fn from_sortable(text: &str) -> Option<Self> {
        if text.len() != Self::SORTABLE_WIDTH {
            return None;
        }
        let part = |bytes: &[u8]| {
            bytes.iter().try_fold(0u64, |value, byte| {
                let digit = DIGITS.binary_search(byte).ok()? as u64;
                (value.leading_zeros() >= 6).then_some((value << 6) | digit)
            })
        };
        let (ms, seq) = text.as_bytes().split_at(11);
        Some(EntryId { ms: part(ms)?, seq: part(seq)? })
    }
}

impl fmt::Display for EntryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.ms, self.seq)
    }
}

/// Why a text is not an entry id.
#[derive(Debug, thiserror::Error)]
#[error("`{0}` is not a stream entry id (expected MS-SEQ)")]
pub struct BadEntryId(String);

impl FromStr for EntryId {
    type Err = BadEntryId;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parse = || {
            let (ms, seq) = text.split_once('-')?;
            Some(EntryId { ms: ms.parse().ok()?, seq: seq.parse().ok()? })
        };
        parse().ok_or_else(|| BadEntryId(text.to_owned()))
    }
}

impl Serialize for EntryId {
    fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for EntryId {
    fn deserialize<D: serde::Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        std::borrow::Cow::<str>::deserialize(d)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_extremes_survive_the_round_trip() {
        for id in [EntryId::ZERO, EntryId::new(u64::MAX, u64::MAX), EntryId::new(1_714_521_600_000, 7)] {
            assert_eq!(EntryId::from_sortable(&id.sortable()), Some(id));
            assert_eq!(id.to_string().parse::<EntryId>().unwrap(), id);
        }
    }

    proptest! {
        #[test]
        fn text_order_is_stream_order(a: (u64, u64), b: (u64, u64)) {
            let (a, b) = (EntryId::new(a.0, a.1), EntryId::new(b.0, b.1));
            prop_assert_eq!(a.cmp(&b), a.sortable().as_bytes().cmp(b.sortable().as_bytes()));
        }
    }
}
