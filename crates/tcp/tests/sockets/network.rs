//! Two stacks and a network between them that loses, delays, repeats and reorders packets.

use rand::{Rng, RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::Duration;
use tidegate_tcp::steer::LawFactory;
use tidegate_tcp::wire::{self, Addresses};
use tidegate_tcp::{Config, Instant, Socket, Stack, State};

pub const MTU: u16 = 1500;
pub const PORT: u16 = 80;

/// What happens to packets, in both directions.
#[derive(Clone, Copy, Debug)]
pub struct Weather {
    /// Probability that a packet is lost.
    pub loss: f64,
    /// Probability that it comes twice.
    pub duplication: f64,
    /// Probability that it is late by up to three times the delay.
    pub reordering: f64,
}

impl Weather {
    pub const FINE: Self = Self {
        loss: 0.0,
        duplication: 0.0,
        reordering: 0.0,
    };
}

const DELAY: Duration = Duration::from_millis(10);

/// Time between two packets: 100 Mbit/s.
const SPACING: Duration = Duration::from_micros(120);

pub struct Network {
    pub now: Instant,
    pub stacks: [Stack; 2],
    weather: Weather,
    random: Pcg64Mcg,
    /// By time of arrival and number: to which stack, and what.
    on_the_way: BTreeMap<(Instant, u64), (usize, Vec<u8>)>,
    sent: u64,
    free: [Instant; 2],
}

pub const CLIENT: usize = 0;
pub const SERVER: usize = 1;

impl Network {
    /// A client, and a server that listens on [`PORT`].
    pub fn new(weather: Weather, seed: u64, server: Config) -> Self {
        let mut random = Pcg64Mcg::seed_from_u64(seed);
        let mut stacks = [0; 2].map(|_| Stack::new(MTU, random.next_u64()));
        stacks[SERVER].listen(PORT, server, None);
        let now = Instant::from_millis(1_000_000);
        Self {
            now,
            stacks,
            weather,
            random,
            on_the_way: BTreeMap::new(),
            sent: 0,
            free: [now; 2],
        }
    }

    pub fn connect(&mut self, config: Config, addresses: Addresses) {
        self.connect_steered(config, None, addresses);
    }

    /// Opens a connection whose client has that law of its own.
    pub fn connect_steered(
        &mut self,
        config: Config,
        law: Option<&LawFactory>,
        addresses: Addresses,
    ) {
        assert!(self.stacks[CLIENT].connect(self.now, config, law, addresses));
    }

    /// Connects and waits until the server has accepted.
    pub fn connected(&mut self, config: Config, addresses: Addresses) -> Addresses {
        self.connect(config, addresses);
        self.accepted()
    }

    /// Waits until the server has accepted a connection.
    pub fn accepted(&mut self) -> Addresses {
        loop {
            assert!(self.step(), "nobody accepts");
            if let Some(accepted) = self.stacks[SERVER].accept(PORT) {
                return accepted;
            }
        }
    }

    pub fn socket(&mut self, which: usize, addresses: &Addresses) -> &mut Socket {
        self.stacks[which].socket(addresses).expect("it is held")
    }

    pub fn state(&mut self, which: usize, addresses: &Addresses) -> State {
        self.socket(which, addresses).connection().state()
    }

    /// Sends what is due, and goes on to whatever happens next; false if nothing will.
    pub fn step(&mut self) -> bool {
        self.send();
        let Some(next) = self.next() else {
            return false;
        };
        self.now = self.now.max(next);
        for stack in &mut self.stacks {
            stack.expire(self.now);
        }
        while let Some(first) = self
            .on_the_way
            .first_entry()
            .filter(|e| e.key().0 <= self.now)
        {
            let (to, packet) = first.remove();
            self.stacks[to]
                .receive(self.now, &packet)
                .expect("nothing is damaged");
        }
        true
    }

    fn next(&self) -> Option<Instant> {
        let arrival = self.on_the_way.keys().next().map(|key| key.0);
        let timers = self.stacks.iter().filter_map(Stack::timeout);
        arrival.into_iter().chain(timers).min()
    }

    pub fn run_for(&mut self, time: Duration) {
        let until = self.now + time;
        while self.now < until && self.step() {}
        self.now = self.now.max(until);
    }

    /// Sends what is due, and goes on to whatever happens next, or to `tick` if that is before.
    pub fn step_until(&mut self, tick: Instant) {
        self.send();
        if self.next().is_some_and(|next| next <= tick) {
            self.step();
        } else {
            self.now = tick;
        }
    }

    /// A packet from outside arrives at `to`; what is answered at once.
    pub fn inject(&mut self, to: usize, packet: &[u8]) -> Vec<Vec<u8>> {
        self.stacks[to]
            .receive(self.now, packet)
            .expect("well formed");
        let mut answers = vec![Vec::new()];
        while self.stacks[to].transmit(self.now, answers.last_mut().unwrap()) {
            answers.push(Vec::new());
        }
        answers.pop();
        answers
    }

    fn send(&mut self) {
        let mut packet = Vec::new();
        for from in [CLIENT, SERVER] {
            while self.stacks[from].transmit(self.now, &mut packet) {
                assert!(
                    packet.len() <= MTU.into(),
                    "{:?}",
                    wire::parse(&packet).unwrap().segment
                );
                let times = if self.random.random_bool(self.weather.duplication) {
                    2
                } else {
                    1
                };
                for _ in 0..times {
                    self.dispatch(from, packet.clone());
                }
            }
        }
    }

    fn dispatch(&mut self, from: usize, packet: Vec<u8>) {
        self.free[from] = self.free[from].max(self.now) + SPACING;
        if self.random.random_bool(self.weather.loss) {
            return;
        }
        let mut arrival = self.free[from] + DELAY;
        if self.random.random_bool(self.weather.reordering) {
            arrival += DELAY.mul_f64(3.0 * self.random.random::<f64>());
        }
        self.sent += 1;
        self.on_the_way
            .insert((arrival, self.sent), (1 - from, packet));
    }
}

pub fn v4() -> Addresses {
    addresses("10.9.0.2:40000", "10.9.0.1:80")
}

pub fn v6() -> Addresses {
    addresses("[fd09::2]:40000", "[fd09::1]:80")
}

fn addresses(source: &str, destination: &str) -> Addresses {
    let parse = |address: &str| address.parse::<SocketAddr>().unwrap();
    Addresses::new(parse(source), parse(destination)).unwrap()
}
