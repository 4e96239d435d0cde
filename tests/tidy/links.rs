//! Relative links of the documents lead to files that are there, and their anchors to headings.

use super::source::{Source, files};
use std::path::Path;

/// Targets of inline links, outside code.
fn targets(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut fenced = false;
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        }
        if fenced {
            continue;
        }
        let prose: String = line.split('`').step_by(2).collect::<Vec<_>>().join("`");
        for (at, token) in prose.match_indices("](") {
            let rest = &prose[at + token.len()..];
            found.extend(rest.find(')').map(|end| rest[..end].to_owned()));
        }
    }
    found
}

/// The anchor that a heading gets.
fn anchor(heading: &str) -> String {
    let kept = heading.trim().to_lowercase();
    let kept = kept.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

fn broken(source: &Source) -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let here = root.join(&source.path);
    let mut wrong = Vec::new();
    for target in targets(&source.text) {
        if target.contains("://") || target.starts_with("mailto:") {
            continue;
        }
        let (file, heading) = target.split_once('#').unwrap_or((&target, ""));
        let path = if file.is_empty() { here.clone() } else { here.parent().unwrap_or(root).join(file) };
        let text = if file.is_empty() { Some(source.text.clone()) } else { std::fs::read_to_string(&path).ok() };
        let headings = |text: &str| {
            text.lines().filter(|l| l.starts_with('#')).any(|l| anchor(l.trim_start_matches('#')) == heading)
        };
        if !file.is_empty() && !path.exists() {
            wrong.push(format!("{}: no file `{file}`", source.path));
        } else if !heading.is_empty() && !text.is_some_and(|text| headings(&text)) {
            wrong.push(format!("{}: no heading `#{heading}`", source.path));
        }
    }
    wrong
}

#[test]
fn every_relative_link_resolves() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut documents = files("docs", "md");
    for name in ["README.md", "CHANGELOG.md"] {
        documents.push(Source::new(name, &std::fs::read_to_string(root.join(name)).unwrap()));
    }
    let wrong: Vec<String> = documents.iter().flat_map(broken).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_planted_broken_link_is_caught() {
    assert_eq!(broken(&Source::new("README.md", "see [a](docs/none.md)")).len(), 1);
    assert_eq!(broken(&Source::new("README.md", "# Here\nsee [a](#there)")).len(), 1);
    let good = "# Over here\n[a](Cargo.toml) [b](#over-here) [c](https://x.test/y)\n`[d](none)`\n```\n[e](none)\n```\n";
    assert_eq!(broken(&Source::new("README.md", good)), Vec::<String>::new());
}
