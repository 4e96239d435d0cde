//! `docs/protocol.md` is true: its shell producer works, and its table of scripts is that of the headers.

use crate::support::redis::{connect, server};
use std::path::Path;
use std::process::Command;
use tq::broker::Broker;
use tq::broker::redis::{RedisBroker, scripts};
use tq::clock::Clock;
use tq::config::RedisConfig;
use tq::model::{EntryId, Micros, wire};

fn read(path: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap()
}

/// The first fenced block of a language.
fn block<'a>(text: &'a str, language: &str) -> &'a str {
    let opening = format!("```{language}\n");
    let from = text.find(&opening).expect("the document has the block") + opening.len();
    &text[from..from + text[from..].find("```").expect("the block ends")]
}

#[tokio::test]
async fn the_shell_producer_of_the_document_submits_a_task() {
    let Some(redis) = server() else { return };
    drop(connect(&redis).await);
    let shell = block(&read("docs/protocol.md"), "sh").to_owned();
    let client = format!("redis-cli -s {}", redis.socket().display());
    let output = Command::new("sh").arg("-ec").arg(shell).env("REDIS_CLI", client).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let config = RedisConfig { url: redis.url(), ..RedisConfig::default() };
    let broker = RedisBroker::connect(&config, "tq", &Clock::real()).await.unwrap();
    let entries = broker.ingress_read(EntryId::ZERO, 10, Micros::ZERO).await.unwrap();
    let task = wire::read(&entries[0], 1 << 20, Micros::ZERO).unwrap();
    assert_eq!(
        (task.id.as_str(), task.tenant.as_str(), &*task.kind, task.priority),
        ("order-17", "acme", "invoice", 3)
    );
    assert_eq!(task.cost, Micros(50_000));
}

#[test]
fn the_table_of_scripts_is_that_of_their_headers() {
    let document = read("docs/protocol.md");
    for script in scripts::ALL {
        let header = read(&format!("lua/{}.lua", script.name));
        let what = header.lines().next().and_then(|line| line.split_once(".lua: ")).expect("a header").1;
        let row = format!("| `{}` | {what} |", script.name);
        assert!(document.contains(&row), "docs/protocol.md lacks the row: {row}");
    }
}

#[test]
fn every_wire_field_stands_in_the_document() {
    let document = read("docs/protocol.md");
    let full = wire::WireTask {
        id: Some("a".into()),
        tenant: Some("a".into()),
        kind: Some("a".into()),
        priority: Some(1),
        service_us: Some(1),
        deadline_us: Some(1),
        deadline_in_us: Some(1),
        max_retries: Some(1),
        payload: Some(serde_json::value::RawValue::NULL),
        submitted_us: Some(1),
        not_before_us: Some(1),
    };
    let json = serde_json::to_value(&full).unwrap();
    for field in json.as_object().unwrap().keys() {
        assert!(document.contains(&format!("| `{field}` |")), "docs/protocol.md lacks `{field}`");
    }
}
