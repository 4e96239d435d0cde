//! The shipped configuration files load, and `default.toml` is the built-in default, field by field.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use tq::config::{Config, Loaded, Source, load};

fn shipped(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("config").join(format!("{name}.toml"))
}

fn loaded(name: &str) -> Loaded {
    let flags = BTreeMap::<String, String>::new();
    load(Some(&shipped(name)), [], &flags).unwrap_or_else(|error| panic!("{name}: {error}"))
}

#[test]
fn default_toml_equals_the_defaults_and_lists_every_field() {
    let loaded = loaded("default");
    assert_eq!(loaded.config, Config::default());
    let text = std::fs::read_to_string(shipped("default")).unwrap();
    for field in tq::config::fields() {
        let from_file = matches!(loaded.source_of(&field), Source::File(_));
        let key = field.rsplit('.').next().unwrap();
        let commented_out = text.lines().any(|line| line.starts_with(&format!("# {key} = ")));
        assert!(from_file || commented_out, "config/default.toml does not list {field}");
    }
}

#[test]
fn the_other_files_differ_where_their_names_say() {
    for policy in ["priority", "edf", "wfq"] {
        let config = loaded(policy).config;
        assert_eq!(config.scheduler.policy.name(), policy);
        let mut rest = config;
        rest.scheduler.policy = Config::default().scheduler.policy;
        assert_eq!(rest, Config::default(), "{policy}.toml changes more than the policy");
    }
    for place in ["compose", "k8s"] {
        let config = loaded(place).config;
        assert_eq!(config.redis.url, "redis://redis:6379");
        assert!(config.scheduler.metrics_addr.starts_with("0.0.0.0:"), "{place}: scrapers are on other hosts");
    }
}

#[test]
fn there_is_no_file_that_is_not_tested() {
    let directory = shipped("default").parent().unwrap().to_owned();
    let mut names: Vec<_> =
        std::fs::read_dir(directory).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    assert_eq!(names, ["compose.toml", "default.toml", "edf.toml", "k8s.toml", "priority.toml", "wfq.toml"]);
}
