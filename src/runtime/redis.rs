//! Connections to Redis: a client for commands, one of its own for each blocking read, and a subscriber for wake-ups.
//!
//! A command is sent once (a lost reply is looked up, never repeated blindly), every command has a timeout, and a lost
//! connection is restored for ever with bounded backoff.

use crate::broker::{BrokerError, BrokerResult};
use crate::config::RedisConfig;
use crate::model::Micros;
use fred::clients::{Client, SubscriberClient};
use fred::error::{Error, ErrorKind};
use fred::interfaces::{ClientInterface, ClientLike};
use fred::types::config::{Config, Options, ReconnectPolicy, UnresponsiveConfig};
use fred::types::{Builder, ClusterHash, CustomCommand, Value};
use std::sync::{Mutex, PoisonError};

/// Idle clients for blocking reads that are kept open.
const IDLE_MAX: usize = 16;
/// Backoff between attempts to connect again, in ms.
const RECONNECT_MIN_MS: u32 = 20;
const RECONNECT_MAX_MS: u32 = 2_000;

/// Open connections to one Redis. Closed when dropped.
pub struct Connections {
    command: Client,
    subscriber: SubscriberClient,
    builder: Builder,
    command_timeout: Micros,
    slot: u16,
    idle: Mutex<Vec<Client>>,
}

impl std::fmt::Debug for Connections {
    // The configuration holds a password.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Connections").field("slot", &self.slot).finish_non_exhaustive()
    }
}

impl Connections {
    /// Connects. Every command goes to the cluster slot of `tag`, where there is a cluster.
    ///
    /// # Errors
    /// [`BrokerError::Unavailable`] when nothing answers, [`BrokerError::NoPermission`] when the credentials are refused,
    /// [`BrokerError::Unsupported`] when the address cannot be read.
    pub async fn open(config: &RedisConfig, tag: &str) -> BrokerResult<Self> {
        let builder = builder(config)?;
        let command = builder.build().map_err(|error| broker_error(&error))?;
        let subscriber = builder.build_subscriber_client().map_err(|error| broker_error(&error))?;
        command.init().await.map_err(|error| broker_error(&error))?;
        subscriber.init().await.map_err(|error| broker_error(&error))?;
        let slot = fred::util::redis_keyslot(tag.as_bytes());
        let idle = Mutex::default();
        Ok(Connections { command, subscriber, builder, command_timeout: config.command_timeout, slot, idle })
    }

    /// The client for commands.
    pub fn command(&self) -> &Client {
        &self.command
    }

    /// The client for wake-ups.
    pub fn subscriber(&self) -> &SubscriberClient {
        &self.subscriber
    }

    /// The cluster slot of every command.
    pub fn hash(&self) -> ClusterHash {
        ClusterHash::Custom(self.slot)
    }

    /// Sends a command, once.
    ///
    /// # Errors
    /// What Redis or the connection says.
    pub async fn call(&self, command: &'static str, arguments: Vec<Value>) -> BrokerResult<Value> {
        self.call_raw(command, arguments).await.map_err(|error| broker_error(&error))
    }

    /// [`Connections::call`] with the client's own error.
    ///
    /// # Errors
    /// What Redis or the connection says.
    pub async fn call_raw(&self, command: &'static str, arguments: Vec<Value>) -> Result<Value, Error> {
        let command = CustomCommand::new_static(command, self.hash(), false);
        self.command.custom(command, arguments).await
    }

    /// Sends a command that may wait for `block`, on a client that nobody else uses meanwhile. When the future is dropped
    /// the wait is ended.
    ///
    /// # Errors
    /// What Redis or the connection says.
    pub async fn call_blocking(
        &self,
        command: &'static str,
        arguments: Vec<Value>,
        block: Micros,
    ) -> BrokerResult<Value> {
        let kept = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let client = match kept {
            Some(client) => client,
            None => {
                let client = self.builder.build().map_err(|error| broker_error(&error))?;
                client.init().await.map_err(|error| broker_error(&error))?;
                client
            }
        };
        let guard = Reading { client: Some(client.clone()) };
        let options = Options {
            timeout: Some((block + self.command_timeout).to_duration()),
            max_attempts: Some(1),
            ..Options::default()
        };
        let command = CustomCommand::new_static(command, self.hash(), true);
        let answer: Result<Value, Error> = client.with_options(&options).custom(command, arguments).await;
        let healthy = !answer.as_ref().is_err_and(|error| *error.kind() == ErrorKind::Timeout);
        if healthy {
            guard.finished();
            let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
            if idle.len() < IDLE_MAX {
                idle.push(client);
            } else {
                drop(idle);
                close(client);
            }
        }
        answer.map_err(|error| broker_error(&error))
    }
}

impl Drop for Connections {
    fn drop(&mut self) {
        let idle = std::mem::take(&mut *self.idle.lock().unwrap_or_else(PoisonError::into_inner));
        for client in idle.into_iter().chain([self.command.clone()]) {
            close(client);
        }
        close(self.subscriber.clone());
    }
}

/// Ends a read that was given up and closes its connection: the next one's reply would be mixed up with its own otherwise.
struct Reading {
    client: Option<Client>,
}

impl Reading {
    fn finished(mut self) {
        self.client = None;
    }
}

impl Drop for Reading {
    fn drop(&mut self) {
        let Some(client) = self.client.take() else { return };
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move {
                // QUIT alone would wait behind the read.
                let _ = client.unblock_self(None).await;
                let _ = client.quit().await;
            });
        }
    }
}

fn close<C: ClientLike + 'static>(client: C) {
    if let Ok(runtime) = tokio::runtime::Handle::try_current() {
        runtime.spawn(async move {
            let _ = client.quit().await;
        });
    }
}

/// The password that the configuration names, if any: `password`, or the first line of `password_file`.
fn password(config: &RedisConfig) -> BrokerResult<Option<String>> {
    if config.password.is_some() {
        return Ok(config.password.clone());
    }
    let Some(file) = &config.password_file else { return Ok(None) };
    let text = std::fs::read_to_string(file)
        .map_err(|error| BrokerError::NoPermission(format!("redis.password_file {file}: {error}")))?;
    Ok(text.lines().next().map(str::to_owned))
}

/// What fred makes of the configuration.
///
/// # Errors
/// [`BrokerError::Unsupported`] when the address cannot be read; the address is not repeated, since it may hold a password.
pub fn client_config(config: &RedisConfig) -> BrokerResult<Config> {
    let mut parsed = Config::from_url(&config.url)
        .map_err(|error| BrokerError::Unsupported(format!("redis.url cannot be read: {}", error.details())))?;
    parsed.fail_fast = true;
    if config.username.is_some() {
        parsed.username.clone_from(&config.username);
    }
    if let Some(password) = password(config)? {
        parsed.password = Some(password);
    }
    if config.db.is_some() {
        parsed.database = config.db;
    }
    Ok(parsed)
}

fn builder(config: &RedisConfig) -> BrokerResult<Builder> {
    let mut builder = Builder::from_config(client_config(config)?);
    let (connect, command) = (config.connect_timeout.to_duration(), config.command_timeout.to_duration());
    builder.with_performance_config(|performance| performance.default_command_timeout = command);
    builder.with_connection_config(|connection| {
        connection.connection_timeout = connect;
        connection.internal_command_timeout = connect;
        connection.max_command_attempts = 1;
        connection.reconnect_on_auth_error = true;
        connection.tcp.nodelay = Some(true);
        connection.unresponsive = UnresponsiveConfig { max_timeout: None, ..UnresponsiveConfig::default() };
    });
    builder.set_policy(ReconnectPolicy::new_exponential(0, RECONNECT_MIN_MS, RECONNECT_MAX_MS, 2));
    Ok(builder)
}

/// What callers branch on, from what Redis and fred say.
pub fn broker_error(error: &Error) -> BrokerError {
    let details = error.details();
    let said = || details.to_owned();
    let mut words = details.split_whitespace();
    match words.next().unwrap_or_default() {
        "TQ_FENCED" => {
            let mut number = || words.next().and_then(|word| word.parse().ok()).map(crate::model::Epoch);
            if let (Some(epoch), Some(fence)) = (number(), number()) {
                return BrokerError::Fenced { epoch, fence };
            }
            return BrokerError::Corrupt(said());
        }
        "OOM" => return BrokerError::OutOfMemory(said()),
        "NOPERM" | "NOAUTH" | "WRONGPASS" => return BrokerError::NoPermission(said()),
        "WRONGTYPE" => return BrokerError::Corrupt(said()),
        "READONLY" | "LOADING" | "NOREPLICAS" | "MASTERDOWN" | "MISCONF" | "BUSY" => {
            return BrokerError::NotWritable(said());
        }
        _ => {}
    }
    match error.kind() {
        ErrorKind::Timeout => BrokerError::Timeout,
        ErrorKind::Auth => BrokerError::NoPermission(said()),
        ErrorKind::Parse | ErrorKind::Protocol | ErrorKind::NotFound => BrokerError::Corrupt(said()),
        ErrorKind::Url | ErrorKind::Config | ErrorKind::InvalidCommand | ErrorKind::Tls => {
            BrokerError::Unsupported(said())
        }
        ErrorKind::Unknown if details.starts_with("ERR unknown command") => BrokerError::Unsupported(said()),
        ErrorKind::Unknown | ErrorKind::InvalidArgument if details.starts_with("ERR") => BrokerError::Corrupt(said()),
        _ => BrokerError::Unavailable(said()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Epoch;

    #[test]
    fn what_redis_says_becomes_what_callers_branch_on() {
        let kind = |text: &'static str| broker_error(&Error::new(ErrorKind::Unknown, text));
        assert_eq!(kind("TQ_FENCED 3 5"), BrokerError::Fenced { epoch: Epoch(3), fence: Epoch(5) });
        assert_eq!(kind("OOM command not allowed").kind(), "out_of_memory");
        assert_eq!(kind("NOPERM this user").kind(), "no_permission");
        assert_eq!(kind("WRONGTYPE Operation").kind(), "corrupt");
        assert_eq!(kind("READONLY You can't write").kind(), "not_writable");
        assert_eq!(kind("ERR unknown command 'X'").kind(), "unsupported");
        assert_eq!(broker_error(&Error::new(ErrorKind::Timeout, "")), BrokerError::Timeout);
        assert_eq!(broker_error(&Error::new(ErrorKind::IO, "gone")).kind(), "unavailable");
    }

    #[test]
    fn every_kind_of_address_is_understood_and_no_password_is_shown() {
        let read = |url: &str| client_config(&RedisConfig { url: url.into(), ..RedisConfig::default() });
        for url in [
            "redis://h:1/2",
            "rediss://u:p@h:1",
            "redis-sentinel://h:1?sentinelServiceName=tq&node=g:2",
            "redis-cluster://h:1?node=g:2",
            "redis+unix:///tmp/s",
        ] {
            assert!(read(url).is_ok(), "{url}");
        }
        let error = read("redis ://u:hunter2@h").unwrap_err();
        assert!(!error.to_string().contains("hunter2"), "{error}");
    }

    #[test]
    fn the_password_file_gives_its_first_line() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "secret\nmore\n").unwrap();
        let file_name = file.path().to_string_lossy().into_owned();
        let config = RedisConfig { password_file: Some(file_name), db: Some(3), ..RedisConfig::default() };
        let parsed = client_config(&config).unwrap();
        assert_eq!((parsed.password.as_deref(), parsed.database), (Some("secret"), Some(3)));
    }
}
