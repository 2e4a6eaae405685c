//! A packet model in virtual time, just enough to judge a law: bulk senders that are never
//! loss-limited, one emulated link towards the receiver, a plain delay back.
//!
//! A sender doubles its congestion window every round trip and has nothing else to hold it back
//! than the window that the receiver's flow advertises. Real congestion controls meet the laws in
//! the laboratory.

mod outcome;
mod receiver;
mod sender;

pub use outcome::Outcome;
use outcome::Record;
use receiver::{AckOnWire, Receiver};
use sender::Sender;
use std::collections::VecDeque;
use std::time::Duration;
use tidegate_laws::{Params, Path};
use tidegate_link::{Config, Instant, Link, Packet, Policy, QueueConfig, Rate};

pub const MSS: u32 = 1448;
const HEADERS: usize = 52;

/// One sender.
#[derive(Clone, Debug)]
pub struct Source {
    /// When it starts; late enough for a handshake before.
    pub start: Duration,
    /// `Some((bytes, period))`: so many bytes at the start of every period; `None`: no end of data.
    pub chunks: Option<(u64, Duration)>,
    /// `Some((by, period))`: a clock that lies, ahead by so much in every second half of a period.
    pub swings: Option<(Duration, Duration)>,
}

impl Source {
    /// A bulk sender that starts one second after `start_s`.
    pub fn bulk(start_s: u64) -> Self {
        Self {
            start: Duration::from_secs(start_s + 1),
            chunks: None,
            swings: None,
        }
    }
}

/// The experiment.
pub struct Model {
    pub down: Config,
    /// Delay of the way back, and its later values; begins at 0.
    pub back: Vec<(Duration, Duration)>,
    pub params: Params,
    pub sources: Vec<Source>,
    pub duration: Duration,
    /// Not counted.
    pub warmup: Duration,
    /// How much faster the senders' clocks run than the receiver's, in parts per million.
    pub sender_ppm: i64,
}

impl Model {
    /// Those senders for so many seconds, the first `warmup` not counted, on 20 Mbit/s and 20 ms each way,
    /// with no end of buffer.
    #[allow(dead_code, reason = "not every test's link is this")]
    pub fn deep(params: Params, sources: Vec<Source>, seconds: u64, warmup: u64) -> Self {
        let delay = Duration::from_millis(20);
        Self {
            down: Config {
                rate: Rate::constant(20e6),
                delay: delay.into(),
                queue: QueueConfig {
                    packets: None,
                    bytes: None,
                    policy: Policy::DropTail,
                },
                ..Config::default()
            },
            back: vec![(Duration::ZERO, delay)],
            params,
            sources,
            duration: Duration::from_secs(seconds),
            warmup: Duration::from_secs(warmup),
            sender_ppm: 0,
        }
    }
}

/// A full segment on its way.
pub struct Data {
    flow: usize,
    seq: u32,
    tsval: u32,
    tsecr: u32,
}

impl Packet for Data {
    fn wire_bytes(&self) -> usize {
        MSS as usize + HEADERS
    }
}

/// Time since the start.
fn since_start(now: Instant) -> Duration {
    Duration::from_nanos(now.as_nanos())
}

/// The experiment under way.
struct World<'a> {
    model: &'a Model,
    now: Instant,
    link: Link<Data>,
    path: Path,
    senders: Vec<Sender>,
    receivers: Vec<Receiver>,
    acks: VecDeque<AckOnWire>,
    record: Record,
}

impl Model {
    /// Runs it from the start to the end.
    pub fn run(&self) -> Outcome {
        let mut world = World {
            model: self,
            now: Instant::ZERO,
            link: Link::new(self.down.clone(), 1),
            path: Path::default(),
            senders: self.sources.iter().map(Sender::new).collect(),
            receivers: self.sources.iter().map(Receiver::new).collect(),
            acks: VecDeque::new(),
            record: Record::new(self.sources.len(), Instant::ZERO + self.warmup),
        };
        let end = Instant::ZERO + self.duration;
        while world.now < end {
            world.step();
            world.now = world.next().min(end);
        }
        let capacity = world.link.capacity_bytes(Instant::ZERO + self.warmup, end);
        world.record.outcome(capacity, world.path.raw().probes)
    }

    fn back_delay(&self, now: Instant) -> Duration {
        let past = since_start(now);
        let step = self.back.iter().rev().find(|(at, _)| *at <= past);
        step.expect("begins at 0").1
    }
}

impl World<'_> {
    /// Whatever is due now: starts, acknowledgements, deliveries.
    fn step(&mut self) {
        for i in 0..self.senders.len() {
            if self.senders[i].starts(self.now) {
                let back = self.model.back_delay(self.now);
                let left = Instant::from_nanos(self.now.as_nanos() - back.as_nanos() as u64);
                let stamp = self.receivers[i].greet(left);
                self.senders[i].start(stamp);
            }
            self.senders[i].produce(self.now);
            self.transmit(i);
        }
        while self.acks.front().is_some_and(|ack| ack.due <= self.now) {
            let ack = self.acks.pop_front().expect("not empty");
            self.senders[ack.flow].acknowledged(&ack);
            self.transmit(ack.flow);
        }
        while let Some(delivery) = self.link.poll(self.now) {
            self.record.delivered(self.now, &delivery);
            self.deliver(&delivery.packet);
        }
    }

    fn transmit(&mut self, flow: usize) {
        while let Some(data) = self.senders[flow].next(flow, self.now, self.model.sender_ppm) {
            self.link.push(self.now, data);
        }
    }

    fn deliver(&mut self, data: &Data) {
        let receiver = &mut self.receivers[data.flow];
        let chunk_done = receiver.data(&mut self.path, &self.model.params, data, self.now);
        if chunk_done {
            self.record.chunk(data.flow, self.now);
        }
        if let Some(mut ack) = receiver.acknowledge(data.flow, self.now, chunk_done) {
            // The way back never reorders.
            let due = self.now + self.model.back_delay(self.now);
            ack.due = self.acks.back().map_or(due, |last| last.due.max(due));
            self.acks.push_back(ack);
        }
    }

    fn next(&self) -> Instant {
        let timers = self.senders.iter().filter_map(Sender::timer);
        let others = self.link.next_event().into_iter();
        let all = timers
            .chain(others)
            .chain(self.acks.front().map(|ack| ack.due));
        all.min()
            .unwrap_or(Instant::ZERO + self.model.duration)
            .max(self.now)
    }
}
