//! A packet model in virtual time, just enough to judge a law: bulk senders that are never
//! loss-limited, emulated links towards the receiver's one interface, a plain delay back.
//!
//! A sender doubles its congestion window every round trip; only the window that the receiver's flow advertises limits
//! it. Real congestion controls meet the laws in the laboratory.

mod outcome;
mod receiver;
mod sender;

pub use outcome::Outcome;
use outcome::Record;
use receiver::{AckOnWire, Receiver};
use sender::Sender;
use std::collections::VecDeque;
use std::time::Duration;
use tidegate_laws::{Ack, Params, Path, Upload};
use tidegate_link::{Config, Delivery, Instant, Link, Packet, Policy, QueueConfig, Rate};

pub const MSS: u32 = 1448;
const HEADERS: usize = 52;

/// One sender.
#[derive(Clone, Debug)]
pub struct Source {
    /// When it starts; late enough for a handshake before.
    pub start: Duration,
    /// When it falls silent, if it ever does.
    pub end: Option<Duration>,
    /// The links that its data cross, one after another.
    pub way: Vec<usize>,
    /// By how much its way back is longer than the model's.
    pub away: Duration,
    /// `Some((bytes, period))`: `bytes` at the start of every period; `None`: no end of data.
    pub chunks: Option<(u64, Duration)>,
    /// What its clock does.
    pub lie: Option<Lie>,
}

/// A clock that lies.
#[derive(Clone, Copy, Debug)]
#[allow(dead_code, reason = "most tests' senders are honest")]
pub enum Lie {
    /// Ahead by the first duration in every second half of a period, the second one.
    Swings(Duration, Duration),
    /// Set by this many milliseconds at that time, or left behind by them in a sleep.
    Set(Duration, i32),
    /// From that time on as many millionths too fast, or too slow; the rate is reached within the last duration.
    Drifts(Duration, i32, Duration),
    /// Ahead by the queue that the round trip shows, so that the queue disappears.
    Hides,
    /// Honest for two seconds; from then on it shows a queue that stands at this delay, whatever its window is.
    Stands(Duration),
    /// It shows the longest queue of the last two seconds, so that no silence makes it fall.
    Keeps,
    /// Its clock is true, but after two seconds its own packets wait before they leave, so that all packets wait for
    /// this long in total.
    Waits(Duration),
    /// Behind by the last wait of that other flow's data, so that both seem to wait together.
    Imitates(usize),
}

impl Source {
    /// A bulk sender that starts one second after `start_s`.
    pub fn bulk(start_s: u64) -> Self {
        Self {
            start: Duration::from_secs(start_s + 1),
            end: None,
            way: vec![0],
            away: Duration::ZERO,
            chunks: None,
            lie: None,
        }
    }

    /// The same behind other links.
    #[allow(dead_code, reason = "most tests have one link")]
    pub fn over(mut self, way: &[usize]) -> Self {
        self.way = way.to_vec();
        self
    }

    /// The same, `ms` farther away.
    #[allow(dead_code, reason = "not every test's senders differ in that")]
    pub fn farther(mut self, ms: u64) -> Self {
        self.away = Duration::from_millis(ms);
        self
    }
}

/// The experiment.
pub struct Model {
    /// The links towards the receiver; sources choose theirs.
    pub links: Vec<Config>,
    /// Delay of the way back, and its later values; begins at 0.
    pub back: Vec<(Duration, Duration)>,
    pub params: Params,
    pub sources: Vec<Source>,
    pub duration: Duration,
    /// The time that does not count.
    pub warmup: Duration,
    /// How much faster the senders' clocks run than the receiver's, in parts per million.
    pub sender_ppm: i64,
    /// The law is at the senders, on one interface with one uplink, and the receivers' clocks lie.
    pub uploads: bool,
}

impl Model {
    /// `sources` for `seconds`, the first `warmup` not counted, on 20 Mbit/s and 20 ms each way, with an unlimited
    /// buffer.
    #[allow(dead_code, reason = "not every test's link is this")]
    pub fn deep(params: Params, sources: Vec<Source>, seconds: u64, warmup: u64) -> Self {
        let delay = Duration::from_millis(20);
        Self {
            links: vec![deep(Rate::constant(20e6), delay)],
            back: vec![(Duration::ZERO, delay)],
            params,
            sources,
            duration: Duration::from_secs(seconds),
            warmup: Duration::from_secs(warmup),
            sender_ppm: 0,
            uploads: false,
        }
    }
}

/// A link with `delay` and an unlimited buffer.
pub fn deep(rate: Rate, delay: Duration) -> Config {
    Config {
        rate,
        delay: delay.into(),
        queue: QueueConfig {
            packets: None,
            bytes: None,
            policy: Policy::DropTail,
            ..QueueConfig::default()
        },
        ..Config::default()
    }
}

/// A full segment on its way.
pub struct Data {
    flow: usize,
    /// Links crossed before.
    hops: usize,
    /// In queues, so far.
    queued: Duration,
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
    links: Vec<Link<Data>>,
    path: Path,
    senders: Vec<Sender>,
    /// Stamped, but not sent yet, with the time at which it leaves, by flow.
    withheld: Vec<VecDeque<(Instant, Data)>>,
    receivers: Vec<Receiver>,
    /// The senders' records, where the law is there.
    uploads: Vec<Upload>,
    /// On their way back, by flow.
    acks: Vec<VecDeque<AckOnWire>>,
    /// How long each flow's data last waited.
    waited: Vec<Duration>,
    record: Record,
}

impl Model {
    /// Runs it from the start to the end.
    pub fn run(&self) -> Outcome {
        let warm = Instant::ZERO + self.warmup;
        let mut world = World {
            model: self,
            now: Instant::ZERO,
            links: (self.links.iter().zip(1..))
                .map(|(link, seed)| Link::new(link.clone(), seed))
                .collect(),
            path: Path::default(),
            senders: self.sources.iter().map(Sender::new).collect(),
            withheld: self.sources.iter().map(|_| VecDeque::new()).collect(),
            receivers: self.sources.iter().map(Receiver::new).collect(),
            uploads: vec![Upload::default(); self.sources.len()],
            acks: self.sources.iter().map(|_| VecDeque::new()).collect(),
            waited: vec![Duration::ZERO; self.sources.len()],
            record: Record::new(self.sources.len(), warm),
        };
        let end = Instant::ZERO + self.duration;
        while world.now < end {
            world.step();
            world.now = world.next().min(end);
        }
        let capacities = (world.links.iter_mut())
            .map(|link| link.capacity_bytes(warm, end))
            .collect();
        let questions = world
            .receivers
            .iter()
            .map(|r| r.questions(&world.path))
            .sum();
        world.record.outcome(capacities, questions)
    }

    fn back_delay(&self, flow: usize, now: Instant) -> Duration {
        let past = since_start(now);
        let step = self.back.iter().rev().find(|(at, _)| *at <= past);
        step.expect("begins at 0").1 + self.sources[flow].away
    }
}

impl World<'_> {
    /// Does everything that is due now: starts, acknowledgements, deliveries.
    fn step(&mut self) {
        for i in 0..self.senders.len() {
            if self.senders[i].starts(self.now) {
                let back = self.model.back_delay(i, self.now);
                let left = Instant::from_nanos(self.now.as_nanos() - back.as_nanos() as u64);
                let stamp = self.receivers[i].greet(left);
                self.senders[i].start(stamp);
            }
            self.senders[i].produce(self.now);
            self.release(i);
            self.transmit(i);
            while let Some(mut ack) = self.acks[i].pop_front_if(|ack| ack.due <= self.now) {
                if self.model.uploads {
                    self.steer(i, &mut ack);
                }
                self.senders[i].acknowledged(&ack, self.now);
                self.transmit(i);
            }
        }
        for link in 0..self.links.len() {
            while let Some(delivery) = self.links[link].poll(self.now) {
                self.record.crossed(link, &delivery);
                self.go_on(delivery);
            }
        }
    }

    /// The law at the sender lowers the window that an acknowledgement brings.
    fn steer(&mut self, flow: usize, ack: &mut AckOnWire) {
        let told = Ack {
            now_us: self.now.as_nanos() / 1000,
            ack: ack.ack,
            raw: ack.raw,
            scale: receiver::SCALE,
            bare: true,
            sack: false,
            tsval: Some(ack.tsval),
        };
        let raw =
            self.uploads[flow].ack_in(&mut self.path, &self.model.params, &told, Some(ack.tsecr));
        ack.raw = raw;
    }

    fn transmit(&mut self, flow: usize) {
        let lie_ms = self.senders[flow].lie_ms(self.now, &self.waited);
        let skew = if self.model.uploads {
            (0, 0)
        } else {
            (self.model.sender_ppm, lie_ms)
        };
        while let Some(data) = self.senders[flow].next(flow, self.now, skew) {
            if self.model.uploads {
                self.uploads[flow].data_out(self.now.as_nanos() / 1000, MSS, data.tsval);
            }
            let due = self.now + self.senders[flow].waits(self.now);
            let withheld = &mut self.withheld[flow];
            let due = withheld.back().map_or(due, |(last, _)| due.max(*last));
            withheld.push_back((due, data));
        }
        self.release(flow);
    }

    /// Segments that have waited long enough leave.
    fn release(&mut self, flow: usize) {
        let first = self.model.sources[flow].way[0];
        while let Some((_, data)) = self.withheld[flow].pop_front_if(|(due, _)| *due <= self.now) {
            self.senders[flow].leaves(&data, self.now);
            self.links[first].push(self.now, data);
        }
    }

    /// Into the next link, or to the receiver.
    fn go_on(&mut self, delivery: Delivery<Data>) {
        let mut data = delivery.packet;
        data.hops += 1;
        data.queued += delivery.queued;
        match self.model.sources[data.flow].way.get(data.hops) {
            Some(&link) => self.links[link].push(self.now, data),
            None => self.deliver(&data),
        }
    }

    fn deliver(&mut self, data: &Data) {
        self.waited[data.flow] = data.queued;
        let lie_ms = self.senders[data.flow].lie_ms(self.now, &self.waited);
        let receiver = &mut self.receivers[data.flow];
        let steers = (!self.model.uploads).then_some((&mut self.path, &self.model.params));
        let chunk_done = receiver.data(steers, data, self.now);
        self.record
            .arrived(data, self.now, receiver.group(&self.path));
        if chunk_done {
            self.record.chunk(data.flow, self.now);
        }
        if let Some(mut ack) = receiver.acknowledge(self.now, chunk_done) {
            if self.model.uploads {
                ack.tsval = ack.tsval.wrapping_add_signed(lie_ms);
            }
            // The way back never reorders.
            let due = self.now + self.model.back_delay(data.flow, self.now);
            let acks = &mut self.acks[data.flow];
            ack.due = acks.back().map_or(due, |last| last.due.max(due));
            acks.push_back(ack);
        }
    }

    fn next(&self) -> Instant {
        let timers = self.senders.iter().filter_map(Sender::timer);
        let deliveries = self.links.iter().filter_map(Link::next_event);
        let acks = self.acks.iter().filter_map(|acks| acks.front());
        let withheld = self.withheld.iter().filter_map(|data| data.front());
        let all = timers.chain(deliveries).chain(acks.map(|ack| ack.due));
        let all = all.chain(withheld.map(|(due, _)| *due));
        all.min()
            .unwrap_or(Instant::ZERO + self.model.duration)
            .max(self.now)
    }
}
