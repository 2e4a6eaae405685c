//! The server: answers clients that have the key, within its budgets.

#[cfg(test)]
mod campaign;
mod greeting;
mod guest;

use super::AT_ONCE;
use super::budget::{Budget, Total};
use super::control::{Control, HELLO, OPEN, read};
use super::load::{Pass, Passes, accept};
use super::seal::{Key, Session, VERSION, session_of};
use super::socket::{Received, Socket, Way, now};
use greeting::{Door, Id, Opening, Question};
use guest::Guest;
use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, PoisonError};
use std::thread;
use std::time::Duration;

/// What a server allows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// The most bit/s that a session is sent.
    pub max_bps: f64,
    /// Bytes that a session may be sent.
    pub session_bytes: u64,
    /// Bytes that all sessions together may be sent, as long as the server runs.
    pub total_bytes: u64,
    /// The most sessions at a time.
    pub sessions: usize,
}

impl Default for Limits {
    /// 100 Mbit/s, 200 MB a session, 10 GB in all, four sessions.
    fn default() -> Self {
        Self {
            max_bps: 100e6,
            session_bytes: 200_000_000,
            total_bytes: 10_000_000_000,
            sessions: 4,
        }
    }
}

/// Counters since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Sessions that were opened.
    pub sessions: u64,
    /// Bytes that sessions were sent: trains, TCP's load and answers, as they count against budgets.
    pub sent_bytes: u64,
    /// Packets that were dropped: forged, replayed, of no session or of another address. Connections without a pass.
    pub refused: u64,
    /// Packets that the system did not send.
    pub unsent: u64,
}

impl Limits {
    /// What is wrong with the limits, if anything.
    fn error(&self) -> Option<&'static str> {
        let possible = self.max_bps.is_finite() && self.max_bps >= LEAST_BPS;
        (!possible).then_some("a session's largest rate is too low, expected 1 kbit/s or more")
    }
}

/// At a lower rate a packet would take seconds.
const LEAST_BPS: f64 = 1e3;

/// The server.
#[derive(Debug)]
pub struct Server {
    socket: Socket,
    /// TCP, at the same address.
    listener: TcpListener,
    door: Door,
    limits: Limits,
    guests: HashMap<Id, Guest>,
    passes: Arc<Passes>,
    total: Arc<Total>,
    sessions: u64,
    refused: Arc<AtomicU64>,
    unsent: u64,
}

impl Server {
    /// A server at `address` for all clients that have `key`.
    ///
    /// # Errors
    /// If the address cannot be bound, or a limit is invalid.
    pub fn bind(address: SocketAddr, key: Key, limits: Limits) -> io::Result<Self> {
        if let Some(error) = limits.error() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, error));
        }
        let (socket, listener) = bind(address)?;
        listener.set_nonblocking(true)?;
        Ok(Self {
            socket,
            listener,
            door: Door::new(key),
            limits,
            guests: HashMap::new(),
            passes: Arc::default(),
            total: Arc::new(Total::new(limits.total_bytes)),
            sessions: 0,
            refused: Arc::default(),
            unsent: 0,
        })
    }

    /// The address at which it listens.
    ///
    /// # Errors
    /// If the kernel does not tell it.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.socket.address()
    }

    /// What happened so far.
    pub fn counters(&self) -> Counters {
        Counters {
            sessions: self.sessions,
            sent_bytes: self.total.sent(),
            refused: self.refused.load(Ordering::Relaxed),
            unsent: self.unsent,
        }
    }

    /// With a rate that no packet can have, which makes its threads panic.
    #[cfg(test)]
    pub(super) fn broken(mut self) -> Self {
        self.limits.max_bps = 0.0;
        self
    }

    /// Serves until `stop` is set.
    ///
    /// # Errors
    /// If no descriptor is left at the start. Later failures of a packet or a connection do not end the server.
    ///
    /// # Panics
    /// If one of its threads panics; all have ended then.
    pub fn run(&mut self, stop: &AtomicBool) -> io::Result<()> {
        let listener = self.listener.try_clone()?;
        let passes = Arc::clone(&self.passes);
        let refused = Arc::clone(&self.refused);
        let over = AtomicBool::new(false);
        thread::scope(|scope| {
            let accepting = scope.spawn(|| {
                let _ends = Ends(&over);
                accept(&listener, &passes, &refused, &over);
            });
            let _ends = Ends(&over);
            while !stop.load(Ordering::Relaxed) && !accepting.is_finished() {
                self.turn();
            }
        });
        Ok(())
    }

    fn turn(&mut self) {
        for _ in 0..AT_ONCE {
            match self.socket.receive() {
                Ok(Some(received)) => self.take(&received),
                Ok(None) => break,
                // As if the packet were lost; if it fails again and again, not at once.
                Err(_) => {
                    thread::sleep(PAUSE);
                    break;
                }
            }
        }
        self.forget();
        self.send();
        if self.socket.wait(self.until_next()).is_err() {
            thread::sleep(PAUSE);
        }
    }

    fn take(&mut self, received: &Received) {
        let way = received.way;
        let answer = match received.bytes.get(..2) {
            _ if !may_be_answered(way.far) => None,
            Some(&[VERSION, HELLO]) => {
                let question = self.door.question(&received.bytes, way.far);
                question.map(|question| self.door.invite(&question))
            }
            Some(&[VERSION, OPEN]) => {
                let question = self.door.question(&received.bytes, way.far);
                question.and_then(|question| self.open(&question, way))
            }
            _ => return self.take_sealed(received),
        };
        match answer {
            Some(answer) => transmit(&self.socket, &mut self.unsent, &answer, way),
            None => self.refuse(),
        }
    }

    fn refuse(&self) {
        self.refused.fetch_add(1, Ordering::Relaxed);
    }

    /// Opens a session for an Open that brings its cookie back. A repeated request gets the same answer, as long as its
    /// session lives, and opens no second one.
    fn open(&mut self, question: &Question, way: Way) -> Option<Vec<u8>> {
        let id = match self.door.open(question)? {
            Opening::Known(id) => id,
            Opening::New(id, key) if self.guests.len() < self.limits.sessions => {
                self.welcome(id, key, way);
                id
            }
            Opening::New(..) | Opening::TooMany => return Some(self.door.turn_away(question)),
        };
        let left = self.guests.get(&id)?.budget.left();
        Some(self.door.welcome(question, id, left, self.limits.max_bps))
    }

    fn welcome(&mut self, id: Id, key: Key, way: Way) {
        let limits = &self.limits;
        let budget = Arc::new(Budget::new(
            limits.session_bytes,
            limits.max_bps,
            &self.total,
        ));
        let pass = Arc::new(Pass::new(way.far.ip(), key, Arc::clone(&budget)));
        self.passes().insert(id, Arc::clone(&pass));
        let session = Session::new(id, key, true);
        self.guests
            .insert(id, Guest::new(way, session, budget, pass));
        self.sessions += 1;
    }

    fn take_sealed(&mut self, received: &Received) {
        let guest = session_of(&received.bytes).and_then(|id| self.guests.get_mut(&id));
        let guest = guest.filter(|guest| guest.way.far == received.way.far);
        let said = guest.and_then(|guest| {
            let inner = guest.session.open(&received.bytes)?;
            Some((read(inner).ok()?, guest))
        });
        let Some((control, guest)) = said else {
            return self.refuse();
        };
        guest.hear(&control, received.clock);
        if control == Control::Close {
            let id = guest.session.id;
            self.guests.remove(&id);
            self.forget();
            return;
        }
        if let Some(answer) = guest.take(control, received.clock, &self.limits)
            && let Some(packet) = guest.answer(&answer)
        {
            transmit(&self.socket, &mut self.unsent, &packet, received.way);
        }
    }

    /// Nothing is sent to silent clients.
    fn forget(&mut self) {
        let at = now();
        self.guests.retain(|_, guest| !guest.is_silent(at));
        let guests = &self.guests;
        self.passes().retain(|id, pass| {
            let known = guests.contains_key(id);
            if !known {
                pass.end();
            }
            known
        });
    }

    fn passes(&self) -> std::sync::MutexGuard<'_, HashMap<[u8; 8], Arc<Pass>>> {
        self.passes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn send(&mut self) {
        for guest in self.guests.values_mut() {
            for _ in 0..AT_ONCE {
                let Some(packet) = guest.next_packet() else {
                    break;
                };
                transmit(&self.socket, &mut self.unsent, &packet, guest.way);
            }
        }
    }

    fn until_next(&self) -> Duration {
        let next = self.guests.values().filter_map(Guest::next_event).min();
        next.map_or(LONGEST_WAIT, |next| (next - now()).min(LONGEST_WAIT))
    }
}

/// Sends a packet, or loses it, as a link would: its address may be one that cannot be sent to, and an interface may
/// disappear.
fn transmit(socket: &Socket, unsent: &mut u64, packet: &[u8], way: Way) {
    if socket.send(packet, way).is_err() {
        *unsent += 1;
    }
}

/// Whether a packet from `from` can be answered: not from port 0, nor from a multicast or broadcast address.
fn may_be_answered(from: SocketAddr) -> bool {
    let to_many = match from.ip().to_canonical() {
        IpAddr::V4(v4) => v4.is_broadcast() || v4.is_multicast() || v4.is_unspecified(),
        IpAddr::V6(v6) => v6.is_multicast() || v6.is_unspecified(),
    };
    from.port() != 0 && !to_many
}

/// Sets the end when dropped, also by a panic: the other threads end, and the panic is reported.
struct Ends<'a>(&'a AtomicBool);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Binds UDP and TCP at one port. If the kernel's choice for UDP is in use for TCP, another one is tried.
fn bind(address: SocketAddr) -> io::Result<(Socket, TcpListener)> {
    let mut tries = if address.port() == 0 { 8 } else { 1 };
    loop {
        let socket = Socket::bind(address)?;
        tries -= 1;
        match TcpListener::bind(socket.address()?) {
            Err(e) if e.kind() == io::ErrorKind::AddrInUse && tries > 0 => {}
            listener => return Ok((socket, listener?)),
        }
    }
}

/// The time within which an interrupt is noticed.
const LONGEST_WAIT: Duration = Duration::from_millis(100);

/// Pause after the socket has failed.
const PAUSE: Duration = Duration::from_millis(10);
