//! Reading the repository: its files, Rust code without comments, strings and tests, and the paths that code names.

use std::path::{Path, PathBuf};

/// A text file, named relative to the repository's root.
#[derive(Debug, Clone)]
pub(super) struct Source {
    pub(super) path: String,
    pub(super) text: String,
}

impl Source {
    pub(super) fn new(path: &str, text: &str) -> Self {
        Source { path: path.into(), text: text.into() }
    }

    /// The module path inside the crate: `src/broker/redis/mod.rs` is `broker::redis`, `src/lib.rs` is empty.
    pub(super) fn module(&self) -> Vec<&str> {
        let inner = self.path.strip_prefix("src/").unwrap_or(&self.path).trim_end_matches(".rs");
        let mut parts: Vec<&str> = inner.split('/').collect();
        if matches!(parts.last(), Some(&"mod" | &"lib")) {
            parts.pop();
        }
        parts
    }

    /// Code only: comments and strings blanked, test modules gone.
    pub(super) fn code(&self) -> String {
        without_tests(&without_text(&self.text))
    }

    /// Every path that the code names from the crate's root, by `crate::` or `super::`, groups expanded.
    pub(super) fn imports(&self) -> Vec<Vec<String>> {
        let code = self.code();
        let mut found = Vec::new();
        for (at, _) in code.match_indices("crate::") {
            expand(&code[at + "crate::".len()..], &mut Vec::new(), &mut found);
        }
        let module = self.module();
        for (at, _) in code.match_indices("super::") {
            if code[..at].ends_with("super::") {
                continue; // Handled with the first of the chain.
            }
            let mut rest = &code[at..];
            let mut depth = module.len();
            while let Some(after) = rest.strip_prefix("super::") {
                (rest, depth) = (after, depth.saturating_sub(1));
            }
            expand(rest, &mut module[..depth].iter().map(ToString::to_string).collect(), &mut found);
        }
        found
    }
}

/// Adds the paths of one use-tree (or of a plain path) to `found`; gives back what follows it.
fn expand<'a>(text: &'a str, prefix: &mut Vec<String>, found: &mut Vec<Vec<String>>) -> &'a str {
    let depth = prefix.len();
    let mut rest = text.trim_start();
    loop {
        if let Some(mut inner) = rest.strip_prefix('{') {
            loop {
                inner = expand(inner, prefix, found).trim_start();
                inner = inner.strip_prefix(',').unwrap_or(inner).trim_start();
                if inner.is_empty() || inner.starts_with('}') {
                    break;
                }
            }
            rest = inner.strip_prefix('}').unwrap_or(inner);
            break;
        }
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_' && c != '*').unwrap_or(rest.len());
        if end == 0 {
            found.push(prefix.clone());
            rest = rest.get(1..).unwrap_or_default();
            break;
        }
        prefix.push(rest[..end].into());
        rest = &rest[end..];
        if let Some(after) = rest.strip_prefix("::") {
            rest = after.trim_start();
            continue;
        }
        found.push(prefix.clone());
        if let Some(after) = rest.trim_start().strip_prefix("as ") {
            rest = after.trim_start().trim_start_matches(|c: char| c.is_alphanumeric() || c == '_');
        }
        break;
    }
    prefix.truncate(depth);
    rest
}

/// Blanks comments and the insides of strings and character literals, keeping lines.
fn without_text(text: &str) -> String {
    let bytes: Vec<char> = text.chars().collect();
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    let starts = |at: usize, what: &str| what.chars().enumerate().all(|(n, c)| bytes.get(at + n) == Some(&c));
    while at < bytes.len() {
        if starts(at, "//") {
            while at < bytes.len() && bytes[at] != '\n' {
                at += 1;
            }
        } else if bytes[at] == '"' {
            let hashes = out.len() - out.trim_end_matches('#').len();
            let raw = out.trim_end_matches('#').ends_with('r');
            let close: String = std::iter::once('"').chain((0..hashes).map(|_| '#')).collect();
            out.push('"');
            at += 1;
            while at < bytes.len() && !(if raw { starts(at, &close) } else { bytes[at] == '"' }) {
                if bytes[at] == '\n' {
                    out.push('\n');
                }
                at += if !raw && bytes[at] == '\\' { 2 } else { 1 };
            }
            out.push('"');
            at += 1;
        } else if bytes[at] == '\'' && (bytes.get(at + 2) == Some(&'\'') || bytes.get(at + 1) == Some(&'\\')) {
            at += 2;
            while at < bytes.len() && bytes[at] != '\'' {
                at += 1;
            }
            at += 1;
            out.push_str("' '");
        } else {
            out.push(bytes[at]);
            at += 1;
        }
    }
    out
}

/// Leaves out every item under `#[cfg(test)]`.
fn without_tests(code: &str) -> String {
    let mut out = String::new();
    let mut lines = code.lines();
    while let Some(line) = lines.next() {
        if line.trim() != "#[cfg(test)]" {
            out.push_str(line);
            out.push('\n');
            continue;
        }
        let indent = line.len() - line.trim_start().len();
        let end = format!("{}}}", " ".repeat(indent));
        for inner in lines.by_ref() {
            if inner == end || inner.trim_end().ends_with(';') && inner.len() - inner.trim_start().len() == indent {
                break;
            }
        }
    }
    out
}

/// The files under `folder` whose names end in `.extension`, sorted by path; none if there is no such folder.
pub(super) fn files(folder: &str, extension: &str) -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut folders = vec![root.join(folder)];
    let mut found: Vec<PathBuf> = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|name| name == extension) {
                found.push(path);
            }
        }
    }
    found.sort();
    let relative = |path: &Path| path.strip_prefix(root).unwrap().to_str().unwrap().replace('\\', "/");
    found.iter().map(|path| Source { path: relative(path), text: std::fs::read_to_string(path).unwrap() }).collect()
}

#[test]
fn paths_are_read_from_use_trees_plain_paths_and_super() {
    let text = "use crate::{a::{b, c::D as E}, f};\nfn g(x: crate::h::I) { super::super::j::k(); super::l() }\n\
        // crate::no\nconst S: &str = \"crate::neither // x\";\nlet q = '\"'; crate::m::n();\n\
        #[cfg(test)]\nmod tests {\n    use crate::hidden::X;\n}\nuse crate::seen;\n";
    let source = Source::new("src/broker/redis/keys.rs", text);
    let found: Vec<String> = source.imports().iter().map(|path| path.join("::")).collect();
    assert_eq!(found, ["a::b", "a::c::D", "f", "h::I", "m::n", "seen", "broker::j::k", "broker::redis::l"]);
    assert_eq!(Source::new("src/broker/redis/mod.rs", "").module(), ["broker", "redis"]);
}
