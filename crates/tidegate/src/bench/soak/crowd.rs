//! Connections that stay, as a proxy or a household has them: mostly idle, with a word now and then, which has to come back.

use super::connections::{PATIENCE, Tally};
use anyhow::{Context, Result, ensure};
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tidegate_lab::{EmulatedHosts, IpVersion, Namespace};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;
use tokio::time::timeout;

/// Ports of the server, of each version of IP: each has room for as many connections as a client has ports.
const PORTS: usize = 8;

/// Connections of a host that open or close at once.
const AT_ONCE: usize = 64;

/// Between two words of a connection, on average.
const IDLE: Duration = Duration::from_secs(500);

/// Descriptors that others need.
const OTHERS: u64 = 4096;

type Word = [u8; 8];

/// The server of the crowd, and how large that is to be.
pub struct Crowd {
    listeners: Vec<std::net::TcpListener>,
    addresses: Vec<SocketAddr>,
    over: watch::Sender<bool>,
}

impl Crowd {
    /// Listens on `host`; so many connections are to come.
    pub fn new(host: &Namespace, connections: usize) -> Result<Self> {
        allow_descriptors(2 * connections as u64 + OTHERS)?;
        let listeners = host.run(|| {
            let versions = [IpVersion::V4, IpVersion::V6];
            let versions = versions.iter().cycle().take(2 * PORTS);
            let all: Result<Vec<_>> = versions.map(|&version| listen(version)).collect();
            all
        })?;
        let addresses: Result<_, std::io::Error> =
            listeners.iter().map(|l| l.local_addr()).collect();
        Ok(Self {
            addresses: addresses?,
            listeners,
            over: watch::Sender::new(false),
        })
    }

    /// Each says its last word and leaves.
    pub fn end(&self) {
        self.over.send_replace(true);
    }

    /// Answers, on `host`, until `gone`.
    pub fn serve(&self, host: &Namespace, mut gone: watch::Receiver<bool>) -> Result<()> {
        on(host, async {
            for listener in &self.listeners {
                tokio::spawn(accept(TcpListener::from_std(listener.try_clone()?)?));
            }
            gone.wait_for(|gone| *gone).await?;
            Ok(())
        })
    }

    /// So many connections from `host`, until the end.
    pub fn stay(&self, host: &Namespace, connections: usize, tally: &Arc<Tally>) -> Result<()> {
        on(host, async {
            let at_once = Arc::new(Semaphore::new(AT_ONCE));
            let mut all = JoinSet::new();
            for n in 0..connections {
                let to = self.addresses[n % self.addresses.len()];
                let (at_once, tally) = (Arc::clone(&at_once), Arc::clone(tally));
                let over = self.over.subscribe();
                all.spawn(async move {
                    if let Err(error) = be_idle(n as u64, to, &at_once, over, &tally).await {
                        tally.note(&error.context("a connection that stays"));
                    }
                });
            }
            while let Some(ended) = all.join_next().await {
                ended.context("a connection that stays")?;
            }
            Ok(())
        })
    }
}

fn allow_descriptors(wanted: u64) -> Result<()> {
    let (soft, hard) = getrlimit(Resource::RLIMIT_NOFILE)?;
    if soft >= wanted {
        return Ok(());
    }
    setrlimit(Resource::RLIMIT_NOFILE, wanted, wanted.max(hard))
        .with_context(|| format!("cannot have {wanted} descriptors"))
}

fn listen(version: IpVersion) -> Result<std::net::TcpListener> {
    let address = SocketAddr::new(EmulatedHosts::server_address(version), 0);
    let listener = std::net::TcpListener::bind(address).context("the server cannot listen")?;
    listener.set_nonblocking(true)?;
    Ok(listener)
}

fn on<T>(host: &Namespace, work: impl Future<Output = Result<T>>) -> Result<T> {
    host.enter()?;
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    runtime.enable_all().build()?.block_on(work)
}

async fn accept(listener: TcpListener) {
    loop {
        if let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(echo(stream));
        }
    }
}

/// Ends when its client does; what goes wrong, that one says.
async fn echo(mut stream: TcpStream) -> std::io::Result<()> {
    let mut word = Word::default();
    loop {
        stream.read_exact(&mut word).await?;
        stream.write_all(&word).await?;
    }
}

async fn be_idle(
    seed: u64,
    to: SocketAddr,
    at_once: &Semaphore,
    mut over: watch::Receiver<bool>,
    tally: &Tally,
) -> Result<()> {
    let mut random = Pcg64Mcg::seed_from_u64(seed);
    let opening = at_once.acquire().await?;
    if *over.borrow() {
        return Ok(());
    }
    let mut stream = timeout(PATIENCE, TcpStream::connect(to))
        .await
        .map_err(std::io::Error::from)?
        .context("cannot connect")?;
    stream.set_nodelay(true)?;
    say(&mut stream, random.random()).await?;
    drop(opening);
    tally.staying.fetch_add(1, Ordering::Relaxed);
    loop {
        let pause = IDLE.mul_f64(2.0 * random.random::<f64>());
        if timeout(pause, over.wait_for(|over| *over)).await.is_ok() {
            break;
        }
        say(&mut stream, random.random()).await?;
        tally.words.fetch_add(1, Ordering::Relaxed);
    }
    let _closing = at_once.acquire().await?;
    say(&mut stream, random.random()).await?;
    tally.stayed.fetch_add(1, Ordering::Relaxed);
    Ok(())
}

async fn say(stream: &mut TcpStream, word: Word) -> Result<()> {
    let mut answer = Word::default();
    stream.write_all(&word).await.context("cannot send")?;
    timeout(PATIENCE, stream.read_exact(&mut answer))
        .await
        .map_err(std::io::Error::from)
        .context("no answer")?
        .context("cannot receive")?;
    ensure!(answer == word, "{answer:02x?} came back for {word:02x?}");
    Ok(())
}
