//! An upload in virtual time, seen from its sender: a sender that only its window limits, an uplink with a deep buffer,
//! a receiver that acknowledges every other segment and has no law, and a way back with a queue of its own.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use tidegate_laws::{Ack, Law, Params, Path, Upload};

pub const MSS: u32 = 1448;
pub const SCALE: u8 = 7;
pub const SECOND_US: u64 = 1_000_000;
const PACKET_BITS: u64 = 1500 * 8;
const FIRST_WINDOW: u64 = 10 * MSS as u64;
/// The receiver's window.
const WINDOW: u32 = 4 << 20;
/// How long a lone segment waits for its acknowledgement.
const DELAYED_ACK_US: u64 = 40_000;

/// The receiver's clock.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    pub tick_us: u64,
    /// How much faster it runs than ours, in parts per million.
    pub ppm: i64,
    /// By how many microseconds it is set, or left behind by a sleep, and when.
    pub set: (u64, i64),
}

impl Clock {
    fn tsval(self, now_us: u64) -> u32 {
        let (at_us, by_us) = self.set;
        let set_us = if now_us >= at_us { by_us } else { 0 };
        let own_us = now_us as i64 + now_us as i64 / 1_000_000 * self.ppm + set_us;
        (own_us as u64 / self.tick_us).wrapping_add(0xffff_0000) as u32
    }
}

/// Values, each from a moment on. Begins at 0.
pub type Steps = Vec<(u64, u64)>;

fn at(steps: &Steps, now_us: u64) -> u64 {
    let past = steps.iter().rev().find(|(from, _)| *from <= now_us);
    past.expect("begins at 0").1
}

/// The experiment.
#[derive(Clone, Debug)]
pub struct Experiment {
    pub law: Law,
    /// bit/s.
    pub rate: Steps,
    /// Delays in µs: towards the receiver, and of acknowledgements on the way back, its queue included.
    pub up_us: u64,
    pub back_us: Steps,
    /// Acknowledgements wait for the next multiple of this, as behind another's queue; 0 for none.
    pub clusters_us: u64,
    pub clock: Clock,
    pub timestamps: bool,
    /// The period in segments of losses, each sent again a round trip later; 0 for none.
    pub lost: u64,
    pub seconds: u64,
}

impl Default for Experiment {
    /// 1 Mbit/s, 30 ms each way.
    fn default() -> Self {
        Self {
            law: Law::Tide,
            rate: vec![(0, 1_000_000)],
            up_us: 30_000,
            back_us: vec![(0, 30_000)],
            clusters_us: 0,
            clock: Clock {
                tick_us: 1_000,
                ppm: 0,
                set: (0, 0),
            },
            timestamps: true,
            lost: 0,
            seconds: 60,
        }
    }
}

/// A segment that reached the receiver.
#[derive(Clone, Copy, Debug)]
pub struct Point {
    pub now_us: u64,
    /// How long it stood in the uplink's buffer, and the law's value for that; `None` before it had one.
    pub buffered_us: u64,
    pub queue_us: Option<u32>,
    /// The window that the sender was told.
    pub window: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// First byte, stamp, time in the buffer.
    Data(u32, u32, u64),
    /// The receiver has waited long enough to acknowledge this many segments.
    Late(u64),
    /// The sender has waited long enough for a segment that may be lost.
    Resend(u32),
    /// Acknowledgement, stamp, echo, SACK.
    Ack(u32, u32, u32, bool),
}

struct World<'a> {
    experiment: &'a Experiment,
    upload: Upload,
    path: Path,
    events: BinaryHeap<Reverse<(u64, u64, Event)>>,
    order: u64,
    // The link.
    free_us: u64,
    told_us: u64,
    // The sender.
    sent: u32,
    acked: u32,
    edge: u32,
    cwnd: u64,
    segments: u64,
    missing: Option<u32>,
    // The receiver.
    next: u32,
    ahead: Vec<u32>,
    unacked: Option<u32>,
    arrived: u64,
}

impl Experiment {
    /// Every segment that reached the receiver.
    pub fn run(&self) -> Vec<Point> {
        let mut world = World {
            experiment: self,
            upload: Upload::default(),
            path: Path::default(),
            events: BinaryHeap::new(),
            order: 0,
            free_us: 0,
            told_us: 0,
            sent: 0,
            acked: 0,
            edge: 65_535,
            cwnd: FIRST_WINDOW,
            segments: 0,
            missing: None,
            next: 0,
            ahead: Vec::new(),
            unacked: None,
            arrived: 0,
        };
        if self.timestamps {
            world.upload.handshake(0, u16::MAX);
        }
        world.send(SECOND_US);
        let mut points = Vec::new();
        while let Some(Reverse((now_us, _, event))) = world.events.pop() {
            if now_us >= self.seconds * SECOND_US {
                break;
            }
            match event {
                Event::Data(seq, stamp, buffered_us) => {
                    points.push(world.point(now_us, buffered_us));
                    world.receive(now_us, seq, stamp);
                }
                Event::Late(arrived) if arrived == world.arrived => world.acknowledge(now_us, None),
                Event::Late(_) => {}
                Event::Resend(seq) => world.resend(now_us, seq),
                Event::Ack(ack, stamp, echo, sack) => {
                    world.acknowledged(now_us, ack, stamp, echo, sack);
                }
            }
        }
        points
    }
}

impl World<'_> {
    fn schedule(&mut self, at_us: u64, event: Event) {
        self.order += 1;
        self.events.push(Reverse((at_us, self.order, event)));
    }

    fn point(&self, now_us: u64, buffered_us: u64) -> Point {
        let flow = self.upload.flow();
        Point {
            now_us,
            buffered_us,
            queue_us: (flow.queue_us != u32::MAX).then_some(flow.queue_us),
            window: u64::from(self.edge.wrapping_sub(self.acked)),
        }
    }

    /// Everything that both windows allow.
    fn send(&mut self, now_us: u64) {
        loop {
            let end = self.sent.wrapping_add(MSS);
            let out = u64::from(end.wrapping_sub(self.acked));
            if end.wrapping_sub(self.edge) as i32 > 0 || out > self.cwnd {
                return;
            }
            self.segments += 1;
            let lost = self.experiment.lost;
            let drop = lost > 0 && self.segments.is_multiple_of(lost) && self.missing.is_none();
            self.transmit(now_us, self.sent, drop);
            if drop {
                self.missing = Some(self.sent);
                self.schedule(now_us + SECOND_US, Event::Resend(self.sent));
            }
            self.sent = end;
        }
    }

    fn transmit(&mut self, now_us: u64, seq: u32, drop: bool) {
        // Our clock is in milliseconds.
        let stamp = (now_us / 1_000) as u32;
        self.upload.data_out(now_us, MSS, stamp);
        let rate = at(&self.experiment.rate, now_us);
        let start_us = self.free_us.max(now_us);
        self.free_us = start_us + PACKET_BITS * SECOND_US / rate;
        let arrives_us = self.free_us + self.experiment.up_us;
        if !drop {
            self.schedule(arrives_us, Event::Data(seq, stamp, start_us - now_us));
        }
    }

    /// A segment arrives, in order or not; every other one is acknowledged, and one out of order at once.
    fn receive(&mut self, now_us: u64, seq: u32, stamp: u32) {
        self.arrived += 1;
        if seq != self.next {
            self.ahead.push(seq);
            return self.acknowledge(now_us, Some(true));
        }
        let filled = !self.ahead.is_empty();
        let echo = *self.unacked.get_or_insert(stamp);
        self.next = seq.wrapping_add(MSS);
        while let Some(at) = self.ahead.iter().position(|&seq| seq == self.next) {
            self.next = self.ahead.swap_remove(at).wrapping_add(MSS);
        }
        let first = echo == stamp && !filled;
        if first && self.unacked.is_some() && self.arrived % 2 == 1 {
            self.schedule(now_us + DELAYED_ACK_US, Event::Late(self.arrived));
        } else {
            self.acknowledge(now_us, None);
        }
    }

    fn acknowledge(&mut self, now_us: u64, sack: Option<bool>) {
        let Some(echo) = self.unacked.or(sack.map(|_| 0)) else {
            return;
        };
        self.unacked = None;
        let mut told_us = now_us + at(&self.experiment.back_us, now_us);
        if self.experiment.clusters_us > 0 {
            told_us = told_us.next_multiple_of(self.experiment.clusters_us);
        }
        self.told_us = self.told_us.max(told_us);
        let stamp = self.experiment.clock.tsval(now_us);
        let event = Event::Ack(self.next, stamp, echo, sack.is_some());
        self.schedule(self.told_us, event);
    }

    fn acknowledged(&mut self, now_us: u64, ack: u32, stamp: u32, echo: u32, sack: bool) {
        let ack = Ack {
            now_us,
            ack,
            raw: (WINDOW >> SCALE) as u16,
            scale: SCALE,
            bare: true,
            sack,
            tsval: self.experiment.timestamps.then_some(stamp),
        };
        let params = Params {
            law: self.experiment.law,
            ..Params::default()
        };
        let tsecr = self.experiment.timestamps.then_some(echo);
        let raw = self.upload.ack_in(&mut self.path, &params, &ack, tsecr);
        let edge = ack.ack.wrapping_add(u32::from(raw) << SCALE);
        let back = self.edge.wrapping_sub(edge) as i32;
        assert!(back <= 0, "the edge went back by {back}");
        self.edge = edge;
        let news = u64::from(ack.ack.wrapping_sub(self.acked));
        self.acked = ack.ack;
        self.cwnd = (self.cwnd + news).min(64 << 20);
        // A lost segment is sent again when the receiver misses it.
        if let (true, Some(seq)) = (sack, self.missing) {
            self.resend(now_us, seq);
        }
        self.send(now_us);
    }

    fn resend(&mut self, now_us: u64, seq: u32) {
        if self.missing == Some(seq) {
            self.missing = None;
            self.transmit(now_us, seq, false);
        }
    }
}
