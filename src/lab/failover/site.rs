//! The processes of one trial: schedulers, each behind a proxy where links go bad, and one worker.

use super::super::harness::process::Process;
use super::super::harness::proxy::{Proxy, Target};
use super::{Arm, Settings};
use crate::broker::{Broker, Snapshot};
use crate::clock::Clock;
use crate::config::RedisConfig;
use crate::model::Micros;
use anyhow::{Context, bail};

/// How long processes may take to be there.
const READY_MAX: Micros = Micros::from_secs(60);
const POLL: Micros = Micros::from_millis(10);

pub(super) struct Site {
    pub(super) schedulers: Vec<Process>,
    /// One for each scheduler, in the arm that needs them.
    pub(super) proxies: Vec<Proxy>,
    worker: Process,
    _logs: tempfile::TempDir,
}

impl Site {
    pub(super) async fn start(
        settings: &Settings,
        arm: Arm,
        redis: &RedisConfig,
        namespace: &str,
    ) -> anyhow::Result<Site> {
        let logs = tempfile::Builder::new().prefix("tq-failover-").tempdir().context("no temporary directory")?;
        let election = &settings.election;
        let span = |span: Micros| format!("{}us", span.0);
        let text = |parts: &[&str]| parts.iter().map(|part| (*part).to_owned()).collect::<Vec<String>>();
        let (mut schedulers, mut proxies) = (Vec::new(), Vec::new());
        for number in 0..arm.schedulers() {
            let mut redis = redis.clone();
            if arm == Arm::Partition {
                let proxy = Proxy::start(target(&redis)?).await?;
                redis.url = format!("redis://127.0.0.1:{}", proxy.port());
                proxies.push(proxy);
            }
            let detect = if arm == Arm::CrashTtl { "false" } else { "true" };
            let mut arguments = text(&["scheduler", "--namespace", namespace, "--metrics-addr", "127.0.0.1:0"]);
            arguments.extend(text(&["--detect-disconnect", detect, "--policy", "fifo", "--lease-ttl"]));
            arguments.extend([span(election.ttl), "--lease-renew".into(), span(election.renew_interval)]);
            let mut environment = access(&redis);
            environment.push(("TQ_LEADER_ELECTION__RETRY_INTERVAL".into(), span(election.retry_interval)));
            let name = format!("scheduler-{number}");
            schedulers.push(Process::start(&settings.executable, &name, &arguments, &environment, logs.path())?);
        }
        let slots = settings.slots.to_string();
        let arguments = text(&["worker", "--namespace", namespace, "--concurrency", &slots, "--metrics-addr", ""]);
        let worker = Process::start(&settings.executable, "worker", &arguments, &access(redis), logs.path())?;
        Ok(Site { schedulers, proxies, worker, _logs: logs })
    }

    /// Waits until somebody leads, every scheduler has its endpoints and the worker its slots; who leads.
    pub(super) async fn ready<B: Broker>(&mut self, broker: &B, clock: &Clock, slots: u32) -> anyhow::Result<usize> {
        let until = clock.now() + READY_MAX;
        loop {
            let seen = broker.snapshot(clock.now()).await?;
            let leader = self.leader(&seen);
            if let Some(leader) = leader
                && seen.slots() >= u64::from(slots)
                && self.schedulers.iter().all(|process| process.address().is_some())
            {
                return Ok(leader);
            }
            for process in self.schedulers.iter_mut().chain([&mut self.worker]) {
                if let Some(status) = process.ended() {
                    bail!("{status}: {}", process.last_words());
                }
            }
            if clock.now() > until {
                bail!("not ready within {} s: {:?}", READY_MAX.as_secs_f64(), self.schedulers[0].last_words());
            }
            clock.sleep(POLL).await;
        }
    }

    /// Which of the schedulers holds the lease.
    pub(super) fn leader(&self, seen: &Snapshot) -> Option<usize> {
        // `<host>-<process id>#<incarnation>`.
        let name = seen.leader.as_deref()?.split('#').next()?;
        self.schedulers.iter().position(|process| name.ends_with(&format!("-{}", process.pid())))
    }

    /// How many of the running schedulers say that they lead.
    pub(super) async fn leaders(&mut self) -> anyhow::Result<u32> {
        let mut leaders = 0;
        for process in &mut self.schedulers {
            if process.ended().is_none() && !process.is_stopped() {
                leaders += u32::from(process.metric("tq_scheduler_is_leader").await? > 0.0);
            }
        }
        Ok(leaders)
    }
}

/// How a process is told where Redis is. By its environment: the arguments of a process can be read by anybody.
fn access(redis: &RedisConfig) -> Vec<(String, String)> {
    let fields = [
        ("TQ_REDIS__URL", Some(redis.url.clone())),
        ("TQ_REDIS__USERNAME", redis.username.clone()),
        ("TQ_REDIS__PASSWORD", redis.password.clone()),
        ("TQ_REDIS__PASSWORD_FILE", redis.password_file.clone()),
        ("TQ_REDIS__DB", redis.db.map(|db| db.to_string())),
    ];
    fields.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
}

/// What a proxy in front of this Redis connects to.
fn target(redis: &RedisConfig) -> anyhow::Result<Target> {
    if let Some(path) = redis.url.strip_prefix("redis+unix://") {
        return Ok(Target::Unix(path.into()));
    }
    let plain = redis.url.strip_prefix("redis://").filter(|rest| !rest.contains(['@', '/']));
    match plain {
        Some(address) if address.contains(':') => Ok(Target::Tcp(address.to_owned())),
        Some(host) => Ok(Target::Tcp(format!("{host}:6379"))),
        None => bail!("the arm partition needs a plain redis://host:port (credentials as fields of their own)"),
    }
}
