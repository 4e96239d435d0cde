//! A `redis-server` of one's own: unix socket, temporary directory, ended with its owner.

use crate::clock::Clock;
use crate::model::Micros;
use anyhow::{Context, bail};
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// How long a server may take to answer; a loaded machine is slow, a broken server never does.
const START_MAX: Micros = Micros::from_secs(30);

/// A running `redis-server` that only this process's user can reach. Ended, with its directory, when dropped.
#[derive(Debug)]
pub struct PrivateRedis {
    child: Option<Child>,
    arguments: Vec<String>,
    directory: tempfile::TempDir,
}

impl PrivateRedis {
    /// Whether there is a `redis-server` on the PATH.
    pub fn available() -> bool {
        let probe = Command::new("redis-server").arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
        probe.is_ok_and(|status| status.success())
    }

    /// Starts one without persistence and waits until it answers.
    ///
    /// # Errors
    /// When there is no `redis-server`, or it does not answer within half a minute; the error holds its last words.
    pub fn start() -> anyhow::Result<Self> {
        Self::start_with(&["--save", "", "--appendonly", "no"])
    }

    /// Starts one with further arguments, as `redis-server` takes them (`--maxmemory 8mb`). Persistence is as they say.
    ///
    /// # Errors
    /// As [`PrivateRedis::start`].
    pub fn start_with(arguments: &[&str]) -> anyhow::Result<Self> {
        let directory = tempfile::Builder::new().prefix("tq-redis-").tempdir().context("no temporary directory")?;
        let arguments = arguments.iter().map(|argument| (*argument).to_owned()).collect();
        let mut redis = PrivateRedis { child: None, arguments, directory };
        redis.resume()?;
        Ok(redis)
    }

    /// Starts the server again, in the same directory, after [`PrivateRedis::kill`].
    ///
    /// # Errors
    /// As [`PrivateRedis::start`].
    pub fn resume(&mut self) -> anyhow::Result<()> {
        let _ = std::fs::remove_file(self.socket());
        let log = std::fs::File::create(self.directory.path().join("log"))?;
        let child = Command::new("redis-server")
            .args(["--port", "0", "--unixsocketperm", "700", "--daemonize", "no", "--unixsocket"])
            .arg(self.socket())
            .arg("--dir")
            .arg(self.directory.path())
            .args(&self.arguments)
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log)
            .spawn()
            .context("redis-server cannot be started; is it on the PATH?")?;
        self.child = Some(child);
        self.wait_until_it_answers()
    }

    fn wait_until_it_answers(&mut self) -> anyhow::Result<()> {
        let clock = Clock::real();
        let until = clock.now() + START_MAX;
        while !answers(&self.socket()) {
            let exited = self.child.as_mut().and_then(|child| child.try_wait().ok().flatten());
            if exited.is_some() || clock.now() > until {
                let log = std::fs::read_to_string(self.directory.path().join("log")).unwrap_or_default();
                let tail: Vec<&str> = log.lines().rev().take(5).collect();
                bail!("redis-server does not answer ({exited:?}): {}", tail.join(" / "));
            }
            async_io::block_on(clock.sleep(Micros::from_millis(2)));
        }
        Ok(())
    }

    /// Where it listens, for [`crate::config::RedisConfig::url`].
    pub fn url(&self) -> String {
        format!("redis+unix://{}", self.socket().display())
    }

    /// The socket, for `redis-cli -s`.
    pub fn socket(&self) -> PathBuf {
        self.directory.path().join("s")
    }

    /// The server's directory.
    pub fn directory(&self) -> &Path {
        self.directory.path()
    }

    /// The server's process, while it runs.
    pub fn pid(&self) -> Option<u32> {
        self.child.as_ref().map(Child::id)
    }

    /// Ends the server at once, as a crash would.
    pub fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

impl Drop for PrivateRedis {
    fn drop(&mut self) {
        self.kill();
    }
}

fn answers(socket: &Path) -> bool {
    let ask = || -> std::io::Result<bool> {
        let mut stream = UnixStream::connect(socket)?;
        stream.set_read_timeout(Some(Micros::from_secs(1).to_duration()))?;
        stream.write_all(b"PING\r\n")?;
        let mut answer = [0; 5];
        stream.read_exact(&mut answer)?;
        // A server with a password answers -NOAUTH; it is there all the same. One that loads its data is not ready.
        Ok(&answer == b"+PONG" || &answer == b"-NOAU")
    };
    ask().unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_answers_until_it_is_dropped() {
        if !PrivateRedis::available() {
            println!("skipped: no redis-server on the PATH");
            return;
        }
        let redis = PrivateRedis::start().unwrap();
        let socket = redis.socket();
        assert!(answers(&socket));
        drop(redis);
        assert!(!answers(&socket) && !socket.exists());
    }
}
