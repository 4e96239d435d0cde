//! The wire format: what a producer puts into ingress, read and checked (`docs/protocol.md` is its description).

use super::outcome::{Dead, DeadLetter, DeadReason};
use super::{EntryId, Micros, Task, TaskId, TenantId};
use bytes::Bytes;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::borrow::Cow;

/// Largest id in bytes.
pub const ID_BYTES_MAX: usize = 256;
/// Largest tenant or kind in bytes.
pub const NAME_BYTES_MAX: usize = 128;
/// Largest instant or span in µs: every integer up to here is exact in a double, and has at most 16 digits.
pub const MICROS_MAX: u64 = 1 << 53;

/// What an ingress entry holds.
#[derive(Debug, Clone, PartialEq)]
pub struct IngressEntry {
    /// Its id.
    pub id: EntryId,
    /// The value of its field `task`, if it has one.
    pub task: Option<Bytes>,
}

/// The JSON object of the wire format. Field names are the contract.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct WireTask<'a> {
    /// Stable id; else the entry's id.
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub id: Option<Cow<'a, str>>,
    /// Fairness class; else `default`.
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub tenant: Option<Cow<'a, str>>,
    /// Kind of work; else `sim`.
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub kind: Option<Cow<'a, str>>,
    /// Importance, higher first; else 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority: Option<u8>,
    /// Declared service time in µs; else 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub service_us: Option<u64>,
    /// Absolute deadline in µs since the epoch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deadline_us: Option<u64>,
    /// Deadline in µs after submission.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deadline_in_us: Option<u64>,
    /// Retry budget.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_retries: Option<u32>,
    /// Anything; handed to the handler.
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub payload: Option<&'a RawValue>,
    /// Intended arrival instant; else the entry's time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub submitted_us: Option<u64>,
    /// Not to be dispatched before this instant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_before_us: Option<u64>,
}

/// Reads an ingress entry. `bytes_max` limits the size of the JSON.
///
/// # Errors
/// The dead letter that the entry becomes; its detail names the field and what is wrong with it.
pub fn read(entry: &IngressEntry, bytes_max: usize, now: Micros) -> Result<Task, Box<Dead>> {
    let raw = entry.task.clone().unwrap_or_default();
    let dead = |reason, detail: String, id: &str, tenant: &str| {
        let letter = DeadLetter {
            id: id.to_owned(),
            tenant: tenant.to_owned(),
            reason,
            detail,
            attempts: 0,
            at_us: now,
            submitted_us: None,
            arrival: entry.id,
            last_attempt: None,
            last_worker: None,
        };
        Box::new(Dead { letter, raw: raw.slice(..raw.len().min(bytes_max)) })
    };
    if entry.task.is_none() {
        return Err(dead(DeadReason::Malformed, "the entry has no field `task`".into(), "", ""));
    }
    if raw.len() > bytes_max {
        let detail = format!("the task has {} bytes; the limit is {bytes_max} (scheduler.task_bytes_max)", raw.len());
        return Err(dead(DeadReason::TooLarge, detail, "", ""));
    }
    let wire = match serde_json::from_slice::<WireTask<'_>>(&raw) {
        // Serde would also read an array of all fields in order.
        Ok(_) if raw.trim_ascii_start().first() != Some(&b'{') => {
            return Err(dead(DeadReason::Malformed, "the task is not a JSON object".into(), "", ""));
        }
        Ok(wire) => wire,
        Err(error) => return Err(dead(DeadReason::Malformed, diagnose(&raw, &error), "", "")),
    };
    let id = wire.id.as_deref().unwrap_or_default();
    let tenant = wire.tenant.as_deref().unwrap_or("default");
    let kind = wire.kind.as_deref().unwrap_or("sim");
    check(&wire).map_err(|detail| {
        // Names that break the rules are not repeated in the letter's own fields.
        let keep = |text: &str, max| if named(text, max).is_ok() { text.to_owned() } else { String::new() };
        dead(DeadReason::Malformed, detail, &keep(id, ID_BYTES_MAX), &keep(tenant, NAME_BYTES_MAX))
    })?;
    let submitted = wire.submitted_us.unwrap_or_else(|| entry.id.ms.saturating_mul(1_000).min(MICROS_MAX));
    let deadline = match (wire.deadline_us, wire.deadline_in_us) {
        (Some(at), _) => Some(at),
        (None, Some(after)) => Some(submitted.saturating_add(after).min(MICROS_MAX)),
        (None, None) => None,
    };
    Ok(Task {
        id: if id.is_empty() { TaskId::from(entry.id.to_string()) } else { TaskId::from(id) },
        tenant: TenantId::from(tenant),
        kind: kind.into(),
        priority: wire.priority.unwrap_or(0),
        cost: Micros(wire.service_us.unwrap_or(0) as i64),
        deadline: deadline.map(|at| Micros(at as i64)),
        max_retries: wire.max_retries,
        submitted: Micros(submitted as i64),
        not_before: wire.not_before_us.map(|at| Micros(at as i64)),
        arrival: entry.id,
        body: raw.clone(),
    })
}

fn named(text: &str, bytes_max: usize) -> Result<(), String> {
    if text.len() > bytes_max {
        Err(format!("has {} bytes; the limit is {bytes_max}", text.len()))
    } else if text.chars().any(char::is_control) {
        Err("has a control character".into())
    } else {
        Ok(())
    }
}

fn check(wire: &WireTask<'_>) -> Result<(), String> {
    let names = [
        ("id", &wire.id, ID_BYTES_MAX),
        ("tenant", &wire.tenant, NAME_BYTES_MAX),
        ("kind", &wire.kind, NAME_BYTES_MAX),
    ];
    for (field, text, bytes_max) in names {
        match text {
            Some(text) if text.is_empty() => return Err(format!("`{field}` is empty; leave it out or name it")),
            Some(text) => named(text, bytes_max).map_err(|why| format!("`{field}` {why}"))?,
            None => {}
        }
    }
    let spans = [
        ("service_us", wire.service_us),
        ("deadline_us", wire.deadline_us),
        ("deadline_in_us", wire.deadline_in_us),
        ("submitted_us", wire.submitted_us),
        ("not_before_us", wire.not_before_us),
    ];
    for (field, span) in spans {
        if span.is_some_and(|us| us > MICROS_MAX) {
            return Err(format!("`{field}` is above 2^53 µs"));
        }
    }
    Ok(())
}

/// The slow second look at JSON that could not be read: which field, and what it should be.
fn diagnose(raw: &[u8], error: &serde_json::Error) -> String {
    if std::str::from_utf8(raw).is_err() {
        return "the task is not UTF-8".into();
    }
    let Ok(value) = serde_json::from_slice::<serde_json::Value>(raw) else {
        return format!("the task is not JSON: {error}");
    };
    let Some(object) = value.as_object() else {
        return "the task is not a JSON object".into();
    };
    let integer = |max: u64| move |v: &serde_json::Value| v.as_u64().is_some_and(|n| n <= max);
    type Rule = (&'static str, &'static str, Box<dyn Fn(&serde_json::Value) -> bool>);
    let text = |field| -> Rule { (field, "a string", Box::new(serde_json::Value::is_string)) };
    let whole = |field, what, max| -> Rule { (field, what, Box::new(integer(max))) };
    let mut rules = vec![text("id"), text("tenant"), text("kind"), whole("priority", "an integer from 0 to 255", 255)];
    rules.push(whole("max_retries", "an integer from 0 to 4294967295", u32::MAX.into()));
    for field in ["service_us", "deadline_us", "deadline_in_us", "submitted_us", "not_before_us"] {
        rules.push(whole(field, "an integer number of µs from 0 to 2^53", MICROS_MAX));
    }
    for (field, what, good) in rules {
        if let Some(found) = object.get(field).filter(|found| !found.is_null() && !good(found)) {
            let shown: String = found.to_string().chars().take(60).collect();
            return format!("`{field}` must be {what}, not {shown}");
        }
    }
    format!("the task cannot be read: {error}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn entry(json: impl Into<Vec<u8>>) -> IngressEntry {
        IngressEntry { id: EntryId::new(1_714_521_600_123, 4), task: Some(Bytes::from(json.into())) }
    }

    fn detail(json: impl Into<Vec<u8>>) -> String {
        read(&entry(json), 1_000, Micros(0)).unwrap_err().letter.detail
    }

    #[test]
    fn an_empty_object_is_a_task_with_every_default() {
        let task = read(&entry("{}"), 1_000, Micros(0)).unwrap();
        assert_eq!(task.id.as_str(), "1714521600123-4");
        assert_eq!((task.tenant.as_str(), &*task.kind, task.priority), ("default", "sim", 0));
        assert_eq!(task.submitted, Micros(1_714_521_600_123_000));
        assert_eq!((task.cost, task.deadline, task.not_before), (Micros(0), None, None));
    }

    #[test]
    fn a_relative_deadline_counts_from_submission_and_null_is_absent() {
        let task =
            read(&entry(r#"{"submitted_us": 1000, "deadline_in_us": 500, "tenant": null}"#), 1_000, Micros(0)).unwrap();
        assert_eq!(task.deadline, Some(Micros(1_500)));
        assert_eq!(task.tenant.as_str(), "default");
    }

    #[test]
    fn each_fault_names_its_field() {
        assert_eq!(detail(r#"{"priority": -1}"#), "`priority` must be an integer from 0 to 255, not -1");
        assert_eq!(detail(r#"{"priority": 256}"#), "`priority` must be an integer from 0 to 255, not 256");
        assert_eq!(
            detail(r#"{"service_us": 1.5}"#),
            "`service_us` must be an integer number of µs from 0 to 2^53, not 1.5"
        );
        assert_eq!(detail(r#"{"id": 7}"#), "`id` must be a string, not 7");
        assert_eq!(detail(r#"{"id": ""}"#), "`id` is empty; leave it out or name it");
        assert_eq!(detail(r#"{"tenant": "a\u0001"}"#), "`tenant` has a control character");
        assert_eq!(detail(r#"{"deadline_us": 9007199254740993}"#), "`deadline_us` is above 2^53 µs");
        assert_eq!(detail("[1]"), "the task is not a JSON object");
        assert_eq!(detail(vec![b'{', 0xff, b'}']), "the task is not UTF-8");
        assert!(detail(r#"{"service_us": NaN}"#).starts_with("the task is not JSON"));
        assert!(detail("").starts_with("the task is not JSON"));
        assert!(detail(vec![b' '; 1_001]).contains("1001 bytes"));
        let none = IngressEntry { id: EntryId::ZERO, task: None };
        assert_eq!(read(&none, 10, Micros(0)).unwrap_err().letter.detail, "the entry has no field `task`");
    }

    proptest! {
        #[test]
        fn no_bytes_panic(bytes: Vec<u8>) {
            let _ = read(&entry(bytes), 1_000, Micros(0));
        }

        #[test]
        fn whatever_is_accepted_has_a_readable_member(id in "[^\\pC]{1,300}", tenant in ".{0,140}", submitted: u64) {
            let json = serde_json::json!({ "id": id, "tenant": tenant, "submitted_us": submitted }).to_string();
            if let Ok(task) = read(&entry(json), 10_000, Micros(0)) {
                let member = task.member();
                let read = super::super::Member::parse(member.as_str()).unwrap();
                prop_assert_eq!(read.id(), id);
            }
        }
    }
}
