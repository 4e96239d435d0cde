//! Which broker an experiment runs on.

use super::harness::private_redis::PrivateRedis;
use crate::broker::Broker;
use crate::broker::redis::RedisBroker;
use crate::clock::Clock;
use crate::config::RedisConfig;
use crate::config::source::{Violation, Violations};
use crate::model::Micros;
use crate::runtime::offset;
use crate::runtime::redis::Connections;
use anyhow::Context;

/// What was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Choice {
    /// The configured Redis if one answers, else a private one, else memory
    Auto,
    /// The configured Redis
    Redis,
    /// A redis-server of its own, ended with the command
    Private,
    /// This process's memory
    Memory,
}

/// What is used.
#[derive(Debug)]
pub enum Store {
    /// In process, in real or in virtual time.
    Memory {
        /// Virtual.
        is_virtual: bool,
    },
    /// A server.
    Redis {
        /// Where it is.
        config: Box<RedisConfig>,
        /// Its version.
        version: String,
        /// Its process, if it is ours.
        private: Option<PrivateRedis>,
    },
}

impl Store {
    /// The name that goes into every row.
    pub fn name(&self) -> &'static str {
        match self {
            Store::Memory { is_virtual: true } => "memory-virtual",
            Store::Memory { is_virtual: false } => "memory",
            Store::Redis { private: None, .. } => "redis",
            Store::Redis { private: Some(_), .. } => "private-redis",
        }
    }

    /// For the first line of output.
    pub fn description(&self) -> String {
        match self {
            Store::Memory { is_virtual: true } => "memory, in virtual time".into(),
            Store::Memory { is_virtual: false } => "memory".into(),
            Store::Redis { private: None, version, .. } => format!("the configured Redis {version}"),
            Store::Redis { private: Some(_), version, .. } => format!("a private Redis {version}"),
        }
    }

    /// The server's version.
    pub fn redis_version(&self) -> Option<&str> {
        match self {
            Store::Memory { .. } => None,
            Store::Redis { version, .. } => Some(version),
        }
    }

    /// Finds what was asked for.
    ///
    /// # Errors
    /// When it is not there, or cannot do what was asked for.
    pub async fn open(choice: Choice, is_virtual: bool, config: &RedisConfig) -> anyhow::Result<Self> {
        if is_virtual {
            if matches!(choice, Choice::Redis | Choice::Private) {
                let why = "must be memory with --virtual: a real server does not follow virtual time";
                return Err(Violations(vec![Violation::new("--broker", why.to_owned())]).into());
            }
            return Ok(Store::Memory { is_virtual });
        }
        match choice {
            Choice::Memory => Ok(Store::Memory { is_virtual }),
            Choice::Private => Self::private().await,
            Choice::Redis => Self::configured(config).await,
            Choice::Auto => {
                let brief = RedisConfig { connect_timeout: config.connect_timeout.min(PROBE_MAX), ..config.clone() };
                match Self::configured(&brief).await {
                    Ok(store) => Ok(store),
                    Err(_) if PrivateRedis::available() => Self::private().await,
                    Err(_) => Ok(Store::Memory { is_virtual }),
                }
            }
        }
    }

    async fn configured(config: &RedisConfig) -> anyhow::Result<Self> {
        let version = version(config).await.with_context(|| format!("Redis at {}", config.shown_url()))?;
        Ok(Store::Redis { config: Box::new(config.clone()), version, private: None })
    }

    async fn private() -> anyhow::Result<Self> {
        let server = tokio::task::spawn_blocking(PrivateRedis::start).await??;
        let config = RedisConfig { url: server.url(), ..RedisConfig::default() };
        let version = version(&config).await.context("the private Redis")?;
        Ok(Store::Redis { config: Box::new(config), version, private: Some(server) })
    }
}

/// How long `auto` waits for the configured Redis.
const PROBE_MAX: Micros = Micros::from_secs(1);

async fn version(config: &RedisConfig) -> anyhow::Result<String> {
    let connections = Connections::open(config, "probe").await?;
    let info = connections.call("INFO", vec!["server".into()]).await?.as_string().unwrap_or_default();
    let version = info.lines().find_map(|line| line.strip_prefix("redis_version:")).unwrap_or("of unknown version");
    Ok(version.trim().to_owned())
}

/// A namespace of its own for one cell on Redis, and the clock set to the server's.
pub(super) struct CellNamespace {
    pub(super) broker: RedisBroker,
    pub(super) clock: Clock,
    config: RedisConfig,
    name: String,
}

impl CellNamespace {
    pub(super) async fn open(config: &RedisConfig, name: String) -> anyhow::Result<Self> {
        let clock = Clock::real();
        let broker = RedisBroker::connect(config, &name, &clock).await?;
        offset::measure(&broker, &clock).await?;
        Ok(CellNamespace { broker, clock, config: config.clone(), name })
    }

    /// Deletes it, epoch and fence included: nobody will ever lead there again.
    pub(super) async fn delete(self) -> anyhow::Result<()> {
        self.broker.reset().await?;
        let connections = Connections::open(&self.config, &self.name).await?;
        let keys = ["epoch", "fence"].map(|key| format!("{{{}}}:{key}", self.name).into());
        connections.call("DEL", keys.to_vec()).await?;
        Ok(())
    }
}
