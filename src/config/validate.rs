//! The rules between and within fields. Every one is checked; every violation is reported.

use super::source::Violation;
use super::{Config, LogConfig, RedisConfig, Window};
use crate::model::Micros;
use crate::model::wire::NAME_BYTES_MAX;
use std::net::ToSocketAddrs;

/// Collects what is wrong.
struct Rules(Vec<Violation>);

impl Rules {
    fn require(&mut self, holds: bool, field: &str, message: impl FnOnce() -> String) {
        if !holds {
            self.0.push(Violation::new(field, message()));
        }
    }

    fn positive(&mut self, field: &str, span: Micros) {
        self.require(span > Micros::ZERO, field, || "must be longer than 0s, such as \"500ms\"".into());
    }

    fn share(&mut self, field: &str, share: f64) {
        self.require((0.0..=1.0).contains(&share), field, || format!("is {share}; it must be between 0 and 1"));
    }

    fn between(&mut self, field: &str, value: usize, least: usize, most: usize) {
        let fits = (least..=most).contains(&value);
        self.require(fits, field, || format!("is {value}; it must be between {least} and {most}"));
    }

    fn address(&mut self, field: &str, address: &str) {
        // Numeric addresses only need parsing; names are left to the resolver when the endpoint opens.
        let port = address.rsplit_once(':').and_then(|(host, port)| Some((host, port.parse::<u16>().ok()?)));
        let fits = address.is_empty()
            || port.is_some_and(|(host, _)| !host.is_empty())
                && (!address.starts_with('[') || address.to_socket_addrs().is_ok());
        self.require(fits, field, || {
            format!("is `{address}`; write host:port, such as 127.0.0.1:9101, or \"\" for off")
        });
    }
}

/// What is wrong with `config`, by dotted field.
pub fn violations(config: &Config) -> Vec<Violation> {
    let mut rules = Rules(Vec::new());
    redis(&mut rules, &config.redis);
    if let Err(message) = namespace(&config.streams.namespace) {
        rules.0.push(Violation::new("streams.namespace", message));
    }
    scheduler(&mut rules, config);
    leader_election(&mut rules, config);
    worker(&mut rules, config);
    recovery(&mut rules, config);
    for (field, message) in config.workload.violations() {
        rules.0.push(Violation::new(format!("workload.{field}"), message));
    }
    log(&mut rules, &config.log);
    rules.0
}

/// Whether a namespace can be the hash tag and prefix of keys.
///
/// # Errors
/// What is wrong with it.
pub fn namespace(text: &str) -> Result<(), String> {
    if text.is_empty() || text.len() > 128 {
        return Err(format!("has {} bytes; it must have between 1 and 128", text.len()));
    }
    match text.chars().find(|c| c.is_control() || "{}*?[]^\\".contains(*c)) {
        Some(c) => Err(format!(
            "contains {c:?}; braces, control characters and the glob characters * ? [ ] ^ \\ are not allowed"
        )),
        None => Ok(()),
    }
}

const SCHEMES: [&str; 8] = [
    "redis://",
    "rediss://",
    "redis-sentinel://",
    "rediss-sentinel://",
    "redis-cluster://",
    "rediss-cluster://",
    "redis+unix://",
    "unix://",
];

fn redis(rules: &mut Rules, redis: &RedisConfig) {
    let known = SCHEMES.iter().any(|scheme| redis.url.strip_prefix(scheme).is_some_and(|rest| !rest.is_empty()));
    // The url is not repeated: it may hold a password.
    rules.require(known, "redis.url", || {
        format!("must begin with one of {} and name a host or a socket", SCHEMES.join(" "))
    });
    rules.require(redis.password.is_none() || redis.password_file.is_none(), "redis.password_file", || {
        "redis.password is set too; keep one of them".into()
    });
    let clustered = redis.url.contains("-cluster://") && redis.db.unwrap_or(0) != 0;
    rules.require(!clustered, "redis.db", || "a Redis Cluster has only database 0".into());
    rules.positive("redis.connect_timeout", redis.connect_timeout);
    rules.positive("redis.command_timeout", redis.command_timeout);
}

fn scheduler(rules: &mut Rules, config: &Config) {
    let scheduler = &config.scheduler;
    rules.between("scheduler.ingest_batch", scheduler.ingest_batch, 1, 100_000);
    rules.between("scheduler.dispatch_batch", scheduler.dispatch_batch, 1, 100_000);
    rules.between("scheduler.task_bytes_max", scheduler.task_bytes_max, 256, 64 << 20);
    if let Window::Fixed(window) = scheduler.max_in_flight {
        rules.require(window <= 10_000_000, "scheduler.max_in_flight", || {
            format!("is {window}; at most 10000000, or 0 for unlimited, or \"auto\"")
        });
    }
    rules.positive("scheduler.safety_interval", scheduler.safety_interval);
    let weighs = |weight: f64| weight.is_finite() && weight > 0.0;
    for (tenant, weight) in &scheduler.tenant_weights {
        let field = format!("scheduler.tenant_weights.{tenant}");
        rules.require(weighs(*weight), &field, || format!("is {weight}; a weight must be a positive number"));
        let named = !tenant.is_empty() && tenant.len() <= NAME_BYTES_MAX && !tenant.chars().any(char::is_control);
        rules.require(named, &field, || "a tenant's name has 1 to 128 bytes and no control characters".into());
    }
    rules.require(weighs(scheduler.default_tenant_weight), "scheduler.default_tenant_weight", || {
        format!("is {}; a weight must be a positive number", scheduler.default_tenant_weight)
    });
    rules.address("scheduler.metrics_addr", &scheduler.metrics_addr);
}

fn leader_election(rules: &mut Rules, config: &Config) {
    let lease = &config.leader_election;
    rules.require(lease.ttl >= Micros::from_millis(50), "leader_election.ttl", || "must be at least 50ms".into());
    rules.positive("leader_election.renew_interval", lease.renew_interval);
    rules.positive("leader_election.retry_interval", lease.retry_interval);
    rules.require(lease.renew_interval < lease.ttl, "leader_election.renew_interval", || {
        "must be below leader_election.ttl, best at most a third of it, or the lease runs out between renewals".into()
    });
}

fn worker(rules: &mut Rules, config: &Config) {
    let worker = &config.worker;
    rules.between("worker.concurrency", worker.concurrency as usize, 1, 10_000);
    let named = worker.name.len() <= 200 && !worker.name.chars().any(|c| c.is_control() || c == '#');
    rules.require(named, "worker.name", || "has at most 200 bytes, no control characters and no `#`".into());
    rules.positive("worker.heartbeat_interval", worker.heartbeat_interval);
    rules.require(worker.heartbeat_interval < config.recovery.min_idle, "worker.heartbeat_interval", || {
        "must be below recovery.min_idle, best at most a third of it, or running work is taken for dead".into()
    });
    rules.share("worker.fail_rate", worker.fail_rate);
    rules.share("worker.fail_before_ack_rate", worker.fail_before_ack_rate);
    rules.address("worker.metrics_addr", &worker.metrics_addr);
}

fn recovery(rules: &mut Rules, config: &Config) {
    let recovery = &config.recovery;
    rules.positive("recovery.interval", recovery.interval);
    rules.positive("recovery.min_idle", recovery.min_idle);
    rules.between("recovery.batch", recovery.batch, 1, 100_000);
    rules.require(recovery.max_retries <= 1_000_000, "recovery.max_retries", || "must be at most 1000000".into());
    rules.require(recovery.backoff_base <= recovery.backoff_max, "recovery.backoff_base", || {
        "must not exceed recovery.backoff_max".into()
    });
    rules.share("recovery.backoff_jitter", recovery.backoff_jitter);
}

fn log(rules: &mut Rules, log: &LogConfig) {
    let filter = tracing_subscriber::EnvFilter::builder().parse(&log.level);
    // `EnvFilter` takes a lone word for a target's name, so `lvel` would silence everything.
    let words = log
        .level
        .split(',')
        .all(|part| part.contains('=') || ["off", "error", "warn", "info", "debug", "trace"].contains(&part.trim()));
    rules.require(filter.is_ok() && words, "log.level", || {
        format!("is `{}`; write error, warn, info, debug or trace, or a filter such as info,tq=debug", log.level)
    });
    rules.require(matches!(log.format.as_str(), "text" | "json"), "log.format", || {
        format!("is `{}`; it must be text or json", log.format)
    });
}
