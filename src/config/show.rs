//! The effective configuration for people and programs, without its secrets.

use super::{Config, Loaded, RedisConfig, Source};
use serde_json::json;

/// What stands in place of a secret.
pub const REDACTED: &str = "***";

impl Config {
    /// A copy without secrets.
    pub fn redacted(&self) -> Config {
        let mut shown = self.clone();
        shown.redis.url = redact_url(&self.redis.url);
        shown.redis.password = self.redis.password.as_ref().map(|_| REDACTED.into());
        shown
    }
}

/// A url without its password, and without whatever its query holds by such a name.
pub fn redact_url(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    let (body, query) = rest.split_once('?').map_or((rest, None), |(body, query)| (body, Some(query)));
    // The last `@`, since a password may hold one itself.
    let body = match body.rsplit_once('@') {
        Some((login, host)) => {
            let user = login.split(':').next().unwrap_or_default();
            format!("{user}:{REDACTED}@{host}")
        }
        None => body.to_owned(),
    };
    let hide = |pair: &str| match pair.split_once('=') {
        Some((key, _)) if key.to_lowercase().contains("pass") => format!("{key}={REDACTED}"),
        _ => pair.to_owned(),
    };
    let query = query.map(|query| query.split('&').map(hide).collect::<Vec<_>>().join("&"));
    let query = query.map(|query| format!("?{query}")).unwrap_or_default();
    format!("{scheme}://{body}{query}")
}

impl RedisConfig {
    /// The url without its password, for messages.
    pub fn shown_url(&self) -> String {
        redact_url(&self.url)
    }
}

impl Loaded {
    /// TOML that can be loaded again (but for redacted secrets); the source of each value is a comment.
    pub fn to_toml(&self) -> String {
        let text = toml::to_string(&self.config.redacted()).expect("the configuration is plain data");
        let (mut table, mut shown) = (String::new(), String::new());
        for line in text.lines() {
            if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
                table = name.to_owned();
                shown.push_str(line);
                if name == "redis" {
                    shown.push_str(&self.unset());
                }
            } else if let Some((key, _)) = line.split_once(" = ") {
                let source = self.source_of(&format!("{table}.{key}"));
                shown.push_str(&format!("{line:<44} # {source}"));
            } else {
                shown.push_str(line);
            }
            shown.push('\n');
        }
        shown
    }

    fn unset(&self) -> String {
        let redis = &self.config.redis;
        let unset = [
            ("username", redis.username.is_none()),
            ("password", redis.password.is_none()),
            ("password_file", redis.password_file.is_none()),
            ("db", redis.db.is_none()),
        ];
        unset.iter().filter(|(_, unset)| *unset).map(|(name, _)| format!("\n# {name} is not set")).collect()
    }

    /// `{"config": {…}, "sources": {"redis.url": "default", …}}`.
    pub fn to_json(&self) -> serde_json::Value {
        json!({ "config": self.config.redacted(), "sources": self.sources })
    }

    /// Where the value of a dotted field came from; a key of a table answers for the table.
    pub fn source_of(&self, path: &str) -> &Source {
        let mut path = path;
        loop {
            if let Some(source) = self.sources.get(path) {
                return source;
            }
            match path.rsplit_once('.') {
                Some((parent, _)) => path = parent,
                None => return &Source::Default,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::redact_url;

    #[test]
    fn no_form_of_url_shows_its_password() {
        for url in [
            "redis://user:s3cret@host:1/0",
            "redis://:s3cret@host",
            "redis://user:p@s3cret@host",
            "redis-sentinel://h:1/0?sentinelServiceName=m&sentinelPassword=s3cret",
            "rediss://u:s3cret@h?password=s3cret&x=1",
        ] {
            let shown = redact_url(url);
            assert!(!shown.contains("s3cret") && shown.contains("***"), "{shown}");
        }
        assert_eq!(redact_url("redis://127.0.0.1:6379"), "redis://127.0.0.1:6379");
    }
}
