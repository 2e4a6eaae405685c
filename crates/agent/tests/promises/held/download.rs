//! A download over UDP, clocked by its acknowledgements: a link of one packet per millisecond with a long queue,
//! between the hold's programs and a sender that slows down only when it is signalled.

use crate::gate::Way;
use crate::held::programs::{Fate, Programs, answer};
use crate::packet::{Endpoint, Ip, Link, Packet};
use std::collections::VecDeque;
use tidegate_laws::sys::TG_HOLD_MAX_US;

/// When each download begins.
const START_MS: u64 = 5_000;

/// Each way, without a queue.
const ONE_WAY_MS: u64 = 20;

/// Payload of a datagram.
const DATAGRAM: usize = 1200;

const ECHO_EVERY_MS: u64 = 40;

/// What the queue may hold of one flow.
const QUEUE: usize = 1500;

pub const HERE: Endpoint = (1, 50_000);
pub const THERE: Endpoint = (2, 443);

/// The properties of a download.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    pub link: Link,
    pub ip: Ip,
    /// The ECN codepoint of arriving packets.
    pub ecn: u8,
    /// Whether leaving packets can wait.
    pub gated: bool,
    /// Whether the server answers echoes; until when, in ms since the start.
    pub answers_for_ms: u64,
    /// Bytes of a leaving packet.
    pub leaves: usize,
    /// Whether the sender heeds signals.
    pub obeys: bool,
    /// Packets that arrive as one.
    pub merged: u32,
}

impl Default for Kind {
    fn default() -> Self {
        Self {
            link: Link::Ethernet,
            ip: Ip::V4,
            ecn: 0,
            gated: true,
            answers_for_ms: u64::MAX,
            leaves: 30,
            obeys: true,
            merged: 1,
        }
    }
}

/// What became of its packets.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    pub arrived: u64,
    /// For each signal: how many packets had arrived, as merged, when, and the round trip of the last echo, in ms.
    pub signals: Vec<(u64, u64, u64)>,
    /// Packets as merged.
    pub came: u64,
    /// The longest that a leaving packet has waited, and how many have waited.
    pub longest_ms: u64,
    pub waited: u64,
    /// The longest queue of the last second, in ms.
    pub queue_ms: u64,
}

/// Packets that wait: when they were made, and how much had arrived by then.
type Waiting = VecDeque<(u64, u64)>;

/// A download in progress.
struct Download {
    kind: Kind,
    now_ms: u64,
    /// The sender's window, what it has sent, and what it knows to have arrived, in packets.
    window: f64,
    sent: u64,
    known: u64,
    slow_start: bool,
    told_ms: u64,
    /// Packets, or echoes with the time at which they were sent.
    queue: VecDeque<Option<u64>>,
    arriving: VecDeque<(u64, Option<u64>)>,
    acknowledging: VecDeque<(u64, u64)>,
    signalled: VecDeque<u64>,
    waiting: Waiting,
    round_ms: u64,
    outcome: Outcome,
}

/// Runs a download of that kind for `for_ms`.
pub fn download(programs: &mut Programs, kind: Kind, for_ms: u64) -> Outcome {
    let mut download = Download {
        kind,
        now_ms: START_MS,
        window: 10.0,
        sent: 0,
        known: 0,
        slow_start: true,
        told_ms: 0,
        queue: VecDeque::new(),
        arriving: VecDeque::new(),
        acknowledging: VecDeque::new(),
        signalled: VecDeque::new(),
        waiting: Waiting::new(),
        round_ms: 2 * ONE_WAY_MS,
        outcome: Outcome::default(),
    };
    programs.at(download.now_ms * 1000);
    programs.pass(Way::Leaves, &download.leaving());
    for _ in 0..for_ms {
        download.tick(programs, for_ms);
    }
    download.outcome
}

impl Download {
    fn tick(&mut self, programs: &mut Programs, for_ms: u64) {
        self.now_ms += 1;
        programs.at(self.now_ms * 1000);
        self.send();
        self.ask();
        if let Some(first) = self.queue.pop_front() {
            self.arriving.push_back((self.now_ms + ONE_WAY_MS, first));
            // An echo takes none of the link's time.
            if first.is_some() {
                let next = self.queue.pop_front().into_iter();
                next.for_each(|one| self.arriving.push_back((self.now_ms + ONE_WAY_MS, one)));
            }
        }
        self.receive(programs);
        self.release(programs);
        if self.now_ms + 1000 > START_MS + for_ms {
            self.outcome.queue_ms = self.outcome.queue_ms.max(self.queue.len() as u64);
        }
    }

    /// Takes acknowledgements, and sends what they allow.
    fn send(&mut self) {
        while self
            .acknowledging
            .front()
            .is_some_and(|(at, _)| *at <= self.now_ms)
        {
            let (_, up_to) = self.acknowledging.pop_front().expect("there is one");
            let more = up_to.saturating_sub(self.known) as f64;
            self.known = self.known.max(up_to);
            self.window += if self.slow_start {
                more
            } else {
                more / self.window
            };
        }
        while self.signalled.front().is_some_and(|at| *at <= self.now_ms) {
            self.signalled.pop_front();
            self.slow_down();
        }
        while ((self.sent - self.known) as f64) < self.window {
            if self.queue.len() >= QUEUE {
                // A packet is lost, and the sender knows.
                self.slow_down();
                break;
            }
            self.sent += 1;
            self.queue.push_back(None);
        }
    }

    fn slow_down(&mut self) {
        let round_ms = 2 * ONE_WAY_MS + self.queue.len() as u64;
        if self.kind.obeys && self.now_ms > self.told_ms + round_ms {
            self.told_ms = self.now_ms;
            self.slow_start = false;
            self.window = (self.window * 0.7).max(2.0);
        }
    }

    /// The server's answer to an echo that came a while ago goes through the same queue.
    fn ask(&mut self) {
        let since_ms = self.now_ms - START_MS;
        if since_ms.is_multiple_of(ECHO_EVERY_MS) && since_ms < self.kind.answers_for_ms {
            self.queue.push_back(Some(self.now_ms - ONE_WAY_MS));
        }
    }

    fn receive(&mut self, programs: &Programs) {
        while self
            .arriving
            .front()
            .is_some_and(|(at, _)| *at <= self.now_ms)
        {
            match self.arriving.pop_front().expect("there is one").1 {
                Some(sent_ms) => self.hear(programs, sent_ms),
                None => self.take(programs),
            }
        }
    }

    fn hear(&mut self, programs: &Programs, sent_ms: u64) {
        if let Some(flow) = programs.candidate(HERE.1, THERE.1) {
            if self.kind.gated {
                programs.records().gate(flow.place, true, 0);
            }
            let places = [flow.place as u16, u16::MAX, u16::MAX, u16::MAX];
            let answer = answer(self.arriving_packet(0), sent_ms * 1000, places);
            assert_eq!(programs.pass(Way::Arrives, &answer), Fate::Passes);
            self.round_ms = self.now_ms - sent_ms;
        }
    }

    fn take(&mut self, programs: &Programs) {
        self.outcome.arrived += 1;
        let merged = self.kind.merged;
        if !self.outcome.arrived.is_multiple_of(merged.into()) {
            return;
        }
        let packet = self.arriving_packet(merged as usize * DATAGRAM);
        let fate = programs.pass_merged(Way::Arrives, &packet, merged);
        self.outcome.came += 1;
        if fate != Fate::Passes {
            let signal = (self.outcome.came, self.now_ms, self.round_ms);
            self.outcome.signals.push(signal);
            self.signalled.push_back(self.now_ms + ONE_WAY_MS);
        }
        if self.outcome.came.is_multiple_of(2) {
            self.waiting.push_back((self.now_ms, self.outcome.arrived));
        }
    }

    /// What waits leaves in order when the law lets it, as the gate does it.
    fn release(&mut self, programs: &Programs) {
        let flow = programs.candidate(HERE.1, THERE.1);
        while let Some((made_ms, arrived)) = self.waiting.front().copied() {
            let waited_ms = self.now_ms - made_ms;
            // By the record's count when the packet was made.
            let behind = self.outcome.arrived - arrived;
            let wait_us = flow.map_or(0, |flow| {
                let packet = self.arriving_packet(DATAGRAM).bytes().len();
                let l2 = if self.kind.link == Link::Ethernet {
                    14
                } else {
                    0
                };
                let all = programs.records().arrived(flow.place);
                let made = all.saturating_sub(behind * (packet - l2) as u64);
                programs.records().wait_us(flow.place, made)
            });
            if wait_us > 0 && waited_ms * 1000 < TG_HOLD_MAX_US.into() {
                return;
            }
            self.waiting.pop_front();
            self.outcome.longest_ms = self.outcome.longest_ms.max(waited_ms);
            self.outcome.waited += u64::from(waited_ms > 0);
            assert_eq!(programs.pass(Way::Leaves, &self.leaving()), Fate::Passes);
            self.acknowledging
                .push_back((self.now_ms + ONE_WAY_MS, arrived));
        }
    }

    fn arriving_packet(&self, payload: usize) -> Packet {
        let packet = Packet::new(self.kind.link, self.kind.ip, THERE, HERE);
        let packet = Packet {
            ecn: self.kind.ecn,
            ..packet
        };
        packet.with_datagram(&vec![0x5a; payload])
    }

    fn leaving(&self) -> Packet {
        let packet = Packet::new(self.kind.link, self.kind.ip, HERE, THERE);
        packet.with_datagram(&vec![0x5a; self.kind.leaves])
    }
}
