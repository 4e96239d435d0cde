//! Rules about single files: length, headers, `biased` selects, hash maps, Lua headers, TOML.

use super::hold;
use super::source::Source;

const LINES_MAX: usize = 400;
const COMMAND_LINES_MAX: usize = 100;

/// Too long to be about one noun.
fn length(source: &Source) -> Vec<String> {
    let command = source.path.starts_with("src/cmd/");
    let most = if command { COMMAND_LINES_MAX } else { LINES_MAX };
    let lines = source.text.lines().count();
    if lines > most { vec![format!("{}: {lines} lines, at most {most}", source.path)] } else { Vec::new() }
}

/// A Rust file says first what it is for.
fn header(source: &Source) -> Vec<String> {
    if source.text.starts_with("//! ") { Vec::new() } else { vec![format!("{}: no `//! ` header", source.path)] }
}

/// Without `biased` a select draws from an unseeded generator: a simulation would not repeat.
fn biased(source: &Source) -> Vec<String> {
    let code = source.code();
    let mut wrong = Vec::new();
    for (at, token) in code.match_indices("select!") {
        let inside = code[at + token.len()..].trim_start().trim_start_matches(['{', '(']).trim_start();
        if !inside.starts_with("biased;") {
            let line = code[..at].lines().last().unwrap_or_default().trim();
            wrong.push(format!("{}: select! without `biased;` near `{line}`", source.path));
        }
    }
    wrong
}

/// The order of a hash map differs between runs; these modules must repeat exactly.
fn hash_order(source: &Source) -> Vec<String> {
    let deterministic = matches!(
        source.module()[..],
        ["engine" | "worker" | "recovery" | "producer" | "sim" | "model" | "policy" | "workload" | "stats", ..]
            | ["broker", "memory", ..]
    );
    let code = source.code();
    let found = ["HashMap", "HashSet"].into_iter().filter(|name| deterministic && code.contains(name));
    found.map(|name| format!("{}: {name}; use BTreeMap, BTreeSet or IndexMap", source.path)).collect()
}

/// `-- name.lua: what`, then KEYS, ARGV, Returns and Errors, in this order, before any code.
fn lua_header(source: &Source) -> Vec<String> {
    let name = source.path.rsplit('/').next().unwrap_or_default();
    let first = format!("-- {name}: ");
    let head: Vec<&str> = source.text.lines().take_while(|line| line.starts_with("--")).collect();
    let mut wanted = vec![first.as_str()];
    if !source.path.starts_with("lua/lib/") {
        wanted.extend(["-- KEYS:", "-- ARGV:", "-- Returns:", "-- Errors:"]);
    }
    let mut from = 0;
    let mut wrong = Vec::new();
    for start in wanted {
        match head[from..].iter().position(|line| line.starts_with(start)) {
            Some(at) if at == 0 || from > 0 => from += at + 1,
            _ => wrong.push(format!("{}: the header has no line `{start}…` in its place", source.path)),
        }
    }
    wrong
}

/// TOML that parses.
fn toml(source: &Source) -> Vec<String> {
    let table: Result<toml::Table, _> = source.text.parse();
    table.err().map(|error| format!("{}: {error}", source.path)).into_iter().collect()
}

#[test]
fn files_are_short_enough_to_be_about_one_noun() {
    hold(&["src", "tests"], "rs", length);
    hold(&["lua"], "lua", length);
}

#[test]
fn every_rust_file_says_what_it_is_for() {
    hold(&["src", "tests"], "rs", header);
}

#[test]
fn every_select_is_biased() {
    hold(&["src", "tests"], "rs", biased);
}

#[test]
fn deterministic_modules_have_no_hash_order() {
    hold(&["src"], "rs", hash_order);
}

#[test]
fn every_script_has_its_header() {
    hold(&["lua"], "lua", lua_header);
}

#[test]
fn every_shipped_toml_parses() {
    hold(&["config", "bench-profiles"], "toml", toml);
}

#[test]
fn a_planted_violation_of_each_rule_is_caught() {
    let caught = |rule: fn(&Source) -> Vec<String>, path: &str, text: &str| {
        assert_eq!(rule(&Source::new(path, text)).len(), 1, "{path}: {text}");
    };
    let clean = |rule: fn(&Source) -> Vec<String>, path: &str, text: &str| {
        assert_eq!(rule(&Source::new(path, text)), Vec::<String>::new(), "{path}: {text}");
    };
    caught(length, "src/a.rs", &"\n".repeat(401));
    clean(length, "src/a.rs", &"\n".repeat(400));
    caught(length, "src/cmd/a.rs", &"\n".repeat(101));
    caught(header, "src/a.rs", "use x;\n//! late\n");
    caught(biased, "src/a.rs", "tokio::select! {\n    _ = a => {}\n}");
    clean(biased, "src/a.rs", "tokio::select! {\n    biased;\n    _ = a => {}\n}");
    caught(hash_order, "src/broker/memory/store.rs", "use std::collections::HashMap;");
    caught(hash_order, "src/sim/a.rs", "let x: std::collections::HashSet<u8>;");
    clean(hash_order, "src/broker/redis/mod.rs", "use std::collections::HashMap;");
    let lua = "-- a.lua: what\n-- KEYS: 1 x\n-- ARGV: 1 y\n--   2 z\n-- Returns: n\n-- Errors: none\nreturn 1\n";
    clean(lua_header, "lua/a.lua", lua);
    caught(lua_header, "lua/a.lua", &lua.replace("-- Errors: none\n", ""));
    caught(lua_header, "lua/a.lua", &lua.replace("-- ARGV", "-- Arguments"));
    caught(lua_header, "lua/lib/a.lua", "-- b.lua: what\n");
    caught(toml, "config/a.toml", "a = [1,");
}
