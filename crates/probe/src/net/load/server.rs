//! The server's side: a thread for each connection, within the session's budget.

use super::super::budget::{Budget, take};
use super::super::seal::{Key, TAG, Window};
use super::super::socket::now;
use super::{FRAME, PASS_BYTES, Purpose, Wanted, is_transient, prepare, sleep_while, write_while};
use nix::sys::socket::{MsgFlags, recv};
use std::collections::HashMap;
use std::io::{self, Read};
use std::net::{IpAddr, Shutdown, TcpListener, TcpStream};
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;
use tidegate_admission::{Bounds, Place, Places, read_exact_until};
use tidegate_basics::time::Instant;

/// Connections that have not shown a pass yet: a client opens twenty.
const STRANGERS: Bounds = Bounds {
    all: 64,
    network: 32,
};

/// The most connections of a session at a time: twice as many as a client's load and probes need; they take memory.
const CONNECTIONS: usize = 48;

/// A connection without a whole pass by then is closed: on a full link the pass may be lost twice.
const PASS_TIME: Duration = Duration::from_secs(10);

/// The same for a connection from a session's client: behind a queue of many seconds a lost pass is sent again only
/// after three times as many (RFC 6298).
const CLIENTS_PASS_TIME: Duration = Duration::from_secs(120);

/// How often to look for connections, and for the end.
const ACCEPT_EVERY: Duration = Duration::from_millis(5);

/// The sessions that may open connections.
pub type Passes = Mutex<HashMap<[u8; 8], Arc<Pass>>>;

/// The part of a session that its connections need.
#[derive(Debug)]
pub struct Pass {
    key: Key,
    budget: Arc<Budget>,
    seen: Mutex<Window>,
    /// Bytes that are left of each load.
    loads: Mutex<HashMap<u8, Arc<AtomicU64>>>,
    connections: AtomicUsize,
    /// The client's address.
    client: IpAddr,
    /// When one of its connections last received data, in nanoseconds of [`now`].
    heard: AtomicU64,
    over: AtomicBool,
}

impl Pass {
    /// The pass of the session with `key`, whose client is at `client`.
    pub fn new(client: IpAddr, key: Key, budget: Arc<Budget>) -> Self {
        Self {
            key,
            budget,
            seen: Mutex::default(),
            loads: Mutex::default(),
            connections: 0.into(),
            client: client.to_canonical(),
            heard: 0.into(),
            over: false.into(),
        }
    }

    /// When one of its connections last received data.
    pub fn heard(&self) -> Instant {
        Instant::from_nanos(self.heard.load(Relaxed))
    }

    fn hear(&self) {
        self.heard.store(now().as_nanos(), Relaxed);
    }

    /// The session has ended, and so do its connections.
    pub fn end(&self) {
        self.over.store(true, Relaxed);
    }

    /// Whether the pass is this session's, and new.
    fn admits(&self, pass: &[u8; PASS_BYTES], wanted: &Wanted) -> bool {
        let (said, tag) = pass.split_at(PASS_BYTES - TAG);
        self.key.verifies(tag, &[b"tcp", said]) && locked(&self.seen).is_new(wanted.counter)
    }

    fn left_of(&self, wanted: &Wanted) -> Arc<AtomicU64> {
        let mut loads = locked(&self.loads);
        let left = loads
            .entry(wanted.load)
            .or_insert_with(|| Arc::new(wanted.bytes.into()));
        Arc::clone(left)
    }
}

fn locked<T>(shared: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Accepts connections until `stop` is set; `refused` counts those without a pass. A thread that panics sets `stop`.
pub fn accept(listener: &TcpListener, passes: &Passes, refused: &AtomicU64, stop: &AtomicBool) {
    let strangers = Places::new(STRANGERS);
    thread::scope(|scope| {
        while !stop.load(Relaxed) {
            let Ok((stream, _)) = listener.accept() else {
                thread::sleep(ACCEPT_EVERY);
                continue;
            };
            let Ok(place) = strangers.take(&stream) else {
                continue;
            };
            // Without a thread for it, it is closed.
            let _ = thread::Builder::new().spawn_scoped(scope, move || {
                let _panic = StopsByPanic(stop);
                // The client will notice a connection that breaks.
                if let Ok(false) = serve(stream, place, passes, stop) {
                    refused.fetch_add(1, Relaxed);
                }
            });
        }
    });
}

struct StopsByPanic<'a>(&'a AtomicBool);

impl Drop for StopsByPanic<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.store(true, Relaxed);
        }
    }
}

/// Serves one connection; returns whether its pass was valid. It holds its place until it has shown the pass.
fn serve(
    mut stream: TcpStream,
    place: Place,
    passes: &Passes,
    stop: &AtomicBool,
) -> io::Result<bool> {
    // A socket accepted from a non-blocking listener may be non-blocking, too.
    stream.set_nonblocking(false)?;
    let Some((pass, wanted)) = shown(&mut stream, passes) else {
        return Ok(false);
    };
    drop(place);
    let Some(_connection) = Connection::of(&pass) else {
        return Ok(false);
    };
    pass.hear();
    prepare(&stream)?;
    let goes_on = || !stop.load(Relaxed) && !pass.over.load(Relaxed);
    match wanted.purpose {
        Purpose::Probe => drop(answer(&mut stream, &pass, 1, goes_on)?),
        Purpose::Down => send(stream, &pass, &pass.left_of(&wanted), goes_on)?,
        Purpose::Up => take_in(stream, &pass, goes_on)?,
    }
    Ok(true)
}

/// The session whose pass comes in time, and the purpose.
fn shown(stream: &mut TcpStream, passes: &Passes) -> Option<(Arc<Pass>, Wanted)> {
    let mut shown = [0; PASS_BYTES];
    let until = std::time::Instant::now() + pass_time(stream, passes);
    read_exact_until(stream, &mut shown, until).ok()?;
    let wanted = Wanted::read(&shown)?;
    let pass = locked(passes).get(&wanted.id).map(Arc::clone)?;
    pass.admits(&shown, &wanted).then_some((pass, wanted))
}

fn pass_time(stream: &TcpStream, passes: &Passes) -> Duration {
    let peer = stream.peer_addr().map(|peer| peer.ip().to_canonical());
    let is_clients = |peer| locked(passes).values().any(|pass| pass.client == peer);
    match peer.is_ok_and(is_clients) {
        true => CLIENTS_PASS_TIME,
        false => PASS_TIME,
    }
}

/// One of the connections that a session may have.
struct Connection<'a>(&'a Pass);

impl<'a> Connection<'a> {
    fn of(pass: &'a Pass) -> Option<Self> {
        let before = pass.connections.fetch_add(1, Relaxed);
        let connection = Self(pass);
        (before < CONNECTIONS).then_some(connection)
    }
}

impl Drop for Connection<'_> {
    fn drop(&mut self) {
        self.0.connections.fetch_sub(1, Relaxed);
    }
}

/// Sends frames, as many as the budget allows.
fn send(
    mut stream: TcpStream,
    pass: &Pass,
    left: &AtomicU64,
    goes_on: impl Fn() -> bool,
) -> io::Result<()> {
    let mut frame = vec![0u8; FRAME];
    let mut asked = [0; 256];
    while goes_on() {
        match recv(stream.as_raw_fd(), &mut asked, MsgFlags::MSG_DONTWAIT) {
            Ok(0) => return Ok(()),
            Ok(questions) => {
                pass.hear();
                frame[0] = frame[0].wrapping_add(questions as u8);
            }
            Err(nix::Error::EAGAIN) => {}
            Err(e) => return Err(e.into()),
        }
        if !take(left, FRAME as u64) || !pass.budget.take(FRAME as u64) {
            return end(stream, goes_on);
        }
        if !sleep_while(pass.budget.reserve(FRAME as u64), &goes_on) {
            return Ok(());
        }
        if !write_while(&mut stream, &frame, &goes_on)? {
            return Ok(());
        }
    }
    Ok(())
}

/// Stops sending. Still reads the client's requests; otherwise the kernel would reset the connection and lose data in
/// flight.
fn end(mut stream: TcpStream, goes_on: impl Fn() -> bool) -> io::Result<()> {
    stream.shutdown(Shutdown::Write)?;
    let mut asked = [0; 256];
    while goes_on() {
        match stream.read(&mut asked) {
            Ok(0) => return Ok(()),
            Ok(_) => {}
            Err(e) if is_transient(&e) => {}
            Err(e) => return Err(e),
        }
    }
    Ok(())
}

/// Reads frames, and answers each.
fn take_in(mut stream: TcpStream, pass: &Pass, goes_on: impl Fn() -> bool) -> io::Result<()> {
    let mut buffer = vec![0; 16 * FRAME];
    let mut part = 0;
    while goes_on() {
        match stream.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(length) => {
                pass.hear();
                part += length;
            }
            Err(e) if is_transient(&e) => continue,
            Err(e) => return Err(e),
        }
        let frames = part / FRAME;
        part %= FRAME;
        if !answer(&mut stream, pass, frames, &goes_on)? {
            return Ok(());
        }
    }
    Ok(())
}

/// Sends `count` bytes as an answer, as soon as the budget allows; returns whether they were written.
fn answer(
    stream: &mut TcpStream,
    pass: &Pass,
    count: usize,
    goes_on: impl Fn() -> bool,
) -> io::Result<bool> {
    while !pass.budget.take_answer(count as u64) {
        if !goes_on() {
            return Ok(false);
        }
        thread::sleep(ACCEPT_EVERY);
    }
    write_while(stream, &vec![0; count], goes_on)
}
