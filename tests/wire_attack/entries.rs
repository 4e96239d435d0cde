//! What a broken producer sends: entries of every kind with what must become of each.

use tq::model::outcome::DeadReason;

/// The size limit of the attacked scheduler, in bytes.
pub(super) const TASK_BYTES_MAX: usize = 16_384;

/// What must become of an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Expect {
    /// Executed once and recorded under this id (or, if empty, under the entry's).
    Completed(String),
    /// Counted as a duplicate and dropped.
    Duplicate,
    /// In the dead letters with this reason and these words in its detail.
    Dead(DeadReason, String),
}

/// One entry; without `task`, the entry lacks the field.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub(super) task: Option<Vec<u8>>,
    pub(super) expect: Expect,
}

fn entry(task: impl Into<Vec<u8>>, expect: Expect) -> Entry {
    Entry { task: Some(task.into()), expect }
}

fn malformed(task: impl Into<Vec<u8>>, detail: &str) -> Entry {
    entry(task, Expect::Dead(DeadReason::Malformed, detail.into()))
}

fn completed(id: impl Into<String>, rest: &str) -> Entry {
    let id = id.into();
    entry(format!(r#"{{"id":{},{rest}}}"#, serde_json::json!(id)), Expect::Completed(id))
}

/// Ordinary work: three tenants, every priority, some with deadlines.
pub(super) fn valid(n: usize) -> Entry {
    let tenant = ["a", "b", "c"][n % 3];
    let deadline = ["", r#","deadline_in_us":500000"#][n % 2];
    completed(
        format!("good-{n}"),
        &format!(r#""tenant":"{tenant}","priority":{},"service_us":{}{deadline}"#, n % 256, 200 + n % 800),
    )
}

/// The `n`-th attack; kinds take turns.
pub(super) fn attack(n: usize, without_field: bool) -> Entry {
    let mut kinds = not_json(n);
    kinds.extend(wrong_types());
    kinds.extend(out_of_range());
    kinds.extend(bad_names());
    kinds.extend(not_text());
    kinds.extend(too_much(n));
    kinds.extend(odd_but_valid(n));
    kinds.extend(duplicates(n));
    if without_field {
        kinds.push(Entry {
            task: None,
            expect: Expect::Dead(DeadReason::Malformed, "the entry has no field `task`".into()),
        });
    }
    kinds.swap_remove(n % kinds.len())
}

fn not_json(n: usize) -> Vec<Entry> {
    let cut = format!(r#"{{"id":"cut-{n}","tenant":"a","priority":3}}"#);
    let mut found: Vec<Entry> =
        ["", " ", "hello", "{", "{}}", "{} {}", "{'id':'x'}", r#"{"id":"x",}"#, r#"{"id" "x"}"#]
            .into_iter()
            .chain(["\u{feff}{}", "/* */ {}", r#"{"service_us":NaN}"#, r#"{"service_us":Infinity}"#, "<task/>", "\0"])
            .chain([r#"{"priority":0x10}"#, r#"{"priority":+1}"#, r#"{"priority":01}"#, r#"{"service_us":1e400}"#])
            .chain([&cut[..1 + n % (cut.len() - 1)]])
            .map(|text| malformed(text, "the task is not JSON"))
            .collect();
    for text in ["null", "true", "7", r#""{}""#, "[]", r#"["x","a","sim",1,1,null,null,null,null,null,null]"#] {
        found.push(malformed(text, "not a JSON object"));
    }
    found.push(malformed(r#"{"id":"x","id":"y"}"#, "duplicate field"));
    found
}

fn wrong_types() -> Vec<Entry> {
    let mut found = Vec::new();
    for field in ["id", "tenant", "kind"] {
        for value in ["7", "true", "[]", "{}", "[\"a\"]", "1.5"] {
            found.push(malformed(format!(r#"{{"{field}":{value}}}"#), &format!("`{field}` must be a string")));
        }
    }
    let integers = ["priority", "service_us", "deadline_us", "deadline_in_us", "max_retries", "submitted_us"];
    for field in integers.into_iter().chain(["not_before_us"]) {
        for value in [r#""7""#, "true", "[1]", "{}", r#""NaN""#, r#""""#] {
            found.push(malformed(format!(r#"{{"{field}":{value}}}"#), &format!("`{field}` must be an integer")));
        }
    }
    found
}

fn out_of_range() -> Vec<Entry> {
    let mut found = Vec::new();
    let spans = ["service_us", "deadline_us", "deadline_in_us", "submitted_us", "not_before_us"];
    for field in spans {
        for value in ["-1", "1.5", "-9223372036854775808", "18446744073709551616", "1e300", "1e3"] {
            found.push(malformed(format!(r#"{{"{field}":{value}}}"#), &format!("`{field}` must be an integer")));
        }
        for value in ["9007199254740993", "18446744073709551615"] {
            found.push(malformed(format!(r#"{{"{field}":{value}}}"#), &format!("`{field}` is above 2^53")));
        }
    }
    for value in ["256", "-1", "0.5", "99999999999999999999"] {
        found.push(malformed(format!(r#"{{"priority":{value}}}"#), "`priority` must be an integer from 0 to 255"));
    }
    for value in ["4294967296", "-3", "2.0"] {
        found.push(malformed(format!(r#"{{"max_retries":{value}}}"#), "`max_retries` must be an integer"));
    }
    found
}

fn bad_names() -> Vec<Entry> {
    let mut found = Vec::new();
    for (field, most) in [("id", 256), ("tenant", 128), ("kind", 128)] {
        found.push(malformed(format!(r#"{{"{field}":""}}"#), &format!("`{field}` is empty")));
        for control in ["\\u0000", "a\\nb", "\\u001f", "\\u007f", "\\u0085"] {
            found.push(malformed(
                format!(r#"{{"{field}":"{control}"}}"#),
                &format!("`{field}` has a control character"),
            ));
        }
        let long = "é".repeat(most / 2 + 1);
        found.push(malformed(format!(r#"{{"{field}":"{long}"}}"#), &format!("the limit is {most}")));
        found.push(malformed(format!("{{\"{field}\":\"a\u{1}b\"}}"), "the task is not JSON"));
        found.push(malformed(format!(r#"{{"{field}":"\ud800"}}"#), "the task is not JSON"));
    }
    found
}

fn not_text() -> Vec<Entry> {
    [&b"\xff\xfe{}"[..], b"{\"id\":\"\xc3\x28\"}", b"{\"payload\":\"\xed\xa0\x80\"}", b"\x80", b"{\"a\":\xf5}"]
        .into_iter()
        .map(|bytes| malformed(bytes, "the task is not UTF-8"))
        .collect()
}

fn too_much(n: usize) -> Vec<Entry> {
    let large = |bytes| entry(vec![b'x'; bytes], Expect::Dead(DeadReason::TooLarge, "the limit is 16384".into()));
    let padded = format!(r#"{{"id":"big-{n}","payload":"{}"}}"#, "p".repeat(TASK_BYTES_MAX));
    let huge = if n.is_multiple_of(50) { 2 << 20 } else { TASK_BYTES_MAX + 1 };
    vec![
        large(huge),
        entry(padded, Expect::Dead(DeadReason::TooLarge, "scheduler.task_bytes_max".into())),
        malformed("[".repeat(10_000), "the task is not JSON"),
        malformed(format!(r#"{{"id":{}}}"#, "[".repeat(10_000)), "the task is not JSON"),
        malformed(format!(r#"{{"tenant":{}1{}}}"#, r#"{"a":"#.repeat(2_000), "}".repeat(2_000)), "the task"),
    ]
}

/// Strange, yet well-formed: real work, which must be done.
fn odd_but_valid(n: usize) -> Vec<Entry> {
    let deep = format!(r#""payload":{}{}"#, "[".repeat(5_000), "]".repeat(5_000));
    vec![
        entry("{}", Expect::Completed(String::new())),
        completed(format!("past-{n}"), r#""deadline_us":1"#),
        completed(format!("never-{n}"), r#""deadline_us":9007199254740992,"priority":null"#),
        completed(format!("ancient-{n}"), r#""submitted_us":0"#),
        completed(format!("odd|{{tq}}:pending|\u{1F980}|{n}"), r##""tenant":"some\\body\"else","kind":"|#""##),
        completed(format!("stranger-{n}"), r#""tenant":"nobody has heard of me","unknown":[1,{"x":null}]"#),
        completed(format!("deep-{n}"), &deep),
        completed(format!("stubborn-{n}"), r#""max_retries":4294967295"#),
        completed(format!("later-{n}"), r#""not_before_us":1"#),
    ]
}

/// Ids of ordinary work that was sent before, and of work sent long before.
fn duplicates(n: usize) -> Vec<Entry> {
    let again = |id: String| entry(format!(r#"{{"id":"{id}","service_us":1}}"#), Expect::Duplicate);
    // Ten attacks go with one valid task, which goes first (see `mod.rs`).
    vec![again(format!("good-{}", n / 10)), again(format!("good-{}", n / 20)), again("good-0".into())]
}
