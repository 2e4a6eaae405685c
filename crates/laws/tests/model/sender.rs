//! A sender that only its own start and the receiver's window limit.

use super::receiver::AckOnWire;
use super::{Data, Lie, MSS, Source, since_start};
use std::collections::VecDeque;
use std::time::Duration;
use tidegate_link::Instant;

/// Linux's initial window (RFC 6928), and the congestion window that it keeps after a pause.
const INITIAL_CWND: u64 = 10 * MSS as u64;
const CWND_AFTER_PAUSE: u64 = 40 * MSS as u64;
/// How long a sender shows its true delay before it shows a standing one.
const HONEST: Duration = Duration::from_secs(2);
/// How long a sender shows the longest queue that it has seen.
const SHOWN: Duration = Duration::from_secs(2);
/// The window of a handshake.
const INITIAL_EDGE: u32 = 64 * 1024;

pub struct Sender {
    source: Source,
    started: bool,
    una: u32,
    nxt: u32,
    edge: u32,
    cwnd: u64,
    /// Bytes that the application has written, and how many of them were sent.
    written: u64,
    sent: u64,
    ts_recent: u32,
    /// Its last stamp. A lie goes no further back: a receiver discards older ones (PAWS, RFC 7323 section 5).
    stamped: Option<u32>,
    next_chunk: Duration,
    /// Ends of the segments in flight, and when each left: the sender's round trips.
    outstanding: VecDeque<(u32, Instant)>,
    rtt: Duration,
    rtt_min: Duration,
    /// The longest recent queue, and when it was seen.
    longest_ms: i32,
    longest_at: Instant,
}

/// The sender's clock has nothing to do with the receiver's.
fn tsval(flow: usize, now: Instant, ppm: i64) -> u32 {
    let ns = now.as_nanos() as i64;
    let own_ns = ns + ns / 1_000_000 * ppm;
    ((own_ns / 1_000_000) as u32).wrapping_add(77_000 + 1_000_003 * flow as u32)
}

/// What a clock has gained by `now` if its rate error rises from nothing to `ppm` millionths during `within`.
fn drifted_ms(now: Duration, from: Duration, ppm: i32, within: Duration) -> i32 {
    let past = now.saturating_sub(from).as_secs_f64();
    let rising = past.min(within.as_secs_f64());
    let at_full_rate = past - rising;
    let mean_of_rise = rising / within.as_secs_f64().max(1e-9) / 2.0;
    ((rising * mean_of_rise + at_full_rate) * f64::from(ppm) / 1e3) as i32
}

impl Sender {
    pub fn new(source: &Source) -> Self {
        Self {
            source: source.clone(),
            started: false,
            una: 0,
            nxt: 0,
            edge: INITIAL_EDGE,
            cwnd: INITIAL_CWND,
            written: 0,
            sent: 0,
            ts_recent: 0,
            stamped: None,
            next_chunk: source.start,
            outstanding: VecDeque::new(),
            rtt: Duration::ZERO,
            rtt_min: Duration::MAX,
            longest_ms: 0,
            longest_at: Instant::ZERO,
        }
    }

    pub fn starts(&self, now: Instant) -> bool {
        !self.started && since_start(now) >= self.source.start
    }

    /// The handshake brought the receiver's `stamp`.
    pub fn start(&mut self, stamp: u32) {
        self.started = true;
        self.ts_recent = stamp;
        if self.source.chunks.is_none() {
            self.written = u64::MAX / 2;
        }
    }

    /// The application writes what it has to write by now.
    pub fn produce(&mut self, now: Instant) {
        let Some((bytes, period)) = self.source.chunks else {
            return;
        };
        if self.started && since_start(now) >= self.next_chunk {
            self.written += bytes;
            self.next_chunk += period;
            self.cwnd = self.cwnd.clamp(INITIAL_CWND, CWND_AFTER_PAUSE);
        }
    }

    pub fn acknowledged(&mut self, ack: &AckOnWire, now: Instant) {
        let arrived = |(end, _): &mut (u32, Instant)| ack.ack.wrapping_sub(*end) as i32 >= 0;
        while let Some((_, sent)) = self.outstanding.pop_front_if(arrived) {
            self.rtt = now - sent;
            self.rtt_min = self.rtt_min.min(self.rtt);
        }
        if self.queued_ms() >= self.longest_ms || now > self.longest_at + SHOWN {
            self.longest_ms = self.queued_ms();
            self.longest_at = now;
        }
        self.cwnd += u64::from(ack.ack.wrapping_sub(self.una));
        self.una = ack.ack;
        self.edge = ack.edge();
        self.ts_recent = ack.tsval;
    }

    /// The next segment, if it may leave, stamped by a clock `ppm` millionths too fast and `lie_ms` ahead.
    pub fn next(&mut self, flow: usize, now: Instant, (ppm, lie_ms): (i64, i32)) -> Option<Data> {
        let outstanding = self.nxt.wrapping_sub(self.una);
        let room = self.edge.wrapping_sub(self.nxt) as i32;
        let over = self.source.end.is_some_and(|end| since_start(now) >= end);
        let has_data = self.started && !over && self.sent + u64::from(MSS) <= self.written;
        if !has_data || u64::from(outstanding + MSS) > self.cwnd || room < MSS as i32 {
            return None;
        }
        let tsval = self.stamp(tsval(flow, now, ppm).wrapping_add_signed(lie_ms));
        let data = Data {
            flow,
            hops: 0,
            queued: Duration::ZERO,
            seq: self.nxt,
            tsval,
            tsecr: self.ts_recent,
        };
        self.nxt = self.nxt.wrapping_add(MSS);
        self.sent += u64::from(MSS);
        Some(data)
    }

    /// How long its next segment waits before it leaves.
    pub fn waits(&self, now: Instant) -> Duration {
        match self.source.lie {
            Some(Lie::Waits(delay)) if since_start(now) >= self.source.start + HONEST => {
                delay.saturating_sub(self.queued())
            }
            _ => Duration::ZERO,
        }
    }

    /// A segment leaves.
    pub fn leaves(&mut self, data: &Data, now: Instant) {
        self.outstanding
            .push_back((data.seq.wrapping_add(MSS), now));
    }

    fn stamp(&mut self, tsval: u32) -> u32 {
        let stamped = match self.stamped {
            // A clock does not go back, unless it is set.
            Some(last) if !self.is_set() && (tsval.wrapping_sub(last) as i32) < 0 => last,
            _ => tsval,
        };
        self.stamped = Some(stamped);
        stamped
    }

    /// The queue that its last round trip shows.
    fn queued(&self) -> Duration {
        self.rtt.saturating_sub(self.rtt_min)
    }

    fn queued_ms(&self) -> i32 {
        self.queued().as_millis() as i32
    }

    fn is_set(&self) -> bool {
        matches!(self.source.lie, Some(Lie::Set(..)))
    }

    /// By how much its clock is ahead of the true time; `waited`: how long each flow's data last waited.
    pub fn lie_ms(&self, now: Instant, waited: &[Duration]) -> i32 {
        match self.source.lie {
            None => 0,
            Some(Lie::Set(at, by_ms)) if since_start(now) >= at => by_ms,
            Some(Lie::Set(..)) => 0,
            Some(Lie::Swings(by, period)) => {
                let past = since_start(now).as_nanos() % period.as_nanos();
                let ahead = past >= period.as_nanos() / 2;
                if ahead { by.as_millis() as i32 } else { 0 }
            }
            Some(Lie::Drifts(from, ppm, within)) => drifted_ms(since_start(now), from, ppm, within),
            Some(Lie::Hides) => self.queued_ms(),
            Some(Lie::Stands(_)) if since_start(now) < self.source.start + HONEST => 0,
            Some(Lie::Stands(delay)) => self.queued_ms() - delay.as_millis() as i32,
            Some(Lie::Keeps) => self.queued_ms() - self.longest_ms,
            Some(Lie::Waits(_)) => 0,
            Some(Lie::Imitates(other)) => -(waited[other].as_millis() as i32),
        }
    }

    /// When the sender next does something by itself.
    pub fn timer(&self) -> Option<Instant> {
        if !self.started {
            return Some(Instant::ZERO + self.source.start);
        }
        self.source.chunks.map(|_| Instant::ZERO + self.next_chunk)
    }
}
