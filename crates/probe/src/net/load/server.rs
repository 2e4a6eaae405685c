//! The server's side: a thread for each connection, within the session's budget.

use super::super::budget::{Budget, take};
use super::super::seal::{Key, TAG, Window};
use super::super::socket::now;
use super::{FRAME, PASS_BYTES, Purpose, Wanted, is_patience, prepare, write_while};
use nix::sys::socket::{MsgFlags, recv};
use std::collections::HashMap;
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;
use tidegate_time::Instant;

/// Connections at a time, of all sessions: twice what a client's load and probes need, and memory for as many.
const CONNECTIONS: usize = 96;

/// Who has not shown a pass by then is turned away: on a full link it may be lost twice.
const PASS_TIME: Duration = Duration::from_secs(10);

/// How often it is looked for connections, and for the end.
const ACCEPT_EVERY: Duration = Duration::from_millis(5);

/// The sessions that may open connections.
pub type Passes = Mutex<HashMap<[u8; 8], Arc<Pass>>>;

/// What connections of a session need to know of it.
#[derive(Debug)]
pub struct Pass {
    key: Key,
    budget: Arc<Budget>,
    max_bps: f64,
    seen: Mutex<Window>,
    /// Bytes that are left of each load.
    loads: Mutex<HashMap<u8, Arc<AtomicU64>>>,
    /// When the next frame may leave.
    next_at: Mutex<Instant>,
    over: AtomicBool,
}

impl Pass {
    /// Of the session with that key.
    pub fn new(key: Key, budget: Arc<Budget>, max_bps: f64) -> Self {
        Self {
            key,
            budget,
            max_bps,
            seen: Mutex::default(),
            loads: Mutex::default(),
            next_at: Mutex::new(now()),
            over: false.into(),
        }
    }

    /// The session has ended: its connections do.
    pub fn end(&self) {
        self.over.store(true, Relaxed);
    }

    /// Whether that pass is this session's, and new.
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

    /// How long a frame has to wait, for all connections together to keep to the rate.
    fn pace(&self) -> Duration {
        let lasts = Duration::from_secs_f64(FRAME as f64 * 8.0 / self.max_bps);
        let mut next_at = locked(&self.next_at);
        let at = (*next_at).max(now());
        *next_at = at + lasts;
        at - now()
    }
}

fn locked<T>(shared: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Takes connections until `stop` is set; `refused` counts those without a pass.
pub fn accept(listener: &TcpListener, passes: &Passes, refused: &AtomicU64, stop: &AtomicBool) {
    let open = AtomicUsize::new(0);
    thread::scope(|scope| {
        while !stop.load(Relaxed) {
            let Ok((stream, _)) = listener.accept() else {
                thread::sleep(ACCEPT_EVERY);
                continue;
            };
            if open.load(Relaxed) >= CONNECTIONS {
                refused.fetch_add(1, Relaxed);
                continue;
            }
            open.fetch_add(1, Relaxed);
            let open = &open;
            scope.spawn(move || {
                // A connection that breaks is the client's to notice.
                if let Ok(false) = serve(stream, passes, stop) {
                    refused.fetch_add(1, Relaxed);
                }
                open.fetch_sub(1, Relaxed);
            });
        }
    });
}

/// One connection: whether its pass was good.
fn serve(mut stream: TcpStream, passes: &Passes, stop: &AtomicBool) -> io::Result<bool> {
    // Accepted of a listener that does not block, which it may have from it.
    stream.set_nonblocking(false)?;
    stream.set_read_timeout(Some(PASS_TIME))?;
    let mut shown = [0; PASS_BYTES];
    if stream.read_exact(&mut shown).is_err() {
        return Ok(false);
    }
    let Some(wanted) = Wanted::read(&shown) else {
        return Ok(false);
    };
    let pass = locked(passes).get(&wanted.id).map(Arc::clone);
    let Some(pass) = pass.filter(|pass| pass.admits(&shown, &wanted)) else {
        return Ok(false);
    };
    prepare(&stream)?;
    let goes_on = || !stop.load(Relaxed) && !pass.over.load(Relaxed);
    match wanted.purpose {
        Purpose::Probe => stream.write_all(&[0])?,
        Purpose::Down => send(stream, &pass, &pass.left_of(&wanted), goes_on)?,
        Purpose::Up => take_in(stream, goes_on)?,
    }
    Ok(true)
}

/// Frames, as many as may be sent.
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
            Ok(questions) => frame[0] = frame[0].wrapping_add(questions as u8),
            Err(nix::Error::EAGAIN) => {}
            Err(e) => return Err(e.into()),
        }
        if !take(left, FRAME as u64) || !pass.budget.take(FRAME as u64) {
            return end(stream, goes_on);
        }
        thread::sleep(pass.pace());
        if !write_while(&mut stream, &frame, &goes_on)? {
            return Ok(());
        }
    }
    Ok(())
}

/// No more is sent. What the client asks yet is taken, or the kernel would reset the connection and lose what is on the way.
fn end(mut stream: TcpStream, goes_on: impl Fn() -> bool) -> io::Result<()> {
    stream.shutdown(Shutdown::Write)?;
    let mut asked = [0; 256];
    while goes_on() {
        match stream.read(&mut asked) {
            Ok(0) => return Ok(()),
            Ok(_) => {}
            Err(e) if is_patience(&e) => {}
            Err(e) => return Err(e),
        }
    }
    Ok(())
}

/// Takes frames, and answers each.
fn take_in(mut stream: TcpStream, goes_on: impl Fn() -> bool) -> io::Result<()> {
    let mut buffer = vec![0; 16 * FRAME];
    let mut part = 0;
    while goes_on() {
        match stream.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(length) => part += length,
            Err(e) if is_patience(&e) => continue,
            Err(e) => return Err(e),
        }
        let answers = vec![0; part / FRAME];
        part %= FRAME;
        if !write_while(&mut stream, &answers, &goes_on)? {
            return Ok(());
        }
    }
    Ok(())
}
