//! A process of `tq`: started, signalled, looked at from outside, ended with its owner.

use anyhow::{Context, anyhow, bail};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// A running process with a log. Killed when dropped.
#[derive(Debug)]
pub struct Process {
    name: String,
    child: Child,
    log: PathBuf,
}

impl Process {
    /// Starts `executable` with its log (JSON) in `directory`. Nothing of this process's own `TQ_` settings reaches it.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn start(
        executable: &Path,
        name: &str,
        arguments: &[String],
        settings: &[(String, String)],
        directory: &Path,
    ) -> anyhow::Result<Self> {
        let path = directory.join(format!("{name}.log"));
        let log = std::fs::File::create(&path).with_context(|| format!("cannot write {}", path.display()))?;
        let mut command = Command::new(executable);
        for (variable, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("TQ_")) {
            command.env_remove(variable);
        }
        let settings = settings.iter().map(|(variable, value)| (variable, value));
        let child = command
            .args(arguments)
            .envs(settings)
            .env("TQ_LOG_FORMAT", "json")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .with_context(|| format!("{} cannot be started", executable.display()))?;
        Ok(Process { name: name.to_owned(), child, log: path })
    }

    /// Its name in messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Sends a signal.
    ///
    /// # Errors
    /// When there is no such process any more.
    pub fn signal(&self, signal: Signal) -> anyhow::Result<()> {
        let pid = Pid::from_raw(i32::try_from(self.pid())?);
        kill(pid, signal).with_context(|| format!("cannot send {signal} to {}", self.name))
    }

    /// Its exit status, if it has ended.
    pub fn ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().ok().flatten()
    }

    /// Whether the kernel has stopped it.
    pub fn is_stopped(&self) -> bool {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.pid())).unwrap_or_default();
        // The name before it, in brackets, may hold anything.
        stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with('T'))
    }

    /// Everything it has logged.
    pub fn log(&self) -> String {
        std::fs::read_to_string(&self.log).unwrap_or_default()
    }

    /// Its last words, for errors.
    pub fn last_words(&self) -> String {
        let log = self.log();
        let mut lines: Vec<&str> = log.lines().rev().take(3).collect();
        lines.reverse();
        format!("{}: {}", self.name, lines.join(" / "))
    }

    /// Where its endpoints are, once its log says so.
    pub fn address(&self) -> Option<String> {
        let log = self.log();
        let mut lines = log.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
        lines.find_map(|line| Some(line["address"].as_str()?.to_owned()))
    }

    /// The sum of a metric family over its series.
    ///
    /// # Errors
    /// When its endpoint does not answer, or does not show the family.
    pub async fn metric(&self, family: &str) -> anyhow::Result<f64> {
        let address = self.address().ok_or_else(|| anyhow!("{} has no endpoints yet", self.name))?;
        let mut stream = TcpStream::connect(&address).await.with_context(|| format!("{} at {address}", self.name))?;
        stream.write_all(b"GET /metrics HTTP/1.1\r\nhost: tq\r\nconnection: close\r\n\r\n").await?;
        let mut text = String::new();
        stream.read_to_string(&mut text).await?;
        let series = text.lines().filter(|line| {
            line.strip_prefix(family).is_some_and(|rest| rest.starts_with('{') || rest.starts_with(' '))
        });
        let values: Vec<f64> =
            series.filter_map(|line| line.rsplit_once(' ').and_then(|(_, value)| value.parse().ok())).collect();
        if values.is_empty() {
            bail!("{} does not show {family}", self.name);
        }
        Ok(values.iter().sum())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
