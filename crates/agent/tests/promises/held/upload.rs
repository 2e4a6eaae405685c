//! An upload over UDP, clocked by arriving acknowledgements: a sender on this host, the gate, the hold's programs, and
//! a link of one packet per millisecond with a long queue.

use crate::gate::Way;
use crate::held::download::{HERE, THERE};
use crate::held::programs::{Fate, Programs, answer};
use crate::packet::{Ip, Link, Packet};
use std::collections::VecDeque;
use tidegate_laws::sys::TG_HOLD_MAX_US;

/// When each upload begins.
const START_MS: u64 = 5_000;

/// There and back, without a queue.
const ROUND_MS: u64 = 40;

/// Payload of a datagram.
pub const DATAGRAM: usize = 1200;

const ECHO_EVERY_MS: u64 = 40;

/// What the queue may hold.
const QUEUE: usize = 1500;

/// The properties of an upload.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    pub ip: Ip,
    /// The ECN codepoint of leaving packets.
    pub ecn: u8,
    /// Whether leaving packets can wait.
    pub gated: bool,
    /// Whether the server answers echoes; until when, in ms since the start.
    pub answers_for_ms: u64,
    /// Bytes of the packet that answers two.
    pub answers: usize,
    /// Packets to send in all.
    pub packets: u64,
    /// Whether the sender heeds signals.
    pub obeys: bool,
    /// The most that it has in flight, in packets.
    pub window: f64,
}

impl Default for Kind {
    fn default() -> Self {
        Self {
            ip: Ip::V4,
            ecn: 0,
            gated: true,
            answers_for_ms: u64::MAX,
            answers: 30,
            packets: u64::MAX,
            obeys: true,
            window: 3000.0,
        }
    }
}

/// What became of its packets.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// Those that came to the hook.
    pub left: u64,
    /// For each signal: how many packets had left, when, and the round trip of the last echo, in ms.
    pub signals: Vec<(u64, u64, u64)>,
    /// The longest that a packet has waited, and how many have waited.
    pub longest_ms: u64,
    pub waited: u64,
    /// The longest queue of the last second, in ms.
    pub queue_ms: u64,
}

/// A packet at the gate: when it came, and its mark for the law.
struct Waiting {
    came_ms: u64,
    mark: u64,
}

/// A packet in the link's queue.
enum Queued {
    /// Its number.
    Data(u64),
    /// When it was sent.
    Echo(u64),
}

/// An upload in progress.
struct Upload {
    kind: Kind,
    now_ms: u64,
    window: f64,
    made: u64,
    known: u64,
    starts: bool,
    fell_ms: u64,
    waiting: VecDeque<Waiting>,
    queue: VecDeque<Queued>,
    arriving: VecDeque<(u64, Queued)>,
    told: VecDeque<u64>,
    round_ms: u64,
    outcome: Outcome,
}

/// Runs an upload of that kind for `for_ms`.
pub fn upload(programs: &mut Programs, kind: Kind, for_ms: u64) -> Outcome {
    let mut upload = Upload {
        kind,
        now_ms: START_MS,
        window: 10.0,
        made: 0,
        known: 0,
        starts: true,
        fell_ms: 0,
        waiting: VecDeque::new(),
        queue: VecDeque::new(),
        arriving: VecDeque::new(),
        told: VecDeque::new(),
        round_ms: ROUND_MS,
        outcome: Outcome::default(),
    };
    for _ in 0..for_ms {
        upload.tick(programs, for_ms);
    }
    upload.outcome
}

impl Upload {
    fn tick(&mut self, programs: &mut Programs, for_ms: u64) {
        self.now_ms += 1;
        programs.at(self.now_ms * 1000);
        self.receive(programs);
        self.slow_down();
        let place = programs.candidate(HERE.1, THERE.1).map(|c| c.place);
        self.make(programs, place);
        self.release(programs, place);
        self.ask();
        self.carry();
        if self.now_ms + 1000 > START_MS + for_ms {
            self.outcome.queue_ms = self.outcome.queue_ms.max(self.queue.len() as u64);
        }
    }

    /// Takes the server's packets.
    fn receive(&mut self, programs: &Programs) {
        while self
            .arriving
            .front()
            .is_some_and(|(at, _)| *at <= self.now_ms)
        {
            match self.arriving.pop_front().expect("there is one").1 {
                Queued::Echo(sent_ms) => self.hear(programs, sent_ms),
                Queued::Data(number) => self.acknowledge(programs, number),
            }
        }
    }

    fn hear(&mut self, programs: &Programs, sent_ms: u64) {
        let Some(flow) = programs.candidate(HERE.1, THERE.1) else {
            return;
        };
        if self.kind.gated {
            programs.records().gate(flow.place, true, 0);
        }
        let places = [flow.place as u16, u16::MAX, u16::MAX, u16::MAX];
        let answer = answer(self.arrives(0), sent_ms * 1000, places);
        assert_eq!(programs.pass(Way::Arrives, &answer), Fate::Passes);
        self.round_ms = self.now_ms - sent_ms;
    }

    fn acknowledge(&mut self, programs: &Programs, number: u64) {
        let more = (number - self.known) as f64;
        self.known = number;
        self.window += if self.starts {
            more
        } else {
            more / self.window
        };
        self.window = self.window.min(self.kind.window);
        if number.is_multiple_of(2) {
            let packet = self.arrives(self.kind.answers);
            assert_eq!(programs.pass(Way::Arrives, &packet), Fate::Passes);
        }
    }

    fn slow_down(&mut self) {
        let mut falls = false;
        while self.told.front().is_some_and(|at| *at <= self.now_ms) {
            self.told.pop_front();
            falls = self.kind.obeys && self.now_ms > self.fell_ms + self.round_ms;
        }
        if falls {
            (self.fell_ms, self.starts) = (self.now_ms, false);
            self.window = (self.window * 0.7).max(2.0);
        }
    }

    fn make(&mut self, programs: &Programs, place: Option<usize>) {
        while self.made < self.kind.packets && ((self.made - self.known) as f64) < self.window {
            self.made += 1;
            let mark = |place| programs.records().mark(place, self.bytes());
            self.waiting.push_back(Waiting {
                came_ms: self.now_ms,
                mark: place.map_or(0, mark),
            });
            self.tell_waiting(programs, place);
        }
    }

    fn tell_waiting(&self, programs: &Programs, place: Option<usize>) {
        if let Some(place) = place {
            let bytes = self.waiting.len() as u32 * self.bytes();
            programs.records().waits(place, bytes);
        }
    }

    /// What waits leaves in order when the law lets it, as the gate does it.
    fn release(&mut self, programs: &Programs, place: Option<usize>) {
        while let Some(Waiting { came_ms, mark }) = self.waiting.front() {
            let waited_ms = self.now_ms - came_ms;
            let wait_us = place.map_or(0, |place| programs.records().wait_us(place, *mark));
            if wait_us > 0 && waited_ms * 1000 < TG_HOLD_MAX_US.into() {
                return;
            }
            self.waiting.pop_front();
            self.tell_waiting(programs, place);
            self.outcome.longest_ms = self.outcome.longest_ms.max(waited_ms);
            self.outcome.waited += u64::from(waited_ms > 0);
            self.leave(programs);
        }
    }

    fn leave(&mut self, programs: &Programs) {
        self.outcome.left += 1;
        let fate = programs.pass(Way::Leaves, &self.leaves());
        if fate != Fate::Passes {
            let signal = (self.outcome.left, self.now_ms, self.round_ms);
            self.outcome.signals.push(signal);
        }
        let full = self.queue.len() >= QUEUE;
        if fate != Fate::Passes || full {
            let after_ms = ROUND_MS + self.queue.len() as u64;
            self.told.push_back(self.now_ms + after_ms);
        }
        if fate != Fate::Dropped && !full {
            self.queue.push_back(Queued::Data(self.outcome.left));
        }
    }

    fn ask(&mut self) {
        let since_ms = self.now_ms - START_MS;
        if since_ms.is_multiple_of(ECHO_EVERY_MS) && since_ms < self.kind.answers_for_ms {
            self.queue.push_back(Queued::Echo(self.now_ms));
        }
    }

    /// Carries one packet per millisecond; an echo takes none of the link's time.
    fn carry(&mut self) {
        while let Some(first) = self.queue.pop_front() {
            let is_data = matches!(first, Queued::Data(_));
            self.arriving.push_back((self.now_ms + ROUND_MS, first));
            if is_data {
                return;
            }
        }
    }

    fn bytes(&self) -> u32 {
        let ip = if self.kind.ip == Ip::V4 { 20 } else { 40 };
        ip + 8 + DATAGRAM as u32
    }

    fn arrives(&self, payload: usize) -> Packet {
        let packet = Packet::new(Link::Ethernet, self.kind.ip, THERE, HERE);
        packet.with_datagram(&vec![0x5a; payload])
    }

    fn leaves(&self) -> Packet {
        let packet = Packet::new(Link::Ethernet, self.kind.ip, HERE, THERE);
        let packet = Packet {
            ecn: self.kind.ecn,
            ..packet
        };
        packet.with_datagram(&[0x5a; DATAGRAM])
    }
}
