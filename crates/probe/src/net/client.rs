//! The client: opens a session, asks for trains, and gathers what arrived.

mod question;

pub(super) use question::question;

use super::control::{COOKIE, Control, HELLO, OPEN, OPENED, read, write};
use super::load::Load;
use super::seal::{Key, Session, TAG};
use super::socket::{Received, Socket, Way, now, wall};
use super::watch::Watch;
use super::{AT_ONCE, SILENCE};
use crate::analysis::responsiveness::{INTERVAL, MOST_CONNECTIONS, Responsiveness};
use crate::emulated::Clock;
use crate::{Arrival, Echo, Message, Pinger, Receiver, Train, TrainConfig};
use question::ask;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;
use tidegate_basics::time::Instant;

/// Why a measurement ended early.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// No answer came from the start.
    #[error(
        "{0} does not answer: is `tidegate probe serve` running there, with this key, and UDP let through?"
    )]
    NoAnswer(SocketAddr),
    /// No more answers came.
    #[error("{0} has stopped answering")]
    Vanished(SocketAddr),
    /// The session's budget is smaller than what was asked for.
    #[error("the server allows {left} bytes more in this session, {wanted} are needed")]
    Budget {
        /// What is left.
        left: u64,
        /// What was asked for.
        wanted: u64,
    },
    /// The server allows no more sessions.
    #[error("{0} is busy: it measures with as many clients as it allows; try again later")]
    Full(SocketAddr),
    /// The user interrupted it.
    #[error("interrupted")]
    Interrupted,
    /// The socket failed.
    #[error("{0}")]
    Io(#[from] io::Error),
}

/// The direction of a train.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// To the client.
    Down,
    /// From the client.
    Up,
}

/// The results under TCP's load.
#[derive(Debug)]
pub struct UnderLoad {
    /// The responsiveness, as far as it is known.
    pub found: Responsiveness,
    /// Bytes that the measurement cost.
    pub bytes: u64,
    /// Why the session is over, if it is.
    pub failure: Option<Failure>,
}

/// The interval between repetitions of a request, and their number.
const AGAIN: Duration = Duration::from_millis(500);
const TIMES: u32 = 8;

/// The longest time for a queue to empty.
const LONGEST_SETTLING: Duration = Duration::from_secs(120);

/// A session with a server.
#[derive(Debug)]
pub struct Client {
    socket: Socket,
    server: SocketAddr,
    session: Session,
    /// Bytes that the server allows in this session.
    budget: u64,
    heard: Instant,
    /// The longest round trip since the queue was last known to be empty: an answer may take as long.
    longest: Duration,
    alive_at: Instant,
    stop: Arc<AtomicBool>,
    clock: Shown,
    /// TCP connections so far, and loads.
    passes: Arc<AtomicU64>,
    loads: u8,
}

/// The clock that stamps packets: the wall clock, or one that is off by `off` since `since`.
#[derive(Clone, Copy, Debug)]
struct Shown {
    since: Instant,
    off: Clock,
}

impl Shown {
    /// What it shows when the wall clock shows `wall`.
    fn at(&self, wall: Instant) -> Instant {
        let lasted = Duration::from_nanos(wall.as_nanos().saturating_sub(self.since.as_nanos()));
        let shown = self.off.at(Instant::ZERO + lasted);
        self.since + (shown - Instant::ZERO)
    }
}

impl Client {
    /// Opens a session; `stop` ends whatever runs.
    ///
    /// # Errors
    /// If no server with this key answers.
    pub fn open(server: SocketAddr, key: &Key, stop: Arc<AtomicBool>) -> Result<Self, Failure> {
        let any = match server {
            SocketAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
            SocketAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
        };
        Self::open_from(any, server, key, stop)
    }

    /// The same from an address of this machine.
    ///
    /// # Errors
    /// If the machine has no such address, or as for [`Self::open`].
    pub fn open_from(
        near: IpAddr,
        server: SocketAddr,
        key: &Key,
        stop: Arc<AtomicBool>,
    ) -> Result<Self, Failure> {
        let mut socket = Socket::bind(SocketAddr::from((near, 0)))?;
        let nonce: [u8; 16] = rand::random();
        let mut ask = |kind, with: &[u8], answer| {
            let question = question(key, kind, &nonce, with);
            ask(&mut socket, server, key, &question, answer, &nonce, &stop)
        };
        let cookie = ask(HELLO, &[], COOKIE)?;
        let opened = ask(OPEN, &cookie[..TAG], OPENED)?;
        let id: [u8; 8] = std::array::from_fn(|i| opened[i]);
        let budget = u64::from_be_bytes(std::array::from_fn(|i| opened[8 + i]));
        Ok(Self {
            session: Session::new(id, key.derive(&[b"session", &nonce, &id]), false),
            socket,
            server,
            budget,
            heard: now(),
            longest: Duration::ZERO,
            alive_at: now(),
            stop,
            clock: Shown {
                since: wall(),
                off: Clock::default(),
            },
            passes: Arc::default(),
            loads: 0,
        })
    }

    /// Stamps packets by a clock with the error `off`, counted from the returned moment, by the wall clock.
    pub fn by_clock(&mut self, off: Clock) -> Instant {
        let since = wall();
        self.clock = Shown { since, off };
        since
    }

    /// Bytes that the server allows in this session.
    pub fn budget(&self) -> u64 {
        self.budget
    }

    /// Pings for `lasting`.
    ///
    /// # Errors
    /// If the server vanishes, or the user interrupts.
    pub fn ping(&mut self, every: Duration, lasting: Duration) -> Result<Vec<Echo>, Failure> {
        let start = now();
        let mut work = Work::asking(every, start + lasting);
        while now() < start + lasting {
            self.step(&mut work)?;
        }
        Ok(work.echoes)
    }

    /// Responsiveness by TCP after draft-ietf-ippm-responsiveness, for at most `bytes`. Returns what is known, even if
    /// it was not measured to its end.
    pub fn responsiveness(&mut self, direction: Direction, bytes: u64) -> UnderLoad {
        let mut load = self.load(direction, bytes);
        let mut watch = Watch::new(now());
        let failure = self.watch(&mut load, &mut watch).err();
        let missing = failure.iter().map(ToString::to_string);
        let mut found = watch.found(&load);
        found.missing.extend(missing);
        UnderLoad {
            found,
            bytes: load.bytes(),
            failure,
        }
    }

    /// Runs until it is stable, the draft's time is over or the data are spent; then until each kind of probe has a
    /// result, as long as one can be expected: behind a long queue an answer takes longer than the draft's intervals.
    fn watch(&mut self, load: &mut Load, watch: &mut Watch) -> Result<(), Failure> {
        while watch.wants_more(load) {
            if load.connections() < MOST_CONNECTIONS && watch.is_early() && !load.is_spent() {
                load.add();
            }
            let begun = now();
            // Often, or all pings of three seconds might be lost, and with them the session.
            self.ping(INTERVAL / 5, INTERVAL)?;
            watch.note(load, now() - begun);
            self.note_life(load);
        }
        Ok(())
    }

    /// If the load gets through, the server lives, even if pings beside it are lost.
    fn note_life(&mut self, load: &Load) {
        self.heard = self.heard.max(load.journal().heard());
        self.longest = self.longest.max(load.journal().longest());
    }

    /// Pings until the packets that a load has left in the queue are gone: until a round trip is no longer than twice
    /// those of the idle link; for at most three times the longest round trip, and for at least `least`.
    ///
    /// # Errors
    /// As for [`Self::ping`].
    pub fn settle(&mut self, idle: &[Echo], least: Duration) -> Result<(), Failure> {
        let shortest = idle.iter().map(Echo::round_trip).min();
        let enough = shortest.unwrap_or_default() * 2 + Duration::from_millis(20);
        let begun = now();
        let until = begun + (self.longest * 3).clamp(least, LONGEST_SETTLING);
        loop {
            let echoes = self.ping(least / 30, least / 3)?;
            let empty = echoes.last().is_some_and(|e| e.round_trip() <= enough);
            let lasted = now() - begun;
            if now() >= until || empty && lasted >= least {
                self.longest = Duration::ZERO;
                return Ok(());
            }
        }
    }

    /// Loads one direction with `connections` TCP connections until told to stop, which is [`Failure::Interrupted`], or
    /// until `bytes` are spent.
    ///
    /// # Errors
    /// As for [`Self::responsiveness`].
    pub fn fill(
        &mut self,
        direction: Direction,
        connections: usize,
        bytes: u64,
    ) -> Result<(), Failure> {
        let mut load = self.load(direction, bytes);
        (0..connections).for_each(|_| load.add());
        while !load.is_spent() {
            // So that the session is not forgotten meanwhile.
            self.ping(INTERVAL / 5, INTERVAL / 5)?;
            self.note_life(&load);
        }
        Ok(())
    }

    fn load(&mut self, direction: Direction, bytes: u64) -> Load {
        self.loads += 1;
        let session = (self.session.id, self.session.key);
        let which = (direction, self.loads);
        Load::new(self.server, session, &self.passes, which, bytes)
    }

    /// Runs a train either way, with pings beside it if `every` is set; returns its arrivals, and the pongs.
    ///
    /// # Errors
    /// If the server vanishes, its budget is spent, or the user interrupts.
    pub fn train(
        &mut self,
        direction: Direction,
        train: TrainConfig,
        every: Option<Duration>,
    ) -> Result<(Vec<Arrival>, Vec<Echo>), Failure> {
        let (mut arrivals, echoes) = self.trains(&[(direction, train)], every)?;
        Ok((arrivals.remove(0), echoes))
    }

    /// The same with trains side by side, at most one each way.
    ///
    /// # Errors
    /// As for one.
    pub fn trains(
        &mut self,
        trains: &[(Direction, TrainConfig)],
        every: Option<Duration>,
    ) -> Result<(Vec<Vec<Arrival>>, Vec<Echo>), Failure> {
        let mut work = every.map_or_else(Work::default, |every| Work::asking(every, Instant::MAX));
        for &(direction, train) in trains {
            self.start(direction, train, &mut work)?;
            match direction {
                // Its first packets may have come before the message that announces them.
                Direction::Down => {
                    work.receiver
                        .get_or_insert_with(|| Receiver::new(train.flow));
                }
                Direction::Up => work.train = Some(Train::new(train, now())),
            }
        }
        self.until_over(&mut work)?;
        let mut all = Vec::new();
        for &(direction, train) in trains {
            all.push(match direction {
                Direction::Down => work
                    .receiver
                    .take()
                    .map_or_else(Vec::new, Receiver::into_arrivals),
                Direction::Up => self.fetch(train.flow, &mut work)?,
            });
            self.send_control(&Control::Stop { flow: train.flow })?;
        }
        Ok((all, work.echoes))
    }

    fn until_over(&mut self, work: &mut Work) -> Result<(), Failure> {
        let mut latest = now();
        let mut count = 0;
        loop {
            self.step(work)?;
            let received = work.receiver.as_ref().map(Receiver::count);
            if received.is_some_and(|received| received != count) {
                (count, latest) = (received.unwrap_or(count), now());
            }
            // The server's last packet is followed by silence.
            let silent = received.is_none() || now() - latest > QUIET;
            if silent && work.train.as_ref().is_none_or(Train::is_done) {
                return Ok(());
            }
        }
    }

    fn start(
        &mut self,
        direction: Direction,
        train: TrainConfig,
        work: &mut Work,
    ) -> Result<(), Failure> {
        let start = Control::Start {
            to_client: direction == Direction::Down,
            train,
        };
        let flow = train.flow;
        work.started = None;
        self.repeat(&start, work, |work| {
            work.started.is_some_and(|(known, _)| known == flow)
        })?;
        let left = work.started.map_or(0, |(_, left)| left);
        if direction == Direction::Down && left < train.max_bytes {
            return Err(Failure::Budget {
                left,
                wanted: train.max_bytes,
            });
        }
        Ok(())
    }

    /// Asks the server for a train, and for nothing else.
    #[cfg(test)]
    pub(super) fn send_start(&mut self, train: TrainConfig) {
        let start = Control::Start {
            to_client: true,
            train,
        };
        self.send_control(&start).expect("a socket");
    }

    #[cfg(test)]
    pub(super) fn pass_for_a_probe(&self) -> Vec<u8> {
        let wanted = super::load::Wanted {
            id: self.session.id,
            counter: self.passes.fetch_add(1, Ordering::Relaxed) + 1,
            purpose: super::load::Purpose::Probe,
            load: 1,
            bytes: 0,
        };
        wanted.seal(&self.session.key)
    }

    /// The arrivals at the server.
    fn fetch(&mut self, flow: u8, work: &mut Work) -> Result<Vec<Arrival>, Failure> {
        // Packets in flight get time to arrive: reports go on and show it.
        let received = |work: &Work| work.train.as_ref().map(Train::received);
        let (mut latest, mut count) = (now(), received(work));
        while now() - latest <= QUIET {
            self.step(work)?;
            if received(work) != count {
                (latest, count) = (now(), received(work));
            }
        }
        work.train = None;
        let mut all: Vec<Arrival> = Vec::new();
        self.send_control(&Control::Stop { flow })?;
        loop {
            let from = all.len() as u32;
            work.records = None;
            self.repeat(&Control::Fetch { flow, from }, work, |work| {
                work.records
                    .as_ref()
                    .is_some_and(|(known, _, _)| *known == from)
            })?;
            let Some((_, total, records)) = work.records.take() else {
                return Ok(all);
            };
            all.extend(&records);
            if records.is_empty() || all.len() >= total as usize {
                return Ok(all);
            }
        }
    }

    /// Repeats a request until it is answered.
    fn repeat(
        &mut self,
        control: &Control,
        work: &mut Work,
        done: impl Fn(&Work) -> bool,
    ) -> Result<(), Failure> {
        let begun = now();
        while now() - begun < AGAIN * TIMES + self.longest * 2 {
            self.send_control(control)?;
            let until = now() + AGAIN;
            while now() < until {
                self.step(work)?;
                if done(work) {
                    return Ok(());
                }
            }
        }
        Err(Failure::Vanished(self.server))
    }

    fn send_control(&mut self, control: &Control) -> Result<(), Failure> {
        let packet = self.session.seal(&write(control));
        Ok(self.socket.send(&packet, Way::to(self.server))?)
    }

    /// Takes arriving packets, sends those that are due, and waits for a while.
    fn step(&mut self, work: &mut Work) -> Result<(), Failure> {
        if self.stop.load(Ordering::Relaxed) {
            return Err(Failure::Interrupted);
        }
        for _ in 0..AT_ONCE {
            let Some(received) = self.socket.receive()? else {
                break;
            };
            self.take(&received, work);
        }
        let at = now();
        if at - self.heard > SILENCE * 2 + self.longest && work.expects_answers() {
            return Err(Failure::Vanished(self.server));
        }
        while let Some(data) = work
            .train
            .as_mut()
            .and_then(|train| train.poll(at, self.clock.at(wall())))
        {
            self.send_control(&Control::Measure(Message::Data(data)))?;
        }
        if let Some(report) = work
            .receiver
            .as_mut()
            .and_then(|receiver| receiver.report(at))
        {
            self.send_control(&Control::Measure(Message::Report(report)))?;
        }
        while let Some(ping) = work
            .pinger
            .as_mut()
            .and_then(|pinger| pinger.poll(at, self.clock.at(wall())))
        {
            self.send_control(&Control::Measure(Message::Ping(ping)))?;
        }
        if at >= self.alive_at {
            self.alive_at = at + SILENCE / 12;
            self.send_control(&Control::Alive)?;
        }
        Ok(self.socket.wait(work.until_next(at))?)
    }

    fn take(&mut self, received: &Received, work: &mut Work) {
        if received.way.far != self.server {
            return;
        }
        let Some(control) = self
            .session
            .open(&received.bytes)
            .and_then(|inner| read(inner).ok())
        else {
            return;
        };
        self.heard = now();
        let clock = self.clock.at(received.clock);
        match control {
            Control::Started { flow, left } => work.started = Some((flow, left)),
            Control::Records {
                from,
                total,
                records,
                ..
            } => work.records = Some((from, total, records)),
            Control::Measure(Message::Data(data)) => {
                let receiver = work
                    .receiver
                    .get_or_insert_with(|| Receiver::new(data.flow));
                receiver.take(now(), clock, &data);
            }
            Control::Measure(Message::Report(report)) => {
                let queued = Duration::from_micros(report.queued_us.into());
                self.longest = self.longest.max(queued.min(LONGEST_SETTLING));
                if let Some(train) = &mut work.train {
                    train.report(now(), &report);
                }
            }
            Control::Measure(Message::Pong(pong)) => {
                let echo = Echo::of(&pong, clock);
                self.longest = self.longest.max(echo.round_trip().min(LONGEST_SETTLING));
                work.echoes.push(echo);
            }
            _ => {}
        }
    }
}

/// Tells the server; if that is lost, the silence will.
impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.send_control(&Control::Close);
    }
}

/// A train without packets for this long is over.
const QUIET: Duration = Duration::from_millis(1500);

/// The work in progress at the client.
#[derive(Debug, Default)]
struct Work {
    train: Option<Train>,
    receiver: Option<Receiver>,
    pinger: Option<Pinger>,
    echoes: Vec<Echo>,
    started: Option<(u8, u64)>,
    records: Option<(u32, u32, Vec<Arrival>)>,
}

impl Work {
    fn asking(every: Duration, until: Instant) -> Self {
        Self {
            pinger: Some(Pinger::new(now(), every, until)),
            ..Self::default()
        }
    }

    fn expects_answers(&self) -> bool {
        self.pinger.is_some() || self.train.is_some()
    }

    fn until_next(&self, at: Instant) -> Duration {
        let train = self.train.as_ref().and_then(Train::next_event);
        let report = self.receiver.as_ref().and_then(Receiver::next_event);
        let ping = self.pinger.as_ref().and_then(Pinger::next_event);
        let next = [train, report, ping].into_iter().flatten().min();
        next.map_or(LONGEST_WAIT, |next| (next - at).min(LONGEST_WAIT))
    }
}

const LONGEST_WAIT: Duration = Duration::from_millis(50);
