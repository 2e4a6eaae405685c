//! Both ends over paths that lose, reorder and duplicate: everything arrives once, whatever happens.

use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use std::collections::BTreeMap;
use std::time::Duration;
use tidegate_mpath::{
    Arrival, Config, Data, Feedback, Instant, ProxyId, Receiver, ReceiverConfig, Sender,
    Transmission, wire,
};

/// What a path does to its packets.
#[derive(Clone, Copy, Debug)]
struct Way {
    /// Least delay, and how much more it may be.
    delay_ms: (u64, u64),
    loss: f64,
    duplication: f64,
}

impl Way {
    const DEAD: Self = Self {
        delay_ms: (10, 0),
        loss: 1.0,
        duplication: 0.0,
    };
}

/// A packet on its way.
#[derive(Clone, Debug)]
enum Packet {
    Data(Data),
    Feedback(Feedback),
}

struct World {
    now: Instant,
    random: Pcg64Mcg,
    sender: Sender,
    receiver: Receiver,
    direct: Way,
    back: Way,
    proxies: Vec<Way>,
    /// By arrival and a running number.
    on_the_way: BTreeMap<(Instant, u64), Packet>,
    sent: u64,
    buffer: u64,
    /// How often each packet of the stream was handed out as new.
    came: Vec<u32>,
    read: u64,
    /// Packets that the application reads at a time, every 10 ms; all at once if none.
    reads: Option<u64>,
}

impl World {
    fn new(seed: u64, packets: u64, [direct, back]: [Way; 2], proxies: Vec<Way>) -> Self {
        let buffer = 300;
        let mut sender = Sender::new(Config {
            seed,
            pause: Duration::from_secs(1),
            ..Config::default()
        });
        sender.add_proxies((0..proxies.len() as u32).map(ProxyId));
        sender.write(packets);
        sender.finish();
        Self {
            now: Instant::ZERO,
            random: Pcg64Mcg::seed_from_u64(seed),
            sender,
            receiver: Receiver::new(ReceiverConfig {
                buffer,
                ..ReceiverConfig::default()
            }),
            direct,
            back,
            proxies,
            on_the_way: BTreeMap::new(),
            sent: 0,
            buffer,
            came: vec![0; packets as usize],
            read: 0,
            reads: None,
        }
    }

    /// Runs until everything has arrived and is known to have, or virtual time is over.
    fn run(&mut self, seconds: f64) -> bool {
        let end = Instant::from_secs_f64(seconds);
        while self.now < end {
            self.exchange();
            if self.receiver.finished() && self.sender.is_acknowledged() {
                return true;
            }
            let arrival = self.on_the_way.first_key_value().map(|(&(at, _), _)| at);
            let reading = self.reads.map(|_| self.now + Duration::from_millis(10));
            let timers = [
                self.sender.timeout(),
                self.receiver.timeout(),
                arrival,
                reading,
            ];
            let Some(next) = timers.into_iter().flatten().min() else {
                return false;
            };
            self.now = self.now.max(next);
            self.arrivals();
            self.sender.expire(self.now);
        }
        false
    }

    fn exchange(&mut self) {
        let count = self.receiver.read(self.reads.unwrap_or(u64::MAX));
        self.read += count;
        while let Some(Transmission { proxy, data }) = self.sender.transmit(self.now) {
            let way = proxy.map_or(self.direct, |proxy| self.proxies[proxy.0 as usize]);
            self.send(way, Packet::Data(data));
        }
        while let Some(feedback) = self.receiver.transmit(self.now) {
            self.send(self.back, Packet::Feedback(feedback));
        }
        assert!(self.receiver.waiting() <= self.buffer);
        // A window is never larger than what has been delivered plus its initial size.
        let grown: u64 = self.sender.paths().map(|path| path.delivered).sum();
        let window = self.sender.info().window;
        assert!(
            window.is_finite() && window <= 1e6 + grown as f64,
            "{window}"
        );
        assert!(self.sender.paths().all(|path| path.window >= 1.0));
    }

    fn send(&mut self, way: Way, packet: Packet) {
        let copies = 1 + u32::from(self.random.random_bool(way.duplication));
        for _ in 0..copies {
            if self.random.random_bool(way.loss) {
                continue;
            }
            let (least, more) = way.delay_ms;
            let delay = least + self.random.random_range(0..=more);
            self.sent += 1;
            let key = (self.now + Duration::from_millis(delay), self.sent);
            self.on_the_way.insert(key, packet.clone());
        }
    }

    fn arrivals(&mut self) {
        while let Some(first) = self.on_the_way.first_entry() {
            if first.key().0 > self.now {
                break;
            }
            match first.remove() {
                Packet::Data(data) => {
                    if self.receiver.receive(self.now, &data) == Arrival::New {
                        self.came[data.stream as usize] += 1;
                    }
                }
                Packet::Feedback(feedback) => {
                    self.sender.receive(self.now, &through_bytes(feedback))
                }
            }
        }
    }

    fn assert_intact(&self) {
        assert!(self.came.iter().all(|&times| times == 1));
        assert_eq!(self.read, self.came.len() as u64);
    }
}

/// A feedback after it has been written to bytes and read again.
fn through_bytes(feedback: Feedback) -> Feedback {
    let mut bytes = Vec::new();
    wire::write_feedback(&mut bytes, 1, &feedback);
    match wire::parse(&bytes) {
        Ok(wire::Packet::Feedback { feedback, .. }) => feedback,
        other => panic!("{other:?}"),
    }
}

fn ways() -> impl Strategy<Value = Way> {
    (1..80_u64, 0..40_u64, 0.0..0.2, 0.0..0.1).prop_map(|(least, more, loss, duplication)| Way {
        delay_ms: (least, more),
        loss,
        duplication,
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn the_stream_arrives_intact(
        seed: u64,
        packets in 1..1500_u64,
        direct in ways(),
        back in ways(),
        proxies in prop::collection::vec(ways(), 0..6),
        reads in prop::option::of(1..50_u64),
    ) {
        let mut world = World::new(seed, packets, [direct, back], proxies);
        world.reads = reads;
        prop_assert!(world.run(7200.0), "stuck at {} of {packets}", world.read);
        world.assert_intact();
    }

    /// Whatever a peer reports, nothing panics, and no packet counts as delivered that was not sent.
    #[test]
    fn nonsense_from_the_peer_does_no_harm(
        seed: u64,
        words in prop::collection::vec(
            (any::<[u64; 2]>(), 0..4_u32, any::<[u64; 2]>(), any::<u64>(), any::<u32>()), 1..60),
    ) {
        use tidegate_mpath::{Gap, PathGap, PathId, PathReport};
        let mut sender = Sender::new(Config { seed, ..Config::default() });
        sender.add_proxies([ProxyId(1), ProxyId(2)]);
        sender.write(100);
        let mut now = Instant::ZERO;
        for ([next, limit], path, [largest, lost], first, count) in words {
            while sender.transmit(now).is_some() {}
            now += Duration::from_millis(seed % 97);
            let small = |n: u64| if n.is_multiple_of(2) { n % 128 } else { n };
            let gap = Gap { first: small(first), count };
            sender.receive(now, &Feedback {
                next: small(next),
                limit,
                reports: vec![PathReport {
                    path: PathId(path),
                    largest: small(largest),
                    lost: small(lost),
                    delay: Duration::from_micros(lost >> 40),
                }],
                lost: vec![PathGap { path: PathId(path), gap }],
                missing: vec![gap],
            });
            sender.expire(now);
            let window = sender.info().window;
            prop_assert!(window.is_finite() && window >= 1.0);
        }
        prop_assert!(sender.acknowledged() <= 100);
    }

    #[test]
    fn nonsense_from_a_sender_does_no_harm(
        packets in prop::collection::vec((0..3_u32, any::<[u64; 2]>(), any::<u32>(), any::<bool>()), 1..100),
    ) {
        use tidegate_mpath::PathId;
        let mut receiver = Receiver::new(ReceiverConfig::default());
        let mut now = Instant::ZERO;
        for (path, [path_seq, stream], patience, fin) in packets {
            let small = |n: u64| if n.is_multiple_of(2) { n % 20_000 } else { n };
            receiver.receive(now, &Data {
                path: PathId(path),
                path_seq: small(path_seq),
                stream: small(stream),
                patience: Duration::from_millis(patience.into()),
                fin,
            });
            let mut said = 0;
            while receiver.transmit(now).is_some() {
                said += 1;
                prop_assert!(said < 1000);
            }
            prop_assert!(receiver.waiting() <= ReceiverConfig::default().buffer);
            receiver.read(7);
            now += Duration::from_millis(u64::from(patience) % 13);
        }
    }
}

const GOOD: Way = Way {
    delay_ms: (20, 0),
    loss: 0.0,
    duplication: 0.0,
};

#[test]
fn without_loss_no_proxy_carries_more_than_probes() {
    let mut world = World::new(1, 20_000, [GOOD; 2], vec![GOOD; 5]);
    assert!(world.run(60.0));
    world.assert_intact();
    assert_eq!(world.sender.paths().count(), 1);
    assert_eq!(world.sender.info().retransmits, 0);
    assert_eq!(world.sender.info().usable_proxies, 5);
}

#[test]
fn proxies_that_do_not_answer_twice_are_not_used() {
    let lossy = Way { loss: 0.02, ..GOOD };
    let mut world = World::new(2, 20_000, [lossy, GOOD], vec![Way::DEAD, GOOD, Way::DEAD]);
    assert!(world.run(600.0));
    world.assert_intact();
    assert_eq!(world.sender.info().usable_proxies, 1);
}

#[test]
fn a_dead_direct_path_that_comes_back_is_survived() {
    let mut world = World::new(3, 4000, [GOOD; 2], vec![GOOD; 2]);
    assert!(!world.run(0.1));
    world.direct = Way::DEAD;
    assert!(!world.run(20.0));
    world.direct = GOOD;
    assert!(world.run(120.0));
    world.assert_intact();
}

#[test]
fn a_reader_that_pauses_stops_the_sender_and_starts_it_again() {
    let mut world = World::new(4, 3000, [GOOD; 2], Vec::new());
    world.reads = Some(0);
    assert!(!world.run(10.0));
    assert_eq!(world.receiver.waiting(), 300);
    world.reads = Some(20);
    assert!(world.run(60.0));
    world.assert_intact();
}
