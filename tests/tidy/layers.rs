//! Who may name whom: the layers of `src/lib.rs`, innermost first, and the crates that only one place may name.

use super::source::{Source, files};

const CORE: [&str; 5] = ["model", "policy", "workload", "stats", "theory"];
const PRODUCT: [&str; 4] = ["engine", "worker", "recovery", "producer"];

/// The top-level modules that a module may import besides itself; `None`: any.
fn allowed(module: &[&str]) -> Option<Vec<&'static str>> {
    Some(match *module {
        ["model", ..] => vec![],
        ["policy" | "workload" | "stats" | "theory", ..] => vec!["model"],
        ["clock", ..] => vec!["model"],
        ["broker", "redis", ..] => vec!["model", "clock", "config", "runtime"],
        ["broker", ..] => vec!["model", "clock"],
        ["config", ..] => vec!["model", "policy", "workload"],
        ["runtime", ..] => vec!["model", "policy", "clock", "broker", "config"],
        ["engine", ..] => vec!["model", "policy", "clock", "broker", "config", "runtime", "recovery"],
        ["worker" | "recovery", ..] => vec!["model", "clock", "broker", "config", "runtime"],
        ["producer", ..] => vec!["model", "workload", "clock", "broker", "config", "runtime"],
        ["sim" | "lab", ..] => {
            let mut inner = [&CORE[..], &PRODUCT[..]].concat();
            inner.extend(["clock", "broker", "config", "runtime", "sim", "lab"]);
            inner
        }
        ["cli", ..] => vec!["model", "policy", "workload", "config", "lab"],
        _ => return None,
    })
}

/// Imports that point outwards, and concrete brokers named outside `cmd`, `sim` and `lab`.
fn outward(source: &Source) -> Vec<String> {
    let module = source.module();
    let mut wrong = Vec::new();
    for path in source.imports() {
        let [head, rest @ ..] = &path[..] else { continue };
        let inner = module.first() == Some(&head.as_str());
        if let Some(allowed) = allowed(&module)
            && !inner
            && !allowed.contains(&head.as_str())
        {
            wrong.push(format!("{}: names crate::{} (may name: {allowed:?})", source.path, path.join("::")));
        }
        let concrete = head == "broker" && matches!(rest.first().map(String::as_str), Some("redis" | "memory"));
        let may = matches!(module.first(), Some(&"cmd" | &"sim" | &"lab" | &"broker"));
        if concrete && !may {
            wrong.push(format!("{}: names the concrete crate::{}", source.path, path.join("::")));
        }
    }
    wrong
}

/// Whether `token` stands in the code as the beginning of a path (or, if it ends in a word, as a whole segment).
fn names(code: &str, token: &str) -> bool {
    let word = |c: char| c.is_alphanumeric() || c == '_';
    code.match_indices(token).any(|(at, _)| {
        let before = code[..at].chars().next_back();
        let after = code[at + token.len()..].chars().next();
        let inside = before.is_some_and(|c| word(c) || c == ':' || c == '.');
        !(inside || token.ends_with(word) && after.is_some_and(word))
    })
}

/// Outside crates where they do not belong.
fn foreign(source: &Source) -> Vec<String> {
    let (module, mut code) = (source.module(), source.code());
    if module == ["model", "micros"] {
        code = code.replace("std::time::Duration", ""); // The one conversion to the span type that everybody else uses.
    }
    let mut banned = Vec::new();
    if module.first().is_some_and(|head| CORE.contains(head)) {
        for name in ["tokio::", "fred::", "metrics::", "tracing::", "std::time", "std::fs", "std::net", "async_io::"] {
            banned.push((name, "the core is pure"));
        }
    }
    if !matches!(module[..], ["broker", "redis", ..] | ["runtime", "redis", ..]) {
        banned.push(("fred::", "only broker::redis and runtime::redis talk to Redis"));
    }
    let mut wrong = Vec::new();
    if module.first() != Some(&"clock") {
        banned.push(("tokio::time", "wait by clock::Clock"));
        if grouped_time(&code) {
            wrong.push(format!("{}: names tokio::{{time}}: wait by clock::Clock", source.path));
        }
    }
    let named = banned.iter().filter(|(token, _)| names(&code, token));
    wrong.extend(named.map(|(token, why)| format!("{}: names {token}: {why}", source.path)));
    wrong
}

/// `use tokio::{…, time…}`.
fn grouped_time(code: &str) -> bool {
    code.split("use tokio::{").skip(1).any(|rest| rest.split(';').next().is_some_and(|group| names(group, "time")))
}

#[test]
fn imports_point_inwards() {
    let wrong: Vec<String> = files("src", "rs").iter().flat_map(outward).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn outside_crates_are_named_where_they_belong() {
    let wrong: Vec<String> = files("src", "rs").iter().flat_map(foreign).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_top_level_module_is_in_the_table() {
    for source in files("src", "rs") {
        let module = source.module();
        let edge = matches!(module.first(), None | Some(&"main" | &"cmd"));
        assert!(edge || allowed(&module).is_some(), "{}: give it a layer in tests/tidy/layers.rs", source.path);
    }
}

#[test]
fn a_planted_outward_import_is_caught() {
    for (path, text) in [
        ("src/model/a.rs", "use crate::clock::Clock;"),
        ("src/model/a.rs", "use super::super::policy;"),
        ("src/policy/a.rs", "use crate::{model::Task, broker::Broker};"),
        ("src/engine/a.rs", "use crate::worker::Worker;"),
        ("src/engine/a.rs", "use crate::broker::{Broker, memory::MemoryBroker};"),
        ("src/worker/mod.rs", "fn a() { crate::lab::x() }"),
        ("src/recovery.rs", "use crate::broker::redis::RedisBroker;"),
        ("src/lab/a.rs", "use crate::cmd::x;"),
        ("src/cli.rs", "use crate::engine::Scheduler;"),
    ] {
        assert!(!outward(&Source::new(path, text)).is_empty(), "{path}: {text}");
    }
    let good = "use crate::{broker::{Broker, BrokerError}, clock::Clock};\nuse super::room::Room;";
    assert!(outward(&Source::new("src/engine/dispatch.rs", good)).is_empty());
    let test = "#[cfg(test)]\nmod tests {\n    use crate::broker::memory::MemoryBroker;\n}\n";
    assert!(outward(&Source::new("src/engine/dispatch.rs", test)).is_empty());
}

#[test]
fn a_planted_outside_crate_is_caught() {
    for (path, text) in [
        ("src/model/a.rs", "use tokio::sync::watch;"),
        ("src/stats/a.rs", "fn a(t: std::time::Duration) {}"),
        ("src/workload/a.rs", "use std::fs::File;"),
        ("src/theory/a.rs", "metrics::counter!(x);"),
        ("src/engine/a.rs", "use fred::prelude::*;"),
        ("src/worker/a.rs", "tokio::time::sleep(x).await;"),
        ("src/worker/a.rs", "use tokio::{sync::watch, time::sleep};"),
    ] {
        assert!(!foreign(&Source::new(path, text)).is_empty(), "{path}: {text}");
    }
    for (path, text) in [
        ("src/broker/redis/mod.rs", "use fred::prelude::*;"),
        ("src/runtime/redis.rs", "use fred::prelude::*;"),
        ("src/clock/real.rs", "use tokio::time::Instant;"),
        ("src/engine/a.rs", "// never tokio::time\nuse tokio::{select, sync::watch}; let time = 1;"),
        ("src/policy/a.rs", "let x = self.metrics::<A>();"),
    ] {
        assert_eq!(foreign(&Source::new(path, text)), Vec::<String>::new(), "{path}: {text}");
    }
}
