//! The header of each Lua script says what the script does with KEYS and ARGV, and every script is registered.

use std::collections::BTreeSet;
use std::path::Path;
use tq::broker::redis::scripts;

/// The numbers that a header line names at the start of its items: `1 fence (string) 2 ingress …`.
fn named(line: &str) -> (BTreeSet<usize>, bool) {
    let mut numbers = BTreeSet::new();
    let mut open = false;
    for word in line.split_whitespace() {
        if let Some(from) = word.strip_suffix("..").or_else(|| word.strip_suffix(':'))
            && let Ok(from) = from.parse::<usize>()
        {
            numbers.insert(from);
            open = true;
        } else if let Ok(number) = word.parse::<usize>()
            && number == numbers.len() + 1
        {
            numbers.insert(number);
        }
    }
    (numbers, open)
}

/// The constant indices that code uses of `KEYS` or `ARGV`.
fn used(code: &str, table: &str) -> BTreeSet<usize> {
    let opening = format!("{table}[");
    code.split(&opening)
        .skip(1)
        .filter_map(|rest| rest.split(']').next())
        .filter_map(|index| index.trim().parse().ok())
        .collect()
}

/// What is wrong between the header and the code of one script.
fn differences(name: &str, text: &str) -> Vec<String> {
    let header = |start: &str| text.lines().find_map(|line| line.strip_prefix(start)).unwrap_or_default();
    let code: String = text.lines().filter(|line| !line.trim_start().starts_with("--")).collect::<Vec<_>>().join("\n");
    let mut wrong = Vec::new();
    for (table, start) in [("KEYS", "-- KEYS:"), ("ARGV", "-- ARGV:")] {
        let ((named, open), used) = (named(header(start)), used(&code, table));
        if let Some(undeclared) = used.difference(&named).next() {
            wrong.push(format!("{name}: {table}[{undeclared}] is used and not in the header"));
        }
        let unused: Vec<_> = named.difference(&used).collect();
        if !unused.is_empty() && !open {
            wrong.push(format!("{name}: the header names {table} {unused:?}, which the code does not use"));
        }
    }
    let fenced = code.contains("fenced(");
    if fenced != header("-- Errors:").contains("TQ_FENCED") {
        wrong.push(format!("{name}: TQ_FENCED stands in the header if and only if the script is fenced"));
    }
    wrong
}

#[test]
fn each_header_names_the_keys_and_arguments_that_the_script_uses() {
    let mut wrong = Vec::new();
    for script in scripts::ALL {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("lua/{}.lua", script.name));
        let text = std::fs::read_to_string(&file).unwrap();
        wrong.extend(differences(script.name, &text));
        assert!(script.source.ends_with(&text), "{} is sent as it stands in its file", script.name);
    }
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn every_lua_file_is_registered() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("lua");
    let mut files = BTreeSet::new();
    for file in std::fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "lua") {
            files.insert(path.file_stem().unwrap().to_string_lossy().into_owned());
        }
    }
    let registered: BTreeSet<String> = scripts::ALL.iter().map(|script| script.name.to_owned()).collect();
    assert_eq!(files, registered);
}

#[test]
fn a_header_that_lies_is_caught() {
    let good = "-- a.lua: x\n-- KEYS: 1 one (string)\n-- ARGV: 1 epoch 2 rest\n-- Returns: x\n-- Errors: none of its own\n\
                return redis.call('SET', KEYS[1], ARGV[1] .. ARGV[2])\n";
    assert_eq!(differences("a", good), Vec::<String>::new());
    assert_eq!(differences("a", &good.replace("KEYS[1]", "KEYS[2]")).len(), 2);
    assert_eq!(differences("a", &good.replace(" 2 rest", "")).len(), 1);
    assert_eq!(differences("a", &good.replace("return", "fenced(KEYS[1], ARGV[1])\nreturn")).len(), 1);
}
