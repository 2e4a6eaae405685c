//! Short connections. Each transfers a number of bytes down, up, or both ways at once. The receiving end checks every
//! byte, and the server confirms it before it closes.

use anyhow::{Context, Result, bail, ensure};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::socket::{setsockopt, sockopt};
use quinn::ConnectionError;
use rand::{Rng, RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::fd::AsFd;
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;
use tidegate_lab::{EmulatedHosts, IpVersion, Namespace, Pattern};

/// A call that blocks longer is stuck. TCP retransmits at most 120 s apart (Linux's TCP_RTO_MAX): until then a
/// connection may only be waiting for the peer's next retransmission after lost ones, above all during a sleep.
pub const TIMEOUT: Duration = Duration::from_secs(130);

/// How many failed connections are described.
const TOLD: usize = 8;

/// Bytes of a connection in one direction, from an icon to a picture; the logarithm is uniformly distributed.
const SMALLEST: f64 = 100.0;
const LARGEST: f64 = 300_000.0;

/// A receive buffer, in bytes, that fills while the reader pauses, and how long it pauses.
const SMALL_BUFFER: usize = 16 << 10;
const PAUSE: Duration = Duration::from_millis(300);

/// In one connection of this many, the reader pauses.
const PAUSES: u32 = 20;

/// How often the server checks whether the test is over.
const POLL_INTERVAL_MS: u8 = 50;

/// Bytes per write.
const CHUNK: usize = 16 << 10;

/// The server's last byte: all data arrived intact.
const INTACT: u8 = 0xa5;

/// Counts of connections.
#[derive(Default)]
pub struct Tally {
    /// Ended as they should.
    pub done: AtomicU64,
    /// Their payload bytes.
    pub bytes: AtomicU64,
    /// How many of them had a reader that paused.
    pub paused: AtomicU64,
    /// Downloads over QUIC that ended as they should.
    pub downloads: AtomicU64,
    /// Those of them whose client moved to another port.
    pub moved: AtomicU64,
    /// With a byte wrong, missing or too many.
    pub damaged: AtomicU64,
    /// Without progress for [`TIMEOUT`].
    pub stuck: AtomicU64,
    /// Failed otherwise.
    pub failed: AtomicU64,
    /// Long connections that were established.
    pub staying: AtomicU64,
    /// Their words that were echoed.
    pub words: AtomicU64,
    /// Long connections that still answered at the end.
    pub stayed: AtomicU64,
    failures: Mutex<Vec<String>>,
}

impl Tally {
    /// How many connections did not end as they should.
    pub fn bad(&self) -> u64 {
        let bad = [&self.damaged, &self.stuck, &self.failed];
        bad.into_iter().map(|n| n.load(Ordering::Relaxed)).sum()
    }

    /// Descriptions of the first [`TOLD`] of them.
    pub fn failures(&self) -> Vec<String> {
        self.failures
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    pub fn note(&self, error: &anyhow::Error) {
        let kind = |cause: &(dyn std::error::Error + 'static)| {
            let system = cause.downcast_ref::<std::io::Error>();
            let quic = cause.downcast_ref::<ConnectionError>();
            let of_quic = |error: &ConnectionError| match error {
                ConnectionError::TimedOut => ErrorKind::TimedOut,
                _ => ErrorKind::Other,
            };
            system.map(std::io::Error::kind).or(quic.map(of_quic))
        };
        let counter = match error.chain().find_map(kind) {
            Some(ErrorKind::WouldBlock | ErrorKind::TimedOut) => &self.stuck,
            Some(_) => &self.failed,
            None => &self.damaged,
        };
        counter.fetch_add(1, Ordering::Relaxed);
        let mut failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        if failures.len() < TOLD {
            failures.push(format!("{error:#}"));
        }
    }
}

/// The server's listening sockets, for IPv4 and IPv6.
pub struct Listeners([TcpListener; 2]);

impl Listeners {
    /// Listens on `host`.
    pub fn new(host: &Namespace) -> Result<Self> {
        let listen = |version| -> Result<TcpListener> {
            let address = SocketAddr::new(EmulatedHosts::server_address(version), 0);
            let listener = TcpListener::bind(address).context("the server cannot listen")?;
            listener.set_nonblocking(true)?;
            Ok(listener)
        };
        let both = host.run(|| Ok([listen(IpVersion::V4)?, listen(IpVersion::V6)?]))?;
        Ok(Self(both))
    }

    /// IPv4 and IPv6 take turns.
    fn address(&self, turn: u64) -> Result<SocketAddr> {
        Ok(self.0[(turn % 2) as usize].local_addr()?)
    }
}

/// What a client requests.
#[derive(Clone, Copy)]
struct Order {
    seed: u64,
    down: u64,
    up: u64,
}

impl Order {
    const BYTES: usize = 24;

    fn random(random: &mut impl Rng) -> Self {
        let mut size = || (SMALLEST * libm::pow(LARGEST / SMALLEST, random.random::<f64>())) as u64;
        let (down, up) = (size(), size());
        let seed = random.random();
        let (down, up) = match random.random_range(0..4) {
            0 => (0, up),
            1 => (down, up),
            _ => (down, 0),
        };
        Self { seed, down, up }
    }

    fn to_bytes(self) -> [u8; Self::BYTES] {
        let words = [self.seed, self.down, self.up].map(u64::to_le_bytes);
        words.concat().try_into().expect("three words")
    }

    fn from_bytes(bytes: [u8; Self::BYTES]) -> Self {
        let word = |i: usize| u64::from_le_bytes(bytes[i..i + 8].try_into().expect("eight bytes"));
        Self {
            seed: word(0),
            down: word(8),
            up: word(16),
        }
    }

    fn patterns(self) -> [Pattern; 2] {
        [self.seed, !self.seed].map(Pattern::new)
    }
}

/// Makes one connection after another from `host` to `server`, until the test is over.
pub fn be_client(
    seed: u64,
    [host, server]: [&Namespace; 2],
    to: &Listeners,
    tally: &Tally,
    over: &AtomicBool,
) -> Result<()> {
    host.enter()?;
    let mut random = Pcg64Mcg::seed_from_u64(seed);
    for turn in seed.. {
        if over.load(Ordering::Relaxed) {
            break;
        }
        let order = Order::random(&mut random);
        let pauses = random.random_ratio(1, PAUSES);
        match order_from(to.address(turn)?, order, pauses, server) {
            Ok(()) => {
                tally.done.fetch_add(1, Ordering::Relaxed);
                tally
                    .bytes
                    .fetch_add(order.down + order.up, Ordering::Relaxed);
                tally.paused.fetch_add(pauses.into(), Ordering::Relaxed);
            }
            Err(error) => tally.note(&error),
        }
    }
    Ok(())
}

fn order_from(to: SocketAddr, order: Order, pauses: bool, server: &Namespace) -> Result<()> {
    let stream = TcpStream::connect_timeout(&to, TIMEOUT).context("cannot connect")?;
    prepare(&stream)?;
    take(&stream, order, pauses).or_else(|error| {
        // Look at both ends while the connection is still open: what are they waiting for?
        let port = stream.local_addr()?.port();
        let ends = [sockets(port), server.run(|| sockets(port))]
            .map(|end| end.unwrap_or_else(|e| e.to_string()));
        Err(error.context(format!(
            "the client has {:?}, the server {:?}",
            ends[0], ends[1]
        )))
    })
}

/// TCP's state on that port as the kernel shows it: windows, timers, retransmissions. A router in between may have kept
/// the port.
fn sockets(port: u16) -> Result<String> {
    let filter = format!("sport = :{port} or dport = :{port}");
    let ss = Command::new("ss")
        .args(["-H", "-tino", "state", "all", &filter])
        .output();
    let ss = ss.context("run ss, of iproute2")?;
    Ok(String::from_utf8_lossy(&ss.stdout)
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" "))
}

fn take(mut stream: &TcpStream, order: Order, pauses: bool) -> Result<()> {
    if pauses {
        setsockopt(stream, sockopt::RcvBuf, &SMALL_BUFFER)?;
    }
    stream
        .write_all(&order.to_bytes())
        .context("cannot order")?;
    if pauses {
        thread::sleep(PAUSE);
    }
    let [down, up] = order.patterns();
    exchange(stream, (up, order.up), (down, order.down)).context("the client")?;
    let mut last = Vec::new();
    stream
        .read_to_end(&mut last)
        .context("the server's last word")?;
    ensure!(last == [INTACT], "the server's last word is {last:02x?}");
    Ok(())
}

/// Serves clients until the test is over.
pub fn serve(listeners: &Listeners, tally: &Tally, over: &AtomicBool) -> Result<()> {
    thread::scope(|scope| {
        while !over.load(Ordering::Relaxed) {
            let mut fds = listeners
                .0
                .each_ref()
                .map(|l| PollFd::new(l.as_fd(), PollFlags::POLLIN));
            poll(&mut fds, PollTimeout::from(POLL_INTERVAL_MS))?;
            for listener in &listeners.0 {
                while let Ok((stream, _)) = listener.accept() {
                    scope.spawn(move || {
                        if let Err(error) = answer(stream) {
                            tally.note(&error);
                        }
                    });
                }
            }
        }
        Ok(())
    })
}

fn answer(mut stream: TcpStream) -> Result<()> {
    stream.set_nonblocking(false)?;
    prepare(&stream)?;
    let mut bytes = [0; Order::BYTES];
    stream.read_exact(&mut bytes).context("an order")?;
    let order = Order::from_bytes(bytes);
    let [down, up] = order.patterns();
    exchange(&stream, (down, order.down), (up, order.up)).context("the server")?;
    stream.write_all(&[INTACT])?;
    Ok(stream.shutdown(Shutdown::Write)?)
}

fn prepare(stream: &TcpStream) -> Result<()> {
    stream.set_read_timeout(Some(TIMEOUT))?;
    stream.set_write_timeout(Some(TIMEOUT))?;
    Ok(stream.set_nodelay(true)?)
}

/// Sends and receives this many bytes of two patterns at once.
fn exchange(stream: &TcpStream, sends: (Pattern, u64), takes: (Pattern, u64)) -> Result<()> {
    if sends.1 == 0 || takes.1 == 0 {
        send(stream, sends)?;
        return receive(stream, takes);
    }
    thread::scope(|scope| {
        let sender = scope.spawn(|| send(stream, sends));
        receive(stream, takes)?;
        sender.join().expect("the sender does not panic")
    })
}

fn send(mut stream: &TcpStream, (pattern, bytes): (Pattern, u64)) -> Result<()> {
    let mut chunk = [0; CHUNK];
    let mut sent = 0;
    while sent < bytes {
        let part = &mut chunk[..CHUNK.min((bytes - sent) as usize)];
        pattern.fill(part, sent);
        stream.write_all(part).context("cannot send")?;
        sent += part.len() as u64;
    }
    Ok(())
}

fn receive(mut stream: &TcpStream, (pattern, bytes): (Pattern, u64)) -> Result<()> {
    let mut chunk = [0; CHUNK];
    let mut received = 0;
    while received < bytes {
        let room = CHUNK.min((bytes - received) as usize);
        let n = stream.read(&mut chunk[..room]).context("cannot receive")?;
        if n == 0 {
            bail!("{received} of {bytes} bytes arrived");
        }
        pattern.check(&chunk[..n], received)?;
        received += n as u64;
    }
    Ok(())
}
