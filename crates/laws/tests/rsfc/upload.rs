//! An upload in virtual time: a sender that only its window limits, a link with an unlimited buffer, and its receiver,
//! whose window RSFC steers. Every segment is acknowledged, as in Fig. 5.1.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use tidegate_laws::{Ack, Flow, Law, Params, Path, Segment, sys};

pub const MSS: u32 = 1448;
const PACKET_BITS: u64 = 1500 * 8;
pub const SCALE: u8 = 5;
/// The window that the kernel grants first (RFC 6928), and the largest.
const FIRST_WINDOW: u64 = 10 * MSS as u64;
const LAST_WINDOW: u64 = 65_535 << SCALE;

/// The sender's clock.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    pub tick_us: u64,
    /// How much faster it runs than ours, in parts per million.
    pub ppm: i64,
    /// When it jumps, and by how much, in µs.
    pub jump_us: (u64, i64),
}

impl Clock {
    /// A clock of milliseconds, exact.
    pub const PLAIN: Self = Self::ticking(1_000);

    pub const fn ticking(tick_us: u64) -> Self {
        Self {
            tick_us,
            ppm: 0,
            jump_us: (u64::MAX, 0),
        }
    }

    fn tsval(&self, now_us: u64) -> u32 {
        let now = now_us as i64;
        let jump_us = if now_us >= self.jump_us.0 {
            self.jump_us.1
        } else {
            0
        };
        let own_us = now + now / 1_000_000 * self.ppm + jump_us;
        (own_us.div_euclid(self.tick_us as i64) as u32).wrapping_add(0xfff0_0000)
    }
}

/// Values, each from a moment on.
pub type Steps = Vec<(u64, u64)>;

fn at(steps: &Steps, now_us: u64) -> u64 {
    let past = steps.iter().rev().find(|(from, _)| *from <= now_us);
    past.expect("begins at 0").1
}

/// The experiment. Steps begin at 0.
#[derive(Clone, Debug)]
pub struct Upload {
    /// bit/s.
    pub rate: Steps,
    /// Delay towards the receiver, and back, in µs.
    pub up_us: Steps,
    pub down_us: u64,
    pub clock: Clock,
    pub seconds: u64,
}

/// A segment that arrived, and the law's state after it.
#[derive(Clone, Copy, Debug)]
pub struct Point {
    pub now_us: u64,
    /// How long it stood in the buffer.
    pub buffered_us: u64,
    /// `enum tg_rsfc_state`.
    pub state: u32,
    pub rtt_min_us: u64,
    /// W; `None` for the kernel's.
    pub window: Option<u32>,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// Stamp, echo, time in the buffer.
    Data(u32, u32, u64),
    /// Acknowledgement, right edge, stamp.
    Ack(u32, u32, u32),
}

struct World<'a> {
    upload: &'a Upload,
    flow: Flow,
    path: Path,
    events: BinaryHeap<Reverse<(u64, u64, Event)>>,
    order: u64,
    free_us: u64,
    arrived_us: u64,
    // The sender.
    sent: u32,
    acked: u32,
    edge: u32,
    cwnd: u64,
    echo: u32,
    // The receiver.
    received: u64,
}

impl Upload {
    /// 1 Mbit/s, 50 ms each way.
    pub fn new(seconds: u64) -> Self {
        Self {
            rate: vec![(0, 1_000_000)],
            up_us: vec![(0, 50_000)],
            down_us: 50_000,
            clock: Clock::PLAIN,
            seconds,
        }
    }

    pub fn run(&self) -> Vec<Point> {
        let mut world = World {
            upload: self,
            flow: Flow::default(),
            path: Path::default(),
            events: BinaryHeap::new(),
            order: 0,
            free_us: 0,
            arrived_us: 0,
            sent: 0,
            acked: 0,
            edge: 0,
            cwnd: FIRST_WINDOW,
            echo: 0,
            received: 0,
        };
        world.acknowledge(1_000_000);
        let mut points = vec![];
        while let Some(Reverse((now_us, _, event))) = world.events.pop() {
            if now_us >= self.seconds * 1_000_000 {
                break;
            }
            match event {
                Event::Data(tsval, tsecr, buffered_us) => {
                    points.push(world.data(now_us, (tsval, tsecr), buffered_us));
                }
                Event::Ack(ack, edge, tsval) => world.acknowledged(now_us, ack, edge, tsval),
            }
        }
        points
    }
}

impl World<'_> {
    fn happens(&mut self, at_us: u64, event: Event) {
        self.order += 1;
        self.events.push(Reverse((at_us, self.order, event)));
    }

    fn acknowledged(&mut self, now_us: u64, ack: u32, edge: u32, tsval: u32) {
        self.cwnd += u64::from(ack.wrapping_sub(self.acked));
        (self.acked, self.edge, self.echo) = (ack, edge, tsval);
        let fits = |w: &Self| {
            let out = u64::from(w.sent.wrapping_sub(w.acked) + MSS);
            out <= w.cwnd && w.edge.wrapping_sub(w.sent) as i32 >= MSS as i32
        };
        while fits(self) {
            self.send(now_us);
        }
    }

    fn send(&mut self, now_us: u64) {
        let begin_us = self.free_us.max(now_us);
        self.free_us = begin_us + PACKET_BITS * 1_000_000 / at(&self.upload.rate, begin_us);
        // Nothing overtakes.
        let due_us = self.free_us + at(&self.upload.up_us, begin_us);
        self.arrived_us = self.arrived_us.max(due_us);
        let tsval = self.upload.clock.tsval(now_us);
        self.happens(
            self.arrived_us,
            Event::Data(tsval, self.echo, begin_us - now_us),
        );
        self.sent = self.sent.wrapping_add(MSS);
    }

    fn data(&mut self, now_us: u64, stamps: (u32, u32), buffered_us: u64) -> Point {
        let segment = Segment {
            now_us,
            seq: self.received as u32,
            len: MSS,
            mss: MSS,
            timestamps: Some(stamps),
            ..Segment::default()
        };
        let params = Params {
            law: Law::Rsfc,
            ..Params::default()
        };
        self.flow.data_in(&mut self.path, &params, &segment);
        self.received += u64::from(MSS);
        self.acknowledge(now_us);
        let law = &self.flow.raw().rsfc;
        Point {
            now_us,
            buffered_us,
            state: law.state.into(),
            rtt_min_us: law.least.rtt_us.into(),
            window: (law.window != sys::TG_UNLIMITED).then_some(law.window),
        }
    }

    fn acknowledge(&mut self, now_us: u64) {
        let kernel = (FIRST_WINDOW + 2 * self.received).min(LAST_WINDOW);
        let tsval = (now_us / 1_000) as u32;
        let ack = Ack {
            now_us,
            ack: self.received as u32,
            raw: (kernel >> SCALE) as u16,
            scale: SCALE,
            bare: true,
            sack: false,
            tsval: Some(tsval),
        };
        let raw = self.flow.ack_out(&ack);
        let edge = ack.ack.wrapping_add(u32::from(raw) << SCALE);
        self.happens(
            now_us + self.upload.down_us,
            Event::Ack(ack.ack, edge, tsval),
        );
    }
}
