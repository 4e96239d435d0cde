//! Processes of `tq` on a private Redis, and waiting for what they do.

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use tq::clock::Clock;
use tq::lab::harness::private_redis::PrivateRedis;
use tq::model::Micros;

/// How long anything may take: far more than it does, since machines are slow and a hang lasts for ever.
const PATIENCE: Micros = Micros::from_secs(180);

/// A store, and a place for logs.
pub(super) struct Site {
    pub(super) redis: PrivateRedis,
    logs: tempfile::TempDir,
}

impl Site {
    /// `None`, and a line that says so, where there is no `redis-server`.
    pub(super) fn open() -> Option<Site> {
        if !PrivateRedis::available() {
            println!("skipped: no redis-server on the PATH");
            return None;
        }
        Some(Site { redis: PrivateRedis::start().unwrap(), logs: tempfile::tempdir().unwrap() })
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(assert_cmd::cargo::cargo_bin("tq"));
        for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("TQ_")) {
            command.env_remove(name);
        }
        // Short leases, so that what a dead process held is taken over soon.
        let settings = [
            ("TQ_RECOVERY__MIN_IDLE", "2s"),
            ("TQ_RECOVERY__INTERVAL", "200ms"),
            ("TQ_WORKER__HEARTBEAT_INTERVAL", "400ms"),
            ("TQ_LEADER_ELECTION__TTL", "1500ms"),
            ("TQ_LEADER_ELECTION__RENEW_INTERVAL", "400ms"),
            ("TQ_LEADER_ELECTION__RETRY_INTERVAL", "200ms"),
            ("TQ_SCHEDULER__METRICS_ADDR", "127.0.0.1:0"),
            ("TQ_WORKER__METRICS_ADDR", "127.0.0.1:0"),
            ("TQ_WORKLOAD__EXEC__MIN_MS", "5"),
            ("TQ_WORKLOAD__EXEC__MAX_MS", "15"),
            ("TQ_LOG_FORMAT", "json"),
        ];
        command.envs(settings).env("TQ_REDIS_URL", self.redis.url()).args(args);
        command
    }

    /// Starts a process whose log goes to a file.
    pub(super) fn start(&self, name: &str, args: &[&str]) -> Process {
        let path = self.logs.path().join(name);
        let log = std::fs::File::create(&path).unwrap();
        let command = &mut self.command(args);
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log).spawn().unwrap();
        Process { child, log: path }
    }

    /// `tq status --json`.
    pub(super) fn status(&self) -> Value {
        let out = self.command(&["status", "--json"]).output().unwrap();
        assert!(out.status.success(), "tq status: {}", String::from_utf8_lossy(&out.stderr));
        serde_json::from_slice(&out.stdout).unwrap()
    }
}

/// A running `tq`; killed when dropped.
pub(super) struct Process {
    child: Child,
    log: PathBuf,
}

impl Process {
    pub(super) fn pid(&self) -> u32 {
        self.child.id()
    }

    pub(super) fn log(&self) -> String {
        std::fs::read_to_string(&self.log).unwrap_or_default()
    }

    fn send(&self, signal: Signal) {
        kill(Pid::from_raw(i32::try_from(self.pid()).unwrap()), signal).unwrap();
    }

    /// SIGKILL: no goodbye.
    pub(super) fn crash(mut self) {
        self.send(Signal::SIGKILL);
        self.child.wait().unwrap();
    }

    /// SIGTERM, then its end, which must be a good one.
    pub(super) fn stop(mut self) {
        self.send(Signal::SIGTERM);
        let status = wait_for("a stopped process to end", || self.ended());
        assert!(status.success(), "{status}: {}", self.log());
    }

    /// Its exit status, if it has ended.
    pub(super) fn ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().unwrap()
    }

    /// Where its endpoints are, once its log says so.
    pub(super) fn address(&self) -> String {
        wait_for("the address of the endpoints", || {
            let log = self.log();
            let lines = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
            lines.into_iter().find_map(|line| Some(line["address"].as_str()?.to_owned()))
        })
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Asks again and again until there is an answer.
pub(super) fn wait_for<T>(what: &str, mut ask: impl FnMut() -> Option<T>) -> T {
    let clock = Clock::real();
    let until = clock.now() + PATIENCE;
    loop {
        if let Some(answer) = ask() {
            return answer;
        }
        assert!(clock.now() < until, "waited {} s in vain for {what}", PATIENCE.as_secs_f64());
        async_io::block_on(clock.sleep(Micros::from_millis(10)));
    }
}
