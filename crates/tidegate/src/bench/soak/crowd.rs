//! Long connections as on a proxy or in a household: mostly idle, with a word now and then that the server must echo.
//!
//! There may be more of them than a process may have descriptors: each part of the crowd has a thread for each end,
//! with its own table of descriptors.

use super::connections::{TIMEOUT, Tally};
use anyhow::{Context, Result, ensure};
use nix::sched::{CloneFlags, unshare};
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use std::future::Future;
use std::net::SocketAddr;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Barrier};
use std::thread::{Scope, ScopedJoinHandle};
use std::time::Duration;
use tidegate_lab::{EmulatedHosts, IpVersion, Namespace};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;
use tokio::time::timeout;

/// Connections of a part.
const PART: usize = 8192;

/// Ports of a part's server, for each IP version.
const PORTS: usize = 2;

/// How many connections of a part and a host open or close at once.
const AT_ONCE: usize = 16;

/// Mean time between two words of a connection.
const IDLE: Duration = Duration::from_secs(500);

/// Descriptors for all other purposes.
const OTHERS: u64 = 2048;

type Word = [u8; 8];

/// The threads that run one end of a part.
type Ends<'scope> = Vec<ScopedJoinHandle<'scope, Result<()>>>;

/// The whole crowd, and the signals to leave.
pub struct Crowd {
    parts: Vec<Part>,
    over: watch::Sender<bool>,
    gone: watch::Sender<bool>,
}

/// The server's end of a part, and the number of its connections.
struct Part {
    listeners: Vec<std::net::TcpListener>,
    addresses: Vec<SocketAddr>,
    connections: usize,
}

impl Crowd {
    /// Listens on `host` for this many connections.
    pub fn new(host: &Namespace, connections: usize) -> Result<Self> {
        allow_descriptors(PART as u64 + OTHERS)?;
        let sizes = (0..connections)
            .step_by(PART)
            .map(|first| PART.min(connections - first));
        Ok(Self {
            parts: sizes
                .map(|connections| Part::new(host, connections))
                .collect::<Result<_>>()?,
            over: watch::Sender::new(false),
            gone: watch::Sender::new(false),
        })
    }

    /// Serves the connections on `server`; half of them come from each of two hosts. Returns once every thread has its
    /// own table of descriptors: a copied descriptor would keep another thread's connection open after its close. The
    /// servers' ends are the first of the two.
    pub fn begin<'scope>(
        &'scope self,
        scope: &'scope Scope<'scope, '_>,
        server: &'scope Namespace,
        homes: [&'scope Namespace; 2],
        tally: &'scope Arc<Tally>,
    ) -> Result<[Ends<'scope>; 2]> {
        let runtimes: Result<Vec<_>> = (0..3 * self.parts.len()).map(|_| runtime()).collect();
        let mut runtimes = runtimes?.into_iter();
        let separate = Arc::new(Barrier::new(runtimes.len() + 1));
        let mut begin = || {
            (
                runtimes.next().expect("one for each"),
                Arc::clone(&separate),
            )
        };
        let [mut serving, mut staying] = [vec![], vec![]];
        for part in &self.parts {
            let (runtime, separate) = begin();
            let work = part.serve(self.gone.subscribe());
            serving.push(scope.spawn(move || apart(&runtime, server, &separate, work)));
            let first = part.connections / 2;
            for (home, half) in homes.into_iter().zip([first, part.connections - first]) {
                let (runtime, separate) = begin();
                let work = part.stay(half, &self.over, tally);
                staying.push(scope.spawn(move || apart(&runtime, home, &separate, work)));
            }
        }
        separate.wait();
        Ok([serving, staying])
    }

    /// Lets each connection send its last word and end.
    pub fn end(&self) {
        self.over.send_replace(true);
    }

    /// All connections have ended: the servers may stop.
    pub fn close(&self) {
        self.gone.send_replace(true);
    }
}

impl Part {
    fn new(host: &Namespace, connections: usize) -> Result<Self> {
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
            connections,
        })
    }

    /// Echoes words until `gone`.
    async fn serve(&self, mut gone: watch::Receiver<bool>) -> Result<()> {
        for listener in &self.listeners {
            tokio::spawn(accept(TcpListener::from_std(listener.try_clone()?)?));
        }
        gone.wait_for(|gone| *gone).await?;
        Ok(())
    }

    /// Keeps this many connections open until the end.
    async fn stay(
        &self,
        connections: usize,
        over: &watch::Sender<bool>,
        tally: &Arc<Tally>,
    ) -> Result<()> {
        let at_once = Arc::new(Semaphore::new(AT_ONCE));
        let mut all = JoinSet::new();
        for n in 0..connections {
            let to = self.addresses[n % self.addresses.len()];
            let (at_once, tally) = (Arc::clone(&at_once), Arc::clone(tally));
            let over = over.subscribe();
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
    }
}

/// Raises the limit of descriptors, which applies to each table.
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

/// Runs in the calling thread, which gets its own table of descriptors. The runtime was made before, because other
/// threads wake it by a descriptor number that must be the same in their table.
fn apart(
    runtime: &Runtime,
    host: &Namespace,
    separate: &Barrier,
    work: impl Future<Output = Result<()>>,
) -> Result<()> {
    let separated = unshare(CloneFlags::CLONE_FILES).context("cannot have own descriptors");
    separate.wait();
    separated?;
    host.enter()?;
    runtime.block_on(work)
}

fn runtime() -> Result<Runtime> {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    runtime
        .enable_all()
        .build()
        .context("cannot have a runtime")
}

async fn accept(listener: TcpListener) {
    loop {
        if let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(echo(stream));
        }
    }
}

/// Ends when its client does; the client reports errors.
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
    let mut stream = timeout(TIMEOUT, TcpStream::connect(to))
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
    timeout(TIMEOUT, stream.read_exact(&mut answer))
        .await
        .map_err(std::io::Error::from)
        .context("no answer")?
        .context("cannot receive")?;
    ensure!(answer == word, "{answer:02x?} came back for {word:02x?}");
    Ok(())
}
