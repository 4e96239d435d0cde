//! The house rules, enforced: each rule is a function over one file, run over the whole repository, and is shown to catch a
//! planted violation.

mod files;
mod layers;
mod links;
mod source;

use source::{Source, files as all};

/// Runs `rule` over every file of `folders` with `extension` and shows every violation.
fn hold(folders: &[&str], extension: &str, rule: impl Fn(&Source) -> Vec<String>) {
    let wrong: Vec<String> = folders.iter().flat_map(|folder| all(folder, extension)).flat_map(|s| rule(&s)).collect();
    assert!(wrong.is_empty(), "{} violations:\n{}", wrong.len(), wrong.join("\n"));
}
