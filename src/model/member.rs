//! The member of a pending task: its tie-break, and the header from which a new leader rebuilds the waiting room.

use super::{EntryId, Micros, Task};
use std::fmt;
use std::sync::Arc;

/// Separates the fields of the header; ids, tenants and kinds may not hold control characters.
const SEPARATOR: char = '\u{1f}';
const SUBMITTED_WIDTH: usize = 16;
/// Bytes before the header: submitted, `|`, arrival, `|`.
const PREFIX_WIDTH: usize = SUBMITTED_WIDTH + 1 + EntryId::SORTABLE_WIDTH + 1;
const FIELDS: usize = 7;

/// The bytes under which a task waits in the sorted set.
///
/// `<submitted µs, 16 digits>|<arrival, 22 sortable digits>|<id>␟<tenant>␟<priority>␟<deadline µs or nothing>␟<cost µs>␟<attempt>␟<interruptions>`
/// where ␟ is the byte 0x1f. Equal scores compare by these bytes: first by submission, then by place in ingress, so a
/// retry, whose prefix is unchanged, keeps its place.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Member(Arc<str>);

/// Why a text is not a member.
#[derive(Debug, thiserror::Error)]
#[error("`{0}` is not a pending member: {1}")]
pub struct BadMember(pub String, pub &'static str);

impl Member {
    /// The member of a task's first attempt.
    pub fn of(task: &Task) -> Self {
        let mut text = String::with_capacity(PREFIX_WIDTH + task.id.0.len() + task.tenant.0.len() + 32);
        use fmt::Write;
        let _ =
            write!(text, "{:016}|{}|{}{SEPARATOR}{}", task.submitted.0, task.arrival.sortable(), task.id, task.tenant);
        let _ = write!(text, "{SEPARATOR}{}{SEPARATOR}", task.priority);
        if let Some(deadline) = task.deadline {
            let _ = write!(text, "{deadline}");
        }
        let _ = write!(text, "{SEPARATOR}{}{SEPARATOR}1{SEPARATOR}0", task.cost);
        Member(text.into())
    }

    /// Reads a stored member, checking its form.
    pub fn parse(text: &str) -> Result<Self, BadMember> {
        let bad = |why| BadMember(text.to_owned(), why);
        let bytes = text.as_bytes();
        if bytes.len() <= PREFIX_WIDTH || bytes[SUBMITTED_WIDTH] != b'|' || bytes[PREFIX_WIDTH - 1] != b'|' {
            return Err(bad("the prefix is not `<16 digits>|<22 digits>|`"));
        }
        let member = Member(text.into());
        if !bytes[..SUBMITTED_WIDTH].iter().all(u8::is_ascii_digit) {
            return Err(bad("submitted is not 16 digits"));
        }
        if !text.is_char_boundary(SUBMITTED_WIDTH + 1) || !text.is_char_boundary(PREFIX_WIDTH - 1) {
            return Err(bad("the arrival is not an entry id"));
        }
        EntryId::from_sortable(&text[SUBMITTED_WIDTH + 1..PREFIX_WIDTH - 1])
            .ok_or_else(|| bad("the arrival is not an entry id"))?;
        let fields: Vec<&str> = text[PREFIX_WIDTH..].split(SEPARATOR).collect();
        if fields.len() != FIELDS {
            return Err(bad("the header does not have seven fields"));
        }
        let good = !fields[0].is_empty()
            && fields[2].parse::<u8>().is_ok()
            && (fields[3].is_empty() || fields[3].parse::<i64>().is_ok())
            && fields[4].parse::<i64>().is_ok_and(|cost| cost >= 0)
            && fields[5].parse::<u32>().is_ok()
            && fields[6].parse::<u32>().is_ok();
        if good { Ok(member) } else { Err(bad("a field of the header is out of range")) }
    }

    fn field(&self, n: usize) -> &str {
        self.0[PREFIX_WIDTH..].split(SEPARATOR).nth(n).unwrap_or_default()
    }

    fn number<T: std::str::FromStr + Default>(&self, n: usize) -> T {
        self.field(n).parse().unwrap_or_default()
    }

    /// The whole text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The part that orders equal scores and that a retry keeps.
    pub fn tie_break(&self) -> &str {
        &self.0[..PREFIX_WIDTH]
    }

    /// The intended arrival instant.
    pub fn submitted(&self) -> Micros {
        Micros(self.0[..SUBMITTED_WIDTH].parse().unwrap_or_default())
    }

    /// The ingress entry that carried the task.
    pub fn arrival(&self) -> EntryId {
        EntryId::from_sortable(&self.0[SUBMITTED_WIDTH + 1..PREFIX_WIDTH - 1]).unwrap_or_default()
    }

    /// The task's id.
    pub fn id(&self) -> &str {
        self.field(0)
    }

    /// The task's tenant.
    pub fn tenant(&self) -> &str {
        self.field(1)
    }

    /// The task's priority.
    pub fn priority(&self) -> u8 {
        self.number(2)
    }

    /// The task's absolute deadline.
    pub fn deadline(&self) -> Option<Micros> {
        self.field(3).parse().ok().map(Micros)
    }

    /// The declared service time.
    pub fn cost(&self) -> Micros {
        Micros(self.number(4))
    }

    /// The number that the next (or current) attempt has; the first is 1.
    pub fn attempt(&self) -> u32 {
        self.number(5)
    }

    /// How often an attempt was given back without being spent.
    pub fn interruptions(&self) -> u32 {
        self.number(6)
    }

    /// The member of a later attempt: same tie-break, other counts.
    pub fn with_counts(&self, attempt: u32, interruptions: u32) -> Member {
        let header = &self.0[PREFIX_WIDTH..];
        let keep: usize = header.split(SEPARATOR).take(5).map(|field| field.len() + 1).sum();
        Member(format!("{}{}{attempt}{SEPARATOR}{interruptions}", self.tie_break(), &header[..keep]).into())
    }
}

impl fmt::Debug for Member {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.replace(SEPARATOR, "␟"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{TaskId, TenantId};
    use proptest::prelude::*;

    fn task(id: &str, tenant: &str, submitted: i64, deadline: Option<i64>, arrival: EntryId) -> Task {
        Task {
            id: TaskId::from(id),
            tenant: TenantId::from(tenant),
            kind: "sim".into(),
            priority: 9,
            cost: Micros(50_000),
            deadline: deadline.map(Micros),
            max_retries: None,
            submitted: Micros(submitted),
            not_before: None,
            arrival,
            body: bytes::Bytes::new(),
        }
    }

    proptest! {
        #[test]
        fn a_member_gives_back_what_it_was_made_of(
            id in "[^\\pC]{1,40}", tenant in "[^\\pC]{0,20}", submitted in 0i64..9_007_199_254_740_992,
            deadline in proptest::option::of(0i64..9_007_199_254_740_992), ms: u64, seq: u64,
            attempt in 1u32..100, interruptions in 0u32..100,
        ) {
            let first = Member::of(&task(&id, &tenant, submitted, deadline, EntryId::new(ms, seq)));
            let member = first.with_counts(attempt, interruptions);
            let read = Member::parse(member.as_str()).unwrap();
            prop_assert_eq!(&read, &member);
            prop_assert_eq!(read.id(), id);
            prop_assert_eq!(read.tenant(), tenant);
            prop_assert_eq!(read.submitted(), Micros(submitted));
            prop_assert_eq!(read.arrival(), EntryId::new(ms, seq));
            prop_assert_eq!(read.deadline(), deadline.map(Micros));
            prop_assert_eq!(read.cost(), Micros(50_000));
            prop_assert_eq!(read.priority(), 9);
            prop_assert_eq!((read.attempt(), read.interruptions()), (attempt, interruptions));
            prop_assert_eq!(read.tie_break(), first.tie_break());
        }

        #[test]
        fn no_text_panics(text in ".{0,80}") {
            let _ = Member::parse(&text);
        }
    }
}
