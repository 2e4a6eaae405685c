//! The client's side: connections that load one direction, and probes on them and beside them.

use super::super::budget::take;
use super::super::client::Direction;
use super::super::seal::Key;
use super::super::socket::now;
use super::connect::connect_while;
use super::journal::Journal;
use super::{FRAME, PASS_BYTES, Purpose, Wanted, abort, is_transient, prepare, write_while};
use crate::analysis::responsiveness::Kind;
use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;
use tidegate_basics::time::Instant;

/// How often each connection gets a request, and each of the probers beside them opens a connection: sixteen and eight
/// in two seconds, which take a twentieth of 0.65 Mbit/s (the draft's `PTC`).
const PROBE_EVERY: Duration = Duration::from_millis(500);
const PROBERS: usize = 4;

/// How long to wait before a broken connection is opened anew.
const RETRY_AFTER: Duration = Duration::from_millis(500);

/// A running load; it ends when this is dropped.
#[derive(Debug)]
pub struct Load {
    shared: Arc<Shared>,
    direction: Direction,
    connections: Vec<JoinHandle<()>>,
}

/// State that its threads share.
#[derive(Debug)]
struct Shared {
    server: SocketAddr,
    id: [u8; 8],
    key: Key,
    counter: Arc<AtomicU64>,
    load: u8,
    /// Bytes that it may cost, and those that are left.
    bytes: u64,
    left: AtomicU64,
    carried: AtomicU64,
    /// Bytes of an upload that have not been answered.
    under_way: AtomicU64,
    journal: Journal,
    streams: Mutex<Vec<TcpStream>>,
    over: AtomicBool,
}

impl Load {
    /// A load of that session, with probes beside it and without a connection yet. `load` is its number, and `bytes` is
    /// what it may cost.
    pub fn new(
        server: SocketAddr,
        (id, key): ([u8; 8], Key),
        counter: &Arc<AtomicU64>,
        (direction, load): (Direction, u8),
        bytes: u64,
    ) -> Self {
        let shared = Arc::new(Shared {
            server,
            id,
            key,
            counter: Arc::clone(counter),
            load,
            bytes,
            left: bytes.into(),
            carried: 0.into(),
            under_way: 0.into(),
            journal: Journal::new(now()),
            streams: Mutex::default(),
            over: false.into(),
        });
        for _ in 0..PROBERS {
            let shared = Arc::clone(&shared);
            // Not joined: the last connection may take long to open.
            thread::spawn(move || shared.probe_beside());
        }
        Self {
            shared,
            direction,
            connections: Vec::new(),
        }
    }

    /// Adds a connection.
    pub fn add(&mut self) {
        let shared = Arc::clone(&self.shared);
        let carry = match self.direction {
            Direction::Down => Shared::download,
            Direction::Up => Shared::upload,
        };
        self.connections
            .push(thread::spawn(move || shared.run(carry)));
    }

    /// Connections so far.
    pub fn connections(&self) -> usize {
        self.connections.len()
    }

    /// Bytes carried since the last call.
    pub fn carried(&self) -> u64 {
        self.shared.carried.swap(0, Relaxed)
    }

    /// Bytes that it cost.
    pub fn bytes(&self) -> u64 {
        self.shared.bytes - self.shared.left.load(Relaxed)
    }

    /// Whether its bytes are spent.
    pub fn is_spent(&self) -> bool {
        self.shared.left.load(Relaxed) < FRAME as u64
    }

    /// Whether its bytes are spent, and all of them have arrived.
    pub fn has_arrived(&self) -> bool {
        self.is_spent() && self.shared.under_way.load(Relaxed) == 0
    }

    /// The requests, answers and failures so far.
    pub fn journal(&self) -> &Journal {
        &self.shared.journal
    }
}

/// Gives up the data that wait to be sent: at a low rate they would keep the link busy for minutes.
impl Drop for Load {
    fn drop(&mut self) {
        self.shared.over.store(true, Relaxed);
        for stream in std::mem::take(&mut *locked(&self.shared.streams)) {
            abort(&stream);
        }
        for connection in self.connections.drain(..) {
            let _ = connection.join();
        }
    }
}

impl Shared {
    fn goes_on(&self) -> bool {
        !self.over.load(Relaxed)
    }

    /// Repeats `what` until it succeeds, and notes why it failed, unless the load has ended. On a slow link a pass may
    /// reach the server too late, and a connection may break.
    fn run(&self, what: fn(&Self) -> io::Result<()>) {
        while let Err(e) = what(self) {
            if !self.goes_on() {
                return;
            }
            self.journal.failed(&e);
            thread::sleep(RETRY_AFTER);
        }
    }

    fn show_pass(&self, stream: &mut TcpStream, purpose: Purpose) -> io::Result<()> {
        let wanted = Wanted {
            id: self.id,
            counter: self.counter.fetch_add(1, Relaxed) + 1,
            purpose,
            load: self.load,
            bytes: self.bytes,
        };
        let pass = wanted.seal(&self.key);
        debug_assert_eq!(pass.len(), PASS_BYTES);
        stream.write_all(&pass)
    }

    /// Opens one connection after the other. One that fails is not an answer.
    fn probe_beside(&self) {
        while self.goes_on() {
            let begun = now();
            if let Err(e) = self.probe()
                && self.goes_on()
            {
                self.journal.failed(&e);
            }
            thread::sleep(PROBE_EVERY.saturating_sub(now() - begun));
        }
    }

    fn probe(&self) -> io::Result<()> {
        let mut stream = self.ask(Kind::Connect, || self.connect())?;
        self.ask(Kind::Request, || {
            prepare(&stream)?;
            self.show_pass(&mut stream, Purpose::Probe)?;
            loop {
                match stream.read_exact(&mut [0]) {
                    Err(e) if is_transient(&e) && self.goes_on() => {}
                    answered => return answered,
                }
            }
        })
    }

    /// Sends a probe, which is answered when it has succeeded.
    fn ask<T>(&self, kind: Kind, probe: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
        let asked = self.journal.ask(kind);
        let answer = probe();
        match &answer {
            Ok(_) => self.journal.answer(kind, asked),
            Err(_) => self.journal.give_up(kind, asked),
        }
        answer
    }

    fn connect(&self) -> io::Result<TcpStream> {
        connect_while(self.server, || self.goes_on())
    }

    /// A connection that carries load; it ends with the load.
    fn open(&self, purpose: Purpose) -> io::Result<TcpStream> {
        let mut stream = self.connect()?;
        locked(&self.streams).push(stream.try_clone()?);
        self.show_pass(&mut stream, purpose)?;
        prepare(&stream)?;
        Ok(stream)
    }

    /// One thread takes frames, another sends requests.
    fn download(&self) -> io::Result<()> {
        let mut stream = self.open(Purpose::Down)?;
        let mut asking = stream.try_clone()?;
        let asked = Asked::default();
        thread::scope(|scope| {
            let asker = scope.spawn(|| {
                while self.goes_on() {
                    locked(&asked).push_back(Some(self.journal.ask(Kind::Own)));
                    if asking.write_all(&[0]).is_err() {
                        return;
                    }
                    thread::park_timeout(PROBE_EVERY);
                }
            });
            let taken = self.take_frames(&mut stream, &asked);
            self.forget(&asked);
            let _ = stream.shutdown(Shutdown::Both);
            asker.thread().unpark();
            taken
        })
    }

    fn take_frames(&self, stream: &mut TcpStream, asked: &Asked) -> io::Result<()> {
        let mut buffer = vec![0; 16 * FRAME];
        let (mut taken, mut answered) = (0, 0u8);
        while self.goes_on() {
            let length = match stream.read(&mut buffer) {
                Ok(0) => return Ok(()),
                Ok(length) => length,
                Err(e) if is_transient(&e) => continue,
                Err(e) => return Err(e),
            };
            let first = (FRAME - taken % FRAME) % FRAME;
            for at in (first..length).step_by(FRAME) {
                let more = buffer[at].wrapping_sub(answered);
                answered = buffer[at];
                self.note_answers(asked, more.into());
            }
            taken += length;
            self.carried.fetch_add(length as u64, Relaxed);
            self.journal.hear();
            // The server observes the limit; the client counts what has arrived.
            take(&self.left, (length as u64).min(self.left.load(Relaxed)));
        }
        Ok(())
    }

    /// One thread sends frames, another takes answers.
    fn upload(&self) -> io::Result<()> {
        let mut stream = self.open(Purpose::Up)?;
        let mut answers = stream.try_clone()?;
        let asked = Asked::default();
        let open = AtomicBool::new(true);
        thread::scope(|scope| {
            scope.spawn(|| {
                let _closes = Closes(&open);
                let mut buffer = [0; 64];
                while self.goes_on() {
                    match answers.read(&mut buffer) {
                        Ok(0) => return,
                        Ok(count) => {
                            let arrived = (self.note_answers(&asked, count) * FRAME) as u64;
                            self.under_way.fetch_sub(arrived, Relaxed);
                            self.carried.fetch_add(arrived, Relaxed);
                            self.journal.hear();
                        }
                        Err(e) if is_transient(&e) => {}
                        Err(_) => return,
                    }
                }
            });
            let sent = self.send_frames(&mut stream, &asked);
            // The last request is answered last.
            while sent.is_ok() && self.goes_on() && open.load(Relaxed) && !locked(&asked).is_empty()
            {
                thread::sleep(RETRY_AFTER / 10);
            }
            let _ = stream.shutdown(Shutdown::Both);
            let lost = self.forget(&asked);
            self.under_way.fetch_sub((lost * FRAME) as u64, Relaxed);
            sent
        })
    }

    fn send_frames(&self, stream: &mut TcpStream, asked: &Asked) -> io::Result<()> {
        let frame = vec![0; FRAME];
        let mut ask_at = now();
        while self.goes_on() && take(&self.left, FRAME as u64) {
            let at = now();
            let asks = at >= ask_at;
            if asks {
                ask_at = at + PROBE_EVERY;
            }
            locked(asked).push_back(asks.then(|| self.journal.ask(Kind::Own)));
            self.under_way.fetch_add(FRAME as u64, Relaxed);
            if !write_while(stream, &frame, || self.goes_on())? {
                return Ok(());
            }
        }
        Ok(())
    }

    /// A connection is gone, and with it its requests, which show nothing about the link's delay. Returns their number.
    fn forget(&self, asked: &Asked) -> usize {
        let gone: Vec<_> = locked(asked).drain(..).collect();
        for at in gone.iter().flatten() {
            self.journal.give_up(Kind::Own, *at);
        }
        gone.len()
    }

    /// `count` requests were answered, in their order.
    fn note_answers(&self, asked: &Asked, count: usize) -> usize {
        let mut asked = locked(asked);
        let answered = count.min(asked.len());
        for at in asked.drain(..answered).flatten() {
            self.journal.answer(Kind::Own, at);
        }
        answered
    }
}

/// Marks a connection as closed when dropped.
struct Closes<'a>(&'a AtomicBool);

impl Drop for Closes<'_> {
    fn drop(&mut self) {
        self.0.store(false, Relaxed);
    }
}

/// The requests that wait on a connection, in order, each with the time when it was sent if it is a probe.
type Asked = Mutex<VecDeque<Option<Instant>>>;

fn locked<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}
