//! Both ends of a measurement over emulated links, in virtual time: no kernel, and all properties of the link are
//! known.

use crate::{Arrival, Data, Echo, Message, Ping, Pinger, Pong, Receiver, Train, TrainConfig};
use std::time::Duration;
use tidegate_basics::time::Instant;
use tidegate_link::{CellConfig, Config, Link, Packet, SharedLink};

impl Packet for Message {
    fn wire_bytes(&self) -> usize {
        self.bytes()
    }

    fn flow(&self) -> u64 {
        match self {
            Self::Data(Data { flow, .. }) => (*flow).into(),
            _ => u64::MAX,
        }
    }
}

/// A clock that is ahead of the run's time, and runs faster or slower.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Clock {
    /// How far ahead it is at the start.
    pub ahead: Duration,
    /// By how much it is too fast, in parts per million.
    pub drift_ppm: f64,
}

impl Clock {
    /// What it shows at `now`, to the microsecond.
    pub fn at(&self, now: Instant) -> Instant {
        let gained = now.as_nanos() as f64 * self.drift_ppm / 1e6;
        let shown = now.as_nanos() as i64 + gained as i64;
        let whole = Instant::from_nanos(shown.max(0) as u64) + self.ahead;
        Instant::from_nanos(whole.as_nanos() / 1000 * 1000)
    }
}

impl Clock {
    /// How far it is ahead when it shows `shown`, in seconds.
    pub fn ahead_s(&self, shown: Instant) -> f64 {
        let fast = self.drift_ppm / 1e6;
        let run_s = (shown - self.ahead).as_secs_f64() / (1.0 + fast);
        self.ahead.as_secs_f64() + run_s * fast
    }
}

/// Which end of the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// At the links' user.
    Client,
    /// In the network.
    Server,
}

/// From the server to the clients: one queue for all of them, or one for each in a cell.
#[derive(Debug)]
enum Down {
    Link(Box<Link<Message>>),
    Cell(SharedLink<Message>),
}

impl Down {
    fn push(&mut self, now: Instant, message: Message) {
        match self {
            Self::Link(link) => link.push(now, message),
            // Each train goes to a device of its own; pongs go to the first.
            Self::Cell(cell) => {
                let user = match message {
                    Message::Data(data) => usize::from(data.flow) % cell.users().len(),
                    _ => 0,
                };
                cell.push(now, user, message);
            }
        }
    }

    fn poll(&mut self, now: Instant) -> Option<Message> {
        match self {
            Self::Link(link) => link.poll(now).map(|delivery| delivery.packet),
            Self::Cell(cell) => cell.poll(now).map(|(_, delivery)| delivery.packet),
        }
    }

    fn next_event(&self) -> Option<Instant> {
        match self {
            Self::Link(link) => link.next_event(),
            Self::Cell(cell) => cell.next_event(),
        }
    }

    fn is_empty(&self) -> bool {
        match self {
            Self::Link(link) => is_empty(link),
            Self::Cell(cell) => cell.users().iter().all(is_empty),
        }
    }
}

fn is_empty(link: &Link<Message>) -> bool {
    link.queue_len() + link.in_flight() == 0
}

/// Clients and server with a link each way between them.
#[derive(Debug)]
pub struct Emulated {
    now: Instant,
    /// From the server to the clients.
    down: Down,
    /// From the client to the server.
    up: Link<Message>,
    client: Clock,
}

/// Measurements that run at the same time.
#[derive(Debug, Default)]
pub struct Experiment {
    /// The trains, and the side that sends each.
    pub trains: Vec<(Side, TrainConfig)>,
    /// When each starts, after the beginning; without an entry at once.
    pub delays: Vec<Duration>,
    /// The interval between the client's pings.
    pub ping_every: Option<Duration>,
    /// How long it pings, if nothing else runs.
    pub ping_for: Duration,
}

/// The results of an experiment.
#[derive(Debug, Default)]
pub struct Observed {
    /// The arrivals of each train.
    pub trains: Vec<Vec<Arrival>>,
    /// Whether each train made a queue overflow.
    pub overflowed: Vec<bool>,
    /// Bytes that each train sent.
    pub sent_bytes: Vec<u64>,
    /// Pings and pongs.
    pub echoes: Vec<Echo>,
}

impl Emulated {
    /// Links with these settings; `seed` is for everything random.
    pub fn new(down: Config, up: Config, client: Clock, seed: u64) -> Self {
        let down = Down::Link(Box::new(Link::new(down, seed)));
        Self::over(down, up, client, seed)
    }

    /// Devices with a queue each in one cell; the server sends train n to device n, and they share the uplink.
    pub fn in_cell(down: CellConfig, up: Config, client: Clock, seed: u64) -> Self {
        Self::over(Down::Cell(SharedLink::new(down, seed)), up, client, seed)
    }

    fn over(down: Down, up: Config, client: Clock, seed: u64) -> Self {
        Self {
            now: Instant::ZERO,
            down,
            up: Link::new(up, seed ^ 0x5851_f42d_4c95_7f2d),
            client,
        }
    }

    /// The time of the run.
    pub fn now(&self) -> Instant {
        self.now
    }

    /// Runs an experiment, and waits until the links are empty.
    pub fn perform(&mut self, experiment: &Experiment) -> Observed {
        let start = self.now;
        let mut trains: Vec<_> = experiment
            .trains
            .iter()
            .enumerate()
            .map(|(index, (side, config))| {
                let late = experiment.delays.get(index).copied().unwrap_or_default();
                (*side, Train::new(*config, start + late))
            })
            .collect();
        let mut receivers: Vec<_> = (experiment.trains.iter())
            .map(|(_, config)| Receiver::new(config.flow))
            .collect();
        let mut ends = Ends {
            flows: experiment.trains.iter().map(|(_, c)| c.flow).collect(),
            pinger: experiment
                .ping_every
                .map(|every| Pinger::new(start, every, start + Duration::from_secs(36_000))),
            echoes: Vec::new(),
        };
        loop {
            while let Some(message) = self.down.poll(self.now) {
                self.arrive(
                    Side::Client,
                    message,
                    &mut ends,
                    &mut trains,
                    &mut receivers,
                );
            }
            while let Some(delivery) = self.up.poll(self.now) {
                self.arrive(
                    Side::Server,
                    delivery.packet,
                    &mut ends,
                    &mut trains,
                    &mut receivers,
                );
            }
            self.send(&mut ends, &mut trains, &mut receivers);
            let over = trains.iter().all(|(_, train)| train.is_done())
                && self.now >= start + experiment.ping_for;
            let idle = self.down.is_empty() && is_empty(&self.up);
            if over {
                ends.pinger = None;
                if idle {
                    break;
                }
            }
            let sending = trains.iter().filter_map(|(_, train)| train.next_event());
            let reports = receivers.iter().filter_map(Receiver::next_event);
            let own = sending
                .chain(reports.filter(|_| !over))
                .chain(ends.pinger.iter().filter_map(Pinger::next_event));
            let links = [self.down.next_event(), self.up.next_event()];
            let Some(next) = own.chain(links.into_iter().flatten()).min() else {
                break;
            };
            self.now = next.max(self.now);
        }
        Observed {
            overflowed: trains.iter().map(|(_, train)| train.overflowed()).collect(),
            sent_bytes: trains.iter().map(|(_, train)| train.sent_bytes()).collect(),
            trains: receivers.into_iter().map(Receiver::into_arrivals).collect(),
            echoes: ends.echoes,
        }
    }

    fn clock(&self, side: Side) -> Instant {
        match side {
            Side::Client => self.client.at(self.now),
            Side::Server => Clock::default().at(self.now),
        }
    }

    fn push(&mut self, from: Side, message: Message) {
        match from {
            Side::Client => self.up.push(self.now, message),
            Side::Server => self.down.push(self.now, message),
        }
    }

    fn send(&mut self, ends: &mut Ends, trains: &mut [(Side, Train)], receivers: &mut [Receiver]) {
        for (side, train) in trains.iter_mut() {
            while let Some(data) = train.poll(self.now, self.clock(*side)) {
                self.push(*side, Message::Data(data));
            }
        }
        for ((side, train), receiver) in trains.iter().zip(receivers) {
            let report = receiver.report(self.now).filter(|_| !train.is_done());
            if let Some(report) = report {
                self.push(side.other(), Message::Report(report));
            }
        }
        let clock = self.clock(Side::Client);
        while let Some(ping) = ends.pinger.as_mut().and_then(|p| p.poll(self.now, clock)) {
            self.push(Side::Client, Message::Ping(ping));
        }
    }

    fn arrive(
        &mut self,
        at: Side,
        message: Message,
        ends: &mut Ends,
        trains: &mut [(Side, Train)],
        receivers: &mut [Receiver],
    ) {
        let clock = self.clock(at);
        let index = |flow| ends.flows.iter().position(|&known| known == flow);
        match message {
            Message::Data(data) => {
                if let Some(index) = index(data.flow) {
                    // Reports use the run's time, arrivals the clock of their end.
                    receivers[index].take(self.now, clock, &data);
                }
            }
            Message::Report(report) => {
                if let Some(index) = index(report.flow) {
                    trains[index].1.report(self.now, &report);
                }
            }
            Message::Ping(Ping { sequence, sent }) => self.push(
                at,
                Message::Pong(Pong {
                    sequence,
                    asked: sent,
                    answered: clock,
                }),
            ),
            Message::Pong(pong) => ends.echoes.push(Echo::of(&pong, clock)),
        }
    }
}

/// The state of the two ends besides trains.
struct Ends {
    flows: Vec<u8>,
    pinger: Option<Pinger>,
    echoes: Vec<Echo>,
}

impl Side {
    /// The opposite end.
    pub fn other(self) -> Self {
        match self {
            Self::Client => Self::Server,
            Self::Server => Self::Client,
        }
    }
}
