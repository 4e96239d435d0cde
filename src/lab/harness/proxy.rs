//! A TCP proxy that goes bad: between a process and its store, or between a store and its replicas.

use anyhow::Context;
use std::path::PathBuf;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream, UnixStream};
use tokio::sync::watch;
use tokio_util::task::AbortOnDropHandle;

/// How a proxy treats its connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Link {
    /// Everything passes.
    Whole,
    /// Nothing passes and nobody is told: connections stay open, new ones too, as on a network that drops packets. What
    /// was sent arrives when the link is whole again, if its connection still stands.
    BlackHole,
    /// Connections are reset, new ones too.
    Reset,
}

/// What a proxy connects to.
#[derive(Debug, Clone)]
pub enum Target {
    /// `host:port`.
    Tcp(String),
    /// A unix socket.
    Unix(PathBuf),
}

/// A listening proxy on loopback; ends, with its connections, when dropped.
#[derive(Debug)]
pub struct Proxy {
    port: u16,
    link: watch::Sender<Link>,
    _accepting: AbortOnDropHandle<()>,
}

impl Proxy {
    /// Listens on a free port of loopback; the link is whole.
    ///
    /// # Errors
    /// When it cannot listen.
    pub async fn start(target: Target) -> anyhow::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await.context("no port for a proxy")?;
        let port = listener.local_addr()?.port();
        let (link, seen) = watch::channel(Link::Whole);
        let accepting = AbortOnDropHandle::new(tokio::spawn(accept(listener, target, seen)));
        Ok(Proxy { port, link, _accepting: accepting })
    }

    /// Its port on loopback.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// From now on connections are treated so.
    pub fn set(&self, link: Link) {
        self.link.send_replace(link);
    }
}

async fn accept(listener: TcpListener, target: Target, link: watch::Receiver<Link>) {
    // Dropped with this task, and all connections with it.
    let mut connections = tokio::task::JoinSet::new();
    while let Ok((client, _)) = listener.accept().await {
        let _ = client.set_nodelay(true);
        connections.spawn(carry(client, target.clone(), link.clone()));
        while connections.try_join_next().is_some() {}
    }
}

/// One connection, until either side ends it or the link resets.
async fn carry(mut client: TcpStream, target: Target, mut link: watch::Receiver<Link>) {
    // A new connection on a dead link is accepted by the kernel and waits.
    let reset = link.wait_for(|link| *link != Link::BlackHole).await.is_ok_and(|link| *link == Link::Reset);
    if !reset {
        let cut = async |mut link: watch::Receiver<Link>| link.wait_for(|link| *link == Link::Reset).await.is_ok();
        let carrying = async {
            let (mut from, mut to) = client.split();
            match target {
                Target::Tcp(address) => {
                    let Ok(mut server) = TcpStream::connect(address).await else { return };
                    let _ = server.set_nodelay(true);
                    let (mut read, mut write) = server.split();
                    both(pass(&mut from, &mut write, link.clone()), pass(&mut read, &mut to, link.clone())).await;
                }
                Target::Unix(path) => {
                    let Ok(mut server) = UnixStream::connect(path).await else { return };
                    let (mut read, mut write) = server.split();
                    both(pass(&mut from, &mut write, link.clone()), pass(&mut read, &mut to, link.clone())).await;
                }
            }
        };
        tokio::select! {
            biased;
            _ = cut(link.clone()) => {}
            () = carrying => {}
        }
    }
    // A reset, not an orderly end: what was on its way is lost.
    let _ = client.set_zero_linger();
}

/// Until the first of two directions ends.
async fn both(there: impl Future<Output = ()>, back: impl Future<Output = ()>) {
    tokio::select! {
        biased;
        () = there => {}
        () = back => {}
    }
}

/// Passes bytes on while the link is whole; holds them while it is a black hole.
async fn pass(
    from: &mut (impl AsyncRead + Unpin),
    to: &mut (impl AsyncWrite + Unpin),
    mut link: watch::Receiver<Link>,
) {
    let mut bytes = vec![0; 16 * 1024];
    loop {
        let Ok(count) = from.read(&mut bytes).await else { return };
        if link.wait_for(|link| *link == Link::Whole).await.is_err() || count == 0 {
            return;
        }
        if to.write_all(&bytes[..count]).await.is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn echo() -> (String, AbortOnDropHandle<()>) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let serving = tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                tokio::spawn(async move {
                    let (mut read, mut write) = stream.split();
                    let _ = tokio::io::copy(&mut read, &mut write).await;
                });
            }
        });
        (address, AbortOnDropHandle::new(serving))
    }

    #[tokio::test]
    async fn it_passes_holds_and_resets() {
        let (address, _echo) = echo().await;
        let proxy = Proxy::start(Target::Tcp(address)).await.unwrap();
        let mut client = TcpStream::connect(("127.0.0.1", proxy.port())).await.unwrap();
        let mut byte = [0];
        client.write_all(b"a").await.unwrap();
        client.read_exact(&mut byte).await.unwrap();
        proxy.set(Link::BlackHole);
        client.write_all(b"b").await.unwrap();
        let mut late = TcpStream::connect(("127.0.0.1", proxy.port())).await.unwrap();
        late.write_all(b"c").await.unwrap();
        let clock = crate::clock::Clock::real();
        let silent = clock.timeout(crate::model::Micros::from_millis(100), client.read_exact(&mut byte)).await;
        assert!(silent.is_err(), "nothing comes out of a black hole");
        proxy.set(Link::Whole);
        client.read_exact(&mut byte).await.unwrap();
        assert_eq!(&byte, b"b");
        late.read_exact(&mut byte).await.unwrap();
        assert_eq!(&byte, b"c");
        proxy.set(Link::Reset);
        assert!(client.read_exact(&mut byte).await.is_err());
        let mut refused = TcpStream::connect(("127.0.0.1", proxy.port())).await.unwrap();
        assert!(refused.read_exact(&mut byte).await.is_err());
    }
}
