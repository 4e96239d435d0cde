//! The broker on Redis: one Lua script for each move, plain commands for reads, pub/sub for wake-ups.
//!
//! `docs/protocol.md` says what lies under which key.

mod codec;
mod keys;
mod leases;
mod moves;
pub mod scripts;
mod views;
mod wakes;
mod work;

use super::{
    AdmitBatch, Admitted, Broker, BrokerError, BrokerResult, Completed, DeadEntry, DispatchBatch, Dispatched, Grant,
    Presence, Promoted, ResultEntry, Retried, Retry, Snapshot, Source, Wake, WorkerBeat,
};
use crate::clock::Clock;
use crate::config::RedisConfig;
use crate::model::outcome::{Completion, Delivery};
use crate::model::wire::IngressEntry;
use crate::model::{EntryId, Epoch, Micros, Rank};
use crate::runtime::redis::Connections;
use bytes::Bytes;
use fred::types::Value;
use keys::Keys;
use scripts::Script;
use std::sync::Arc;
use tokio::sync::watch;

/// Finished ids are remembered for this long unless set otherwise.
const DONE_RETENTION: Micros = Micros::from_secs(24 * 3_600);
/// The oldest Redis whose commands suffice.
const REDIS_MAJOR_MIN: u64 = 7;

/// A namespace of one Redis. Clones share the connections.
#[derive(Debug, Clone)]
pub struct RedisBroker {
    shared: Arc<Shared>,
    done_retention: Micros,
}

#[derive(Debug)]
struct Shared {
    connections: Arc<Connections>,
    keys: Keys,
    clock: Clock,
    wakes: watch::Sender<Wake>,
    listeners: Vec<tokio::task::AbortHandle>,
    /// Why nobody may lead here, if so: the server takes writes that too few replicas would receive.
    unguarded: Option<String>,
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.listeners.iter().for_each(tokio::task::AbortHandle::abort);
    }
}

impl RedisBroker {
    /// Connects to the namespace: checks the version, loads the scripts, creates the consumer group, listens for wake-ups.
    ///
    /// # Errors
    /// [`BrokerError::Unavailable`] when nothing answers, [`BrokerError::Unsupported`] when Redis is older than 7.
    pub async fn connect(config: &RedisConfig, namespace: &str, clock: &Clock) -> BrokerResult<Self> {
        let connections = Arc::new(Connections::open(config, namespace).await?);
        let unguarded = check_server(&connections, config.min_replicas_required).await?;
        scripts::load(&connections).await?;
        let keys = Keys::new(namespace);
        let wakes = watch::Sender::new(Wake::default());
        let listeners = wakes::listen(&connections, &keys.wake(), &wakes).await?;
        let shared = Shared { connections, keys, clock: clock.clone(), wakes, listeners, unguarded };
        let broker = RedisBroker { shared: Arc::new(shared), done_retention: DONE_RETENTION };
        broker.create_group(Source::Execution).await?;
        Ok(broker)
    }

    /// The same namespace; finished ids are remembered for `retention` (zero: for ever). To be the same in every process.
    #[must_use]
    pub fn with_done_retention(mut self, retention: Micros) -> Self {
        self.done_retention = retention;
        self
    }

    /// Why nobody may lead here, if so: the server takes writes that fewer replicas than required would receive.
    pub fn unguarded(&self) -> Option<&str> {
        self.shared.unguarded.as_deref()
    }

    async fn run(&self, script: &Script, keys: Vec<Value>, arguments: Vec<Value>) -> BrokerResult<Value> {
        scripts::run(&self.shared.connections, script, keys, arguments).await
    }
}

/// Refuses a server that is too old, warns of one that may evict; gives back why nobody may lead, if so.
async fn check_server(connections: &Connections, replicas_required: u32) -> BrokerResult<Option<String>> {
    let info = codec::text(connections.call("INFO", vec![]).await?)?;
    let field = |name: &str| {
        info.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':')).unwrap_or_default().trim().to_owned()
    };
    let version = field("redis_version");
    let major = version.split('.').next().and_then(|major| major.parse::<u64>().ok());
    if major.is_none_or(|major| major < REDIS_MAJOR_MIN) {
        return Err(BrokerError::Unsupported(format!("Redis {version}; tq needs {REDIS_MAJOR_MIN}.0 or newer")));
    }
    let (policy, limit) = (field("maxmemory_policy"), field("maxmemory"));
    if !policy.is_empty() && policy != "noeviction" {
        tracing::warn!(policy, limit, "Redis may evict keys when it is full: tasks would be lost; set noeviction");
    }
    if replicas_required == 0 {
        return Ok(None);
    }
    let reply = connections.call("CONFIG", vec!["GET".into(), "min-replicas-to-write".into()]).await?;
    let set = codec::pairs(reply)?.first().and_then(|(_, value)| codec::count(value).ok()).unwrap_or(0);
    Ok((set < u64::from(replicas_required)).then(|| {
        format!("min-replicas-to-write is {set}, and redis.min_replicas_required asks for {replicas_required}")
    }))
}

impl Broker for RedisBroker {
    async fn time(&self) -> BrokerResult<Micros> {
        let [s, us] = codec::exactly(self.shared.connections.call("TIME", vec![]).await?)?;
        Ok(Micros::from_secs(codec::integer(&s)?) + Micros(codec::integer(&us)?))
    }

    fn wakes(&self) -> watch::Receiver<Wake> {
        self.shared.wakes.subscribe()
    }

    async fn lease_acquire(&self, owner: &str, ttl: Micros) -> BrokerResult<Grant> {
        self.acquire(owner, ttl).await
    }

    async fn lease_renew(&self, owner: &str, epoch: Epoch, ttl: Micros) -> BrokerResult<bool> {
        self.renew(owner, epoch, ttl).await
    }

    async fn lease_release(&self, owner: &str, epoch: Epoch) -> BrokerResult<bool> {
        self.release(owner, epoch).await
    }

    async fn announce(&self, owner: &str) -> BrokerResult<Presence> {
        self.show(owner).await
    }

    async fn is_connected(&self, owner: &str) -> BrokerResult<bool> {
        self.sees(owner).await
    }

    async fn lease_depose(&self, owner: &str, epoch: Epoch) -> BrokerResult<bool> {
        self.depose(owner, epoch).await
    }

    async fn submit(&self, tasks: &[Bytes]) -> BrokerResult<Vec<EntryId>> {
        let arguments = tasks.iter().cloned().map(Value::Bytes).collect();
        let reply = self.run(&scripts::SUBMIT, vec![self.shared.keys.ingress()], arguments).await?;
        codec::array(reply)?.into_iter().map(codec::entry_id).collect()
    }

    async fn known(&self, ids: &[&str], now: Micros) -> BrokerResult<Vec<bool>> {
        let (k, retention) = (&self.shared.keys, self.done_retention);
        let names = vec![k.tasks(), k.done(now, retention), k.done_before(now, retention)];
        let reply = self.run(&scripts::KNOWN, names, ids.iter().map(|id| Value::from(*id)).collect()).await?;
        codec::array(reply)?.iter().map(|known| Ok(codec::integer(known)? == 1)).collect()
    }

    async fn ingress_read(&self, after: EntryId, count: usize, block: Micros) -> BrokerResult<Vec<IngressEntry>> {
        let mut arguments: Vec<Value> = vec!["COUNT".into(), Value::from(count.max(1) as i64)];
        if block > Micros::ZERO {
            arguments.extend(["BLOCK".into(), Value::from(block.as_millis().max(1))]);
        }
        arguments.extend(["STREAMS".into(), self.shared.keys.ingress(), after.to_string().into()]);
        let reply = self.shared.connections.call_blocking("XREAD", arguments, block).await?;
        let entry = |entry: codec::Entry| IngressEntry { id: entry.id, task: entry.field("task").cloned() };
        Ok(codec::read_entries(reply)?.into_iter().map(entry).collect())
    }

    async fn admit(&self, epoch: Epoch, batch: &AdmitBatch) -> BrokerResult<Admitted> {
        self.admit_batch(epoch, batch).await
    }

    async fn policy_load(&self) -> BrokerResult<Vec<(String, String)>> {
        let fields = codec::pairs(self.shared.connections.call("HGETALL", vec![self.shared.keys.policy()]).await?)?;
        fields.into_iter().map(|(field, value)| Ok((field, codec::text(value)?))).collect()
    }

    async fn pending_scan(&self, after: Option<&Rank>, count: usize) -> BrokerResult<Vec<Rank>> {
        self.scan(after, count).await
    }

    async fn dispatch(&self, epoch: Epoch, batch: &DispatchBatch) -> BrokerResult<Dispatched> {
        self.dispatch_batch(epoch, batch).await
    }

    async fn promote(&self, epoch: Epoch, now: Micros, count: usize) -> BrokerResult<Promoted> {
        self.promote_due(epoch, now, count).await
    }

    async fn fetch(&self, source: Source, worker: &str, count: usize, block: Micros) -> BrokerResult<Vec<Delivery>> {
        self.take(source, worker, count, block).await
    }

    async fn complete(&self, source: Source, batch: &[Completion], now: Micros) -> BrokerResult<Completed> {
        self.complete_batch(source, batch, now).await
    }

    async fn retry(&self, batch: &[Retry], now: Micros) -> BrokerResult<Retried> {
        self.retry_batch(batch, now).await
    }

    async fn extend(&self, beat: &WorkerBeat, attempts: &[EntryId], now: Micros) -> BrokerResult<Vec<EntryId>> {
        self.heartbeat(beat, attempts, now).await
    }

    async fn leave(&self, worker: &str) -> BrokerResult<()> {
        self.unregister(worker, None).await
    }

    async fn expired(&self, min_idle: Micros, count: usize) -> BrokerResult<Vec<(Delivery, String)>> {
        self.overdue(min_idle, count).await
    }

    async fn housekeep(
        &self,
        now: Micros,
        results_retention: Micros,
        _done_retention: Micros,
        worker_silence: Micros,
    ) -> BrokerResult<()> {
        // Finished ids expire with their bucket.
        self.upkeep(now, results_retention, worker_silence).await
    }

    async fn snapshot(&self, _now: Micros) -> BrokerResult<Snapshot> {
        self.count_all().await
    }

    async fn results(&self, after: EntryId, count: usize) -> BrokerResult<Vec<ResultEntry>> {
        self.results_after(after, count).await
    }

    async fn dead(&self, after: EntryId, count: usize) -> BrokerResult<Vec<DeadEntry>> {
        self.dead_after(after, count).await
    }

    async fn dead_take(&self, entries: &[EntryId], requeue: bool) -> BrokerResult<u64> {
        self.take_dead(entries, requeue).await
    }

    async fn reset(&self) -> BrokerResult<()> {
        self.delete_all().await
    }
}
