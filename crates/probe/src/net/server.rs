//! The server: answers whoever has the key, within its budgets.

use super::budget::{Budget, Total};
use super::control::{
    COOKIE, Control, FULL, HELLO, OPEN, OPENED, QUESTION, RECORDS_MAX, read, write,
};
use super::load::{Pass, Passes, accept};
use super::seal::{Key, Session, TAG, VERSION, session_of};
use super::socket::{Received, Socket, Way, now, wall};
use super::{AT_ONCE, SILENCE};
use crate::{Arrival, Message, Pong, Receiver, Train, TrainConfig};
use std::collections::HashMap;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, PoisonError};
use std::thread;
use std::time::Duration;
use tidegate_time::Instant;

/// What a server allows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// Bit/s that a session is sent at most.
    pub max_bps: f64,
    /// Bytes that it may be sent.
    pub session_bytes: u64,
    /// Bytes that all sessions together may be sent, as long as the server runs.
    pub total_bytes: u64,
    /// Sessions at a time.
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

/// What happened so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Sessions that were opened.
    pub sessions: u64,
    /// Bytes of trains and of TCP's load that were sent.
    pub sent_bytes: u64,
    /// Packets that were dropped: forged, replayed, of no session or of another address. Connections without a pass.
    pub refused: u64,
}

/// Records that a session may pile up: 50 MB of memory.
const MOST_RECORDS: usize = 1_000_000;

/// A cookie is good for this period and the next.
const COOKIE_PERIOD: Duration = Duration::from_secs(10);

/// The server.
#[derive(Debug)]
pub struct Server {
    socket: Socket,
    /// TCP, at the same address.
    listener: TcpListener,
    key: Key,
    /// Known to nobody else, for cookies.
    secret: Key,
    limits: Limits,
    guests: HashMap<[u8; 8], Guest>,
    passes: Arc<Passes>,
    total: Arc<Total>,
    sessions: u64,
    refused: Arc<AtomicU64>,
}

/// A session.
#[derive(Debug)]
struct Guest {
    way: Way,
    session: Session,
    heard: Instant,
    budget: Arc<Budget>,
    train: Option<Train>,
    /// The last train that it wanted to be sent: a question that is repeated, or comes late, makes no second one.
    wanted: Option<u8>,
    receiver: Option<(u8, Receiver)>,
    records: Option<(u8, Vec<Arrival>)>,
}

impl Server {
    /// A server at that address for all who have `key`.
    ///
    /// # Errors
    /// When the address cannot be had.
    pub fn bind(address: SocketAddr, key: Key, limits: Limits) -> io::Result<Self> {
        let (socket, listener) = bind(address)?;
        listener.set_nonblocking(true)?;
        Ok(Self {
            socket,
            listener,
            key,
            secret: Key::random(),
            limits,
            guests: HashMap::new(),
            passes: Arc::default(),
            total: Arc::new(Total::new(limits.total_bytes)),
            sessions: 0,
            refused: Arc::default(),
        })
    }

    /// Where it listens.
    ///
    /// # Errors
    /// When the kernel does not say.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.socket.address()
    }

    /// What happened so far.
    pub fn counters(&self) -> Counters {
        Counters {
            sessions: self.sessions,
            sent_bytes: self.total.sent(),
            refused: self.refused.load(Ordering::Relaxed),
        }
    }

    /// Serves until `stop` is set.
    ///
    /// # Errors
    /// When the socket fails.
    pub fn run(&mut self, stop: &AtomicBool) -> io::Result<()> {
        let listener = self.listener.try_clone()?;
        let passes = Arc::clone(&self.passes);
        let refused = Arc::clone(&self.refused);
        let over = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| accept(&listener, &passes, &refused, &over));
            let served = self.serve(stop);
            over.store(true, Ordering::Relaxed);
            served
        })
    }

    fn serve(&mut self, stop: &AtomicBool) -> io::Result<()> {
        while !stop.load(Ordering::Relaxed) {
            for _ in 0..AT_ONCE {
                let Some(received) = self.socket.receive()? else {
                    break;
                };
                self.take(&received)?;
            }
            self.forget();
            self.send()?;
            self.socket.wait(self.until_next())?;
        }
        Ok(())
    }

    fn take(&mut self, received: &Received) -> io::Result<()> {
        let packet = &received.bytes;
        let answer = match packet.get(..2) {
            Some(&[VERSION, HELLO]) => self.hello(packet, received.way.far),
            Some(&[VERSION, OPEN]) => self.open(packet, received.way),
            _ => return self.take_sealed(received),
        };
        match answer {
            Some(answer) => self.socket.send(&answer, received.way),
            None => {
                self.refused.fetch_add(1, Ordering::Relaxed);
                Ok(())
            }
        }
    }

    /// A cookie for a Hello with the right tag; nothing is remembered.
    fn hello(&self, packet: &[u8], from: SocketAddr) -> Option<Vec<u8>> {
        let nonce = question(&self.key, packet)?;
        let mut answer = vec![VERSION, COOKIE];
        answer.extend(nonce);
        answer.extend(self.cookie(from, nonce, period(now())));
        answer.extend(self.key.tag(&[b"answer", &answer]));
        Some(answer)
    }

    /// A session for an Open that brings its cookie back.
    fn open(&mut self, packet: &[u8], way: Way) -> Option<Vec<u8>> {
        let from = way.far;
        let nonce = question(&self.key, packet)?;
        let current = period(now());
        let cookie = packet.get(18..18 + TAG)?;
        let mut good = [current, current.wrapping_sub(1)].into_iter();
        if !good.any(|period| self.cookie(from, nonce, period) == cookie) {
            return None;
        }
        // The same question has the same answer, and makes no second session.
        let id: [u8; 8] = self
            .secret
            .tag(&[b"session", nonce, from.to_string().as_bytes()])[..8]
            .try_into()
            .ok()?;
        if !self.guests.contains_key(&id) {
            if self.guests.len() >= self.limits.sessions {
                let mut answer = vec![VERSION, FULL];
                answer.extend(nonce);
                answer.extend([0; TAG]);
                answer.extend(self.key.tag(&[b"answer", &answer]));
                return Some(answer);
            }
            let key = self.key.derive(&[b"session", nonce, &id]);
            let budget = Arc::new(Budget::new(self.limits.session_bytes, &self.total));
            let pass = Pass::new(key, Arc::clone(&budget), self.limits.max_bps);
            self.passes().insert(id, Arc::new(pass));
            self.sessions += 1;
            self.guests.insert(
                id,
                Guest {
                    way,
                    session: Session::new(id, key, true),
                    heard: now(),
                    budget,
                    train: None,
                    wanted: None,
                    receiver: None,
                    records: None,
                },
            );
        }
        let mut answer = vec![VERSION, OPENED];
        answer.extend(nonce);
        answer.extend(id);
        answer.extend(self.guests[&id].budget.left().to_be_bytes());
        answer.extend((self.limits.max_bps as u64).to_be_bytes());
        answer.extend(self.key.tag(&[b"answer", &answer]));
        Some(answer)
    }

    fn cookie(&self, from: SocketAddr, nonce: &[u8], period: u64) -> [u8; TAG] {
        let address = from.to_string();
        self.secret
            .tag(&[b"cookie", address.as_bytes(), nonce, &period.to_be_bytes()])
    }

    fn take_sealed(&mut self, received: &Received) -> io::Result<()> {
        let guest = session_of(&received.bytes).and_then(|id| self.guests.get_mut(&id));
        let guest = guest.filter(|guest| guest.way.far == received.way.far);
        let said = guest.and_then(|guest| {
            let inner = guest.session.open(&received.bytes)?;
            Some((read(inner).ok()?, guest))
        });
        let Some((control, guest)) = said else {
            self.refused.fetch_add(1, Ordering::Relaxed);
            return Ok(());
        };
        guest.heard = now();
        if control == Control::Close {
            let id = guest.session.id;
            self.guests.remove(&id);
            self.forget();
            return Ok(());
        }
        let answer = guest.take(control, received.clock, &self.limits);
        if let Some(answer) = answer {
            let packet = guest.session.seal(&write(&answer));
            self.socket.send(&packet, received.way)?;
        }
        Ok(())
    }

    /// Those who say nothing are sent nothing.
    fn forget(&mut self) {
        let at = now();
        self.guests.retain(|_, guest| at - guest.heard < SILENCE);
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

    fn send(&mut self) -> io::Result<()> {
        let at = now();
        for guest in self.guests.values_mut() {
            let Guest {
                way,
                session,
                budget,
                train,
                receiver,
                ..
            } = guest;
            if let Some(train) = train {
                while let Some(data) = train.poll(at, wall()) {
                    if !budget.take(data.bytes.into()) {
                        break;
                    }
                    let packet = session.seal(&write(&Control::Measure(Message::Data(data))));
                    self.socket.send(&packet, *way)?;
                }
                if train.is_done() || budget.left() == 0 {
                    guest.train = None;
                }
            }
            if let Some((_, receiver)) = receiver
                && let Some(report) = receiver.report(at)
            {
                let packet = session.seal(&write(&Control::Measure(Message::Report(report))));
                self.socket.send(&packet, *way)?;
            }
        }
        Ok(())
    }

    fn until_next(&self) -> Duration {
        let trains = self
            .guests
            .values()
            .filter_map(|g| g.train.as_ref()?.next_event());
        let reports = self
            .guests
            .values()
            .filter_map(|g| g.receiver.as_ref()?.1.next_event());
        let next = trains.chain(reports).min();
        next.map_or(LONGEST_WAIT, |next| (next - now()).min(LONGEST_WAIT))
    }
}

/// UDP and TCP at one port. What the kernel chooses for UDP may be taken for TCP: then another is.
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

/// An interrupt is noticed so soon.
const LONGEST_WAIT: Duration = Duration::from_millis(100);

fn period(at: Instant) -> u64 {
    at.as_nanos() / COOKIE_PERIOD.as_nanos() as u64
}

/// The nonce of a question that has the right length and tag.
fn question<'a>(key: &Key, packet: &'a [u8]) -> Option<&'a [u8]> {
    let (said, tag) = packet.split_at_checked(QUESTION - TAG)?;
    (packet.len() == QUESTION && key.verifies(tag, &[b"question", said])).then(|| &said[2..18])
}

impl Guest {
    /// The answer to what the client says, if there is one.
    fn take(&mut self, control: Control, clock: Instant, limits: &Limits) -> Option<Control> {
        match control {
            Control::Start { to_client, train } => Some(self.start(to_client, train, limits)),
            Control::Stop { flow } => {
                if self.wanted == Some(flow) {
                    self.train = None;
                }
                if self
                    .receiver
                    .as_ref()
                    .is_some_and(|(known, _)| *known == flow)
                {
                    self.records = self
                        .receiver
                        .take()
                        .map(|(flow, r)| (flow, r.into_arrivals()));
                }
                None
            }
            Control::Fetch { flow, from } => {
                let (_, all) = self.records.as_ref().filter(|(known, _)| *known == flow)?;
                let rest = all.get(from as usize..)?;
                Some(Control::Records {
                    flow,
                    from,
                    total: all.len() as u32,
                    records: rest[..rest.len().min(RECORDS_MAX)].to_vec(),
                })
            }
            Control::Measure(Message::Data(data)) => {
                let (flow, receiver) = self.receiver.as_mut()?;
                if *flow == data.flow && receiver.count() < MOST_RECORDS {
                    receiver.take(now(), clock, &data);
                }
                None
            }
            Control::Measure(Message::Report(report)) => {
                if let Some(train) = &mut self.train {
                    train.report(now(), &report);
                }
                None
            }
            Control::Measure(Message::Ping(ping)) => Some(Control::Measure(Message::Pong(Pong {
                sequence: ping.sequence,
                asked: ping.sent,
                answered: wall(),
            }))),
            _ => None,
        }
    }

    /// The train that is wanted, within what is left; one at a time. A repeated question changes nothing.
    fn start(&mut self, to_client: bool, train: TrainConfig, limits: &Limits) -> Control {
        let flow = train.flow;
        let sane = train.max_bytes <= self.budget.left() && usize::from(train.bytes) <= MOST_BYTES;
        let known = to_client && self.wanted.replace(flow) == Some(flow);
        if to_client && sane && !known {
            let train = TrainConfig {
                max_bps: train.max_bps.min(limits.max_bps),
                start_bps: train.start_bps.clamp(1e3, limits.max_bps),
                max_time: train.max_time.min(LONGEST_TRAIN),
                bytes: train.bytes.max(LEAST_BYTES),
                ..train
            };
            self.train = Some(Train::new(train, now()));
        }
        if !to_client
            && self
                .receiver
                .as_ref()
                .is_none_or(|(known, _)| *known != flow)
        {
            self.receiver = Some((flow, Receiver::new(flow)));
        }
        Control::Started {
            flow,
            left: self.budget.left(),
        }
    }
}

/// Sizes of a train's packets, and how long one may fill.
const LEAST_BYTES: u16 = 100;
const MOST_BYTES: usize = 1500;
const LONGEST_TRAIN: Duration = Duration::from_secs(600);
