//! The server: answers whoever has the key, within its budgets.

use super::SILENCE;
use super::control::{COOKIE, Control, HELLO, OPEN, OPENED, QUESTION, RECORDS_MAX, read, write};
use super::seal::{Key, Session, TAG, VERSION, session_of};
use super::socket::{Received, Socket, Way, now, wall};
use crate::{Arrival, Message, Pong, Receiver, Train, TrainConfig};
use std::collections::HashMap;
use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
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
    /// Bytes of trains that were sent.
    pub sent_bytes: u64,
    /// Packets that were dropped: forged, replayed, of no session or of another address.
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
    key: Key,
    /// Known to nobody else, for cookies.
    secret: Key,
    limits: Limits,
    guests: HashMap<[u8; 8], Guest>,
    counters: Counters,
}

/// A session.
#[derive(Debug)]
struct Guest {
    way: Way,
    session: Session,
    heard: Instant,
    left: u64,
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
        Ok(Self {
            socket: Socket::bind(address)?,
            key,
            secret: Key::random(),
            limits,
            guests: HashMap::new(),
            counters: Counters::default(),
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
        self.counters
    }

    /// Serves until `stop` is set.
    ///
    /// # Errors
    /// When the socket fails.
    pub fn run(&mut self, stop: &AtomicBool) -> io::Result<()> {
        while !stop.load(Ordering::Relaxed) {
            while let Some(received) = self.socket.receive()? {
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
                self.counters.refused += 1;
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
                return None;
            }
            let left = self
                .limits
                .total_bytes
                .saturating_sub(self.counters.sent_bytes);
            self.counters.sessions += 1;
            self.guests.insert(
                id,
                Guest {
                    way,
                    session: Session::new(id, self.key.derive(&[b"session", nonce, &id]), true),
                    heard: now(),
                    left: left.min(self.limits.session_bytes),
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
        answer.extend(self.guests[&id].left.to_be_bytes());
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
            self.counters.refused += 1;
            return Ok(());
        };
        guest.heard = now();
        if control == Control::Close {
            let id = guest.session.id;
            self.guests.remove(&id);
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
    }

    fn send(&mut self) -> io::Result<()> {
        let at = now();
        for guest in self.guests.values_mut() {
            let Guest {
                way,
                session,
                left,
                train,
                receiver,
                ..
            } = guest;
            if let Some(train) = train {
                while let Some(data) = train.poll(at, wall()) {
                    let bytes = u64::from(data.bytes);
                    if bytes > *left || self.counters.sent_bytes + bytes > self.limits.total_bytes {
                        *left = 0;
                        break;
                    }
                    *left -= bytes;
                    self.counters.sent_bytes += bytes;
                    let packet = session.seal(&write(&Control::Measure(Message::Data(data))));
                    self.socket.send(&packet, *way)?;
                }
                if train.is_done() || *left == 0 {
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
        let sane = train.max_bytes <= self.left && usize::from(train.bytes) <= MOST_BYTES;
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
            left: self.left,
        }
    }
}

/// Sizes of a train's packets, and how long one may fill.
const LEAST_BYTES: u16 = 100;
const MOST_BYTES: usize = 1500;
const LONGEST_TRAIN: Duration = Duration::from_secs(600);
