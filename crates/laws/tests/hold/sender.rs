//! A sender, a link with a deep buffer, and the packets that wait at the receiver, millisecond by millisecond.

use std::collections::VecDeque;
use tidegate_laws::{Hold, Path};

/// The buffer; windows never fill it.
const BUFFER_MS: u64 = 1_000;

/// From one echo to the next, in milliseconds.
const ECHO_MS: u64 = 58;

/// What a sender does with an acknowledgement. Bytes.
#[derive(Clone, Copy, Debug)]
pub enum Sender {
    /// It doubles its bytes in flight each round trip up to `most`, and stays there.
    Window { window: u64, most: u64 },
    /// It doubles them to twice what the path holds, then adds a packet a round trip; a signal leaves seven tenths.
    Growing { window: u64, told: bool },
    /// It sends at this share of the link's rate, whatever is acknowledged.
    Rate(f64),
}

impl Sender {
    pub const fn up_to(most: u64) -> Self {
        Self::Window {
            window: 15_000,
            most,
        }
    }

    pub const fn growing() -> Self {
        Self::Growing {
            window: 15_000,
            told: false,
        }
    }
}

/// A signal: the bytes of the flow before it, and the sender's window at that time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Signal {
    pub at_bytes: u64,
    pub window: u64,
}

/// What happened in some seconds.
#[derive(Clone, Copy, Debug, Default)]
pub struct Span {
    /// Share of the link.
    pub used: f64,
    /// Mean delay in the queue, and mean wait here of all packets that left.
    pub queue_ms: f64,
    pub wait_ms: f64,
    /// Share of the leaving packets that waited.
    pub waited: f64,
}

/// The receiver's edge, with everything behind it.
pub struct Edge {
    pub hold: Hold,
    /// Since the start.
    pub signals: Vec<Signal>,
    path: Path,
    sender: Sender,
    rtt_ms: u64,
    bytes: u32,
    per_ms: usize,
    start_us: u64,
    /// From when on echoes are lost.
    deaf_ms: u64,
    ms: u64,
    sent: u64,
    acknowledged: u64,
    /// Fractions of a packet that a rate has saved.
    saved: f64,
    queued: u64,
    /// When each packet arrives.
    coming: VecDeque<u64>,
    /// When each echo comes back, and after how long.
    echoes: VecDeque<(u64, u64)>,
    /// Waiting packets: when each was made, and how much had arrived by then.
    waiting: VecDeque<(u64, u64)>,
}

impl Edge {
    /// 12 Mbit/s, 50 ms.
    pub fn new(sender: Sender) -> Self {
        Self {
            hold: Hold::default(),
            signals: Vec::new(),
            path: Path::default(),
            sender,
            rtt_ms: 50,
            bytes: 1_500,
            per_ms: 1,
            start_us: 1_000,
            deaf_ms: u64::MAX,
            ms: 0,
            sent: 0,
            acknowledged: 0,
            saved: 0.0,
            queued: 0,
            coming: VecDeque::new(),
            echoes: VecDeque::new(),
            waiting: VecDeque::new(),
        }
    }

    pub fn rtt(self, ms: u32) -> Self {
        Self {
            rtt_ms: ms.into(),
            ..self
        }
    }

    /// A link that carries `per_ms` packets of `bytes` a millisecond.
    pub fn packets(self, bytes: u32, per_ms: usize) -> Self {
        Self {
            bytes,
            per_ms,
            ..self
        }
    }

    /// The clock shows `start_us` at the start.
    pub fn starting_at(self, start_us: u64) -> Self {
        Self { start_us, ..self }
    }

    /// From `seconds` after the start on, no echo comes back.
    pub fn deaf_from_s(self, seconds: u64) -> Self {
        Self {
            deaf_ms: seconds * 1_000,
            ..self
        }
    }

    pub fn run_s(&mut self, seconds: f64) {
        self.over_s(seconds);
    }

    pub fn over_s(&mut self, seconds: f64) -> Span {
        let steps = (seconds * 1e3) as u64;
        let (mut carried, mut queue_ms) = (0usize, 0.0);
        let (mut left, mut waited, mut wait_ms) = (0u64, 0u64, 0u64);
        for _ in 0..steps {
            if self.ms == 0 {
                // The flow asks: the first data tell how long a round trip takes.
                let now_us = self.now_us();
                self.hold.leaves(now_us, 60);
            }
            self.ms += 1;
            self.send();
            carried += self.carry();
            queue_ms += self.queued as f64 / self.per_ms as f64;
            self.arrive();
            self.ask();
            for ms in self.release() {
                left += 1;
                waited += u64::from(ms > 0);
                wait_ms += ms;
            }
        }
        Span {
            used: carried as f64 / (steps * self.per_ms as u64) as f64,
            queue_ms: queue_ms / steps as f64,
            wait_ms: wait_ms as f64 / left.max(1) as f64,
            waited: waited as f64 / left.max(1) as f64,
        }
    }

    fn now_us(&self) -> u64 {
        self.start_us + self.ms * 1_000
    }

    fn send(&mut self) {
        let bytes = u64::from(self.bytes);
        let packets = match self.sender {
            Sender::Rate(rate) => {
                self.saved += rate * self.per_ms as f64;
                let whole = self.saved as u64;
                self.saved -= whole as f64;
                whole
            }
            Sender::Window { window, .. } | Sender::Growing { window, .. } => {
                (self.acknowledged + window).saturating_sub(self.sent) / bytes
            }
        };
        // If the link does not carry the rate, a buffer of BUFFER_MS fills, and then drops the excess.
        let room = (BUFFER_MS * self.per_ms as u64).saturating_sub(self.queued);
        self.queued += packets.min(room);
        self.sent += packets * bytes;
    }

    /// Packets that the link takes from its queue.
    fn carry(&mut self) -> usize {
        let carried = self.queued.min(self.per_ms as u64);
        self.queued -= carried;
        let due = self.ms + self.rtt_ms;
        self.coming.extend((0..carried).map(|_| due));
        carried as usize
    }

    /// An echo goes through the queue as data do.
    fn ask(&mut self) {
        if self.ms.is_multiple_of(ECHO_MS) && self.ms < self.deaf_ms {
            let took_ms = self.rtt_ms + self.queued / self.per_ms as u64;
            self.echoes.push_back((self.ms + took_ms, took_ms));
        }
        while let Some(&(due, took_ms)) = self.echoes.front() {
            if due > self.ms {
                break;
            }
            self.echoes.pop_front();
            let now_us = self.now_us();
            let rtt_us = took_ms as u32 * 1_000;
            self.hold.answered(&mut self.path, now_us, rtt_us, None);
        }
    }

    fn arrive(&mut self) {
        while self.coming.front().is_some_and(|due| *due <= self.ms) {
            self.coming.pop_front();
            let now_us = self.now_us();
            let signalled = self.hold.arrives(&mut self.path, now_us, self.bytes);
            self.waiting.push_back((self.ms, self.hold.arrived()));
            if signalled {
                let raw = self.hold.raw();
                self.signals.push(Signal {
                    at_bytes: raw.arrived,
                    window: raw.window.into(),
                });
                self.told();
            }
        }
    }

    fn told(&mut self) {
        if let Sender::Growing { window, told } = &mut self.sender {
            *window = *window * 7 / 10;
            *told = true;
        }
    }

    /// The waits of the packets that leave now.
    fn release(&mut self) -> Vec<u64> {
        let mut waits = Vec::new();
        while let Some(&(since, made)) = self.waiting.front() {
            let waited_us = 1_000 * (self.ms - since);
            let longest = waited_us >= Hold::LONGEST.as_micros() as u64;
            if self.hold.wait_us(made) > 0 && !longest {
                break;
            }
            self.waiting.pop_front();
            let now_us = self.now_us();
            self.hold.leaves(now_us, 60);
            self.acknowledge(made);
            waits.push(self.ms - since);
        }
        waits
    }

    fn acknowledge(&mut self, made: u64) {
        let new = made - self.acknowledged;
        self.acknowledged = made;
        let path = self.rtt_ms * self.per_ms as u64 * u64::from(self.bytes);
        match &mut self.sender {
            Sender::Window { window, most } => *window = (*window + new).min(*most),
            Sender::Growing { window, told } if !*told && *window < 2 * path => *window += new,
            Sender::Growing { window, .. } => *window += new * u64::from(self.bytes) / *window,
            Sender::Rate(_) => (),
        }
    }
}
