//! Whatever the path does, everything arrives, once and in order, and the books balance.

use super::*;
use crate::Config;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// A small generator of pseudo-random numbers (xorshift64*), seeded by proptest.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) % sides
    }

    fn percent(&mut self, chance: u64) -> bool {
        self.roll(100) < chance
    }
}

/// How bad the path is.
#[derive(Clone, Copy, Debug)]
struct Path {
    seed: u64,
    loss: u64,
    ack_loss: u64,
    duplication: u64,
    /// Largest extra delay in milliseconds.
    jitter: u64,
    sack: bool,
    timestamps: bool,
    window: u64,
    /// Whether the peer takes its window back at will, even whole.
    retracts: bool,
    bytes: u64,
}

/// A receiver that knows nothing but ranges of bytes.
#[derive(Default)]
struct Receiver {
    next: u64,
    /// Ranges above `next`: start to end.
    held: BTreeMap<u64, u64>,
    /// Starts of the ranges, the latest first.
    recent: Vec<u64>,
    duplicate: Option<(u64, u64)>,
    fin: Option<u64>,
}

impl Receiver {
    fn segment(&mut self, segment: &Transmission) {
        let (mut start, mut end) = (segment.offset, segment.offset + u64::from(segment.len));
        if segment.fin {
            self.fin = Some(end);
        }
        end += u64::from(segment.fin);
        self.duplicate = None;
        if end <= self.next {
            self.duplicate = Some((start, end)).filter(|_| start < end);
            return;
        }
        start = start.max(self.next);
        let covering = self.held.range(..=start).next_back();
        if covering.is_some_and(|(_, &right)| right >= end) {
            self.duplicate = Some((start, end));
        }
        self.merge(start, end);
        if let Some(right) = self.held.remove(&self.next) {
            self.next = right;
        }
    }

    fn merge(&mut self, mut start: u64, mut end: u64) {
        let touching: BTreeSet<u64> = self
            .held
            .range(..=end)
            .filter(|&(_, &right)| right >= start)
            .map(|(&left, _)| left)
            .collect();
        for left in touching {
            if let Some(right) = self.held.remove(&left) {
                start = start.min(left);
                end = end.max(right);
            }
        }
        self.held.insert(start, end);
        self.recent.retain(|left| self.held.contains_key(left));
        self.recent.retain(|&left| left != start);
        self.recent.insert(0, start);
    }

    fn blocks(&self) -> Vec<(u64, u64)> {
        let held = self
            .recent
            .iter()
            .filter_map(|left| self.held.get(left).map(|&right| (*left, right)));
        self.duplicate.into_iter().chain(held).take(3).collect()
    }
}

enum Packet {
    Data(Transmission, u32),
    Ack(u64, Vec<(u64, u64)>, u32),
}

struct World {
    path: Path,
    dice: Dice,
    now: Instant,
    sender: Sender,
    receiver: Receiver,
    events: BTreeMap<(u64, u64), Packet>,
    count: u64,
    left: u64,
}

impl World {
    fn new(path: Path) -> Self {
        let mut sender = Sender::new(&Config {
            congestion_control: Algorithm::Reno.into(),
            send_buffer: 200_000,
            ..Config::default()
        });
        sender.establish(
            Instant::ZERO,
            Terms {
                mss: MSS as u32,
                sack: path.sack,
                timestamps: path.timestamps,
                window: path.window,
                rtt: Some(Duration::from_millis(40)),
                resent_syns: 0,
                lost_syns: false,
            },
        );
        Self {
            path,
            dice: Dice(path.seed | 1),
            now: Instant::ZERO,
            sender,
            receiver: Receiver {
                next: 1,
                ..Receiver::default()
            },
            events: BTreeMap::new(),
            count: 0,
            left: path.bytes,
        }
    }

    fn tick(&self) -> u32 {
        (self.now.as_nanos() / 1_000_000) as u32
    }

    fn put(&mut self, packet: Packet) {
        let delay = 20_000 + self.dice.roll(1000 * self.path.jitter + 1);
        self.count += 1;
        let due = self.now.as_nanos() / 1000 + delay;
        self.events.insert((due, self.count), packet);
    }

    fn drain(&mut self) {
        self.left -= self.sender.write(self.left);
        if self.left == 0 {
            self.sender.finish();
        }
        loop {
            let highest = self.sender.next();
            let Some(segment) = self.sender.transmit(self.now) else {
                break;
            };
            self.check_window(highest, &segment);
            let tick = self.tick();
            if !self.dice.percent(self.path.loss) {
                self.put(Packet::Data(segment, tick));
                if self.dice.percent(self.path.duplication) {
                    self.put(Packet::Data(segment, tick));
                }
            }
        }
        verify(&self.sender);
    }

    /// Nothing leaves for the first time beyond the window that the peer announced last.
    fn check_window(&self, highest: u64, segment: &Transmission) {
        let end = segment.offset + u64::from(segment.len) + u64::from(segment.fin);
        let edge = self.sender.una() + self.sender.peer.size();
        assert!(end <= highest || end <= edge, "{segment:?} beyond {edge}");
    }

    fn window(&mut self) -> u64 {
        if self.path.retracts && self.dice.percent(30) {
            self.dice.roll(self.path.window)
        } else {
            self.path.window
        }
    }

    fn arrive(&mut self, packet: Packet) {
        match packet {
            Packet::Data(segment, tick) => {
                self.receiver.segment(&segment);
                if !self.dice.percent(self.path.ack_loss) {
                    let ack = Packet::Ack(self.receiver.next, self.receiver.blocks(), tick);
                    self.put(ack);
                }
            }
            Packet::Ack(offset, blocks, ecr) => {
                let before = self.sender.info();
                let window = self.window();
                self.sender.ack(
                    self.now,
                    &Ack {
                        offset,
                        window,
                        sack: if self.path.sack { &blocks } else { &[] },
                        timestamps: self.path.timestamps.then_some(Timestamps { val: 1, ecr }),
                        data: false,
                        echo: crate::Echo::Nothing,
                        peer_offset: 1,
                    },
                );
                let after = self.sender.info();
                assert!(after.retransmits >= before.retransmits);
                self.new_data_respect_the_window();
            }
        }
    }

    /// New data after an ACK never exceed the congestion window.
    fn new_data_respect_the_window(&mut self) {
        let cwnd = self.sender.congestion.cwnd();
        let prior = self.sender.board.in_flight();
        self.drain();
        assert!(self.sender.board.in_flight() <= cwnd.max(prior));
    }

    /// Until the FIN is acknowledged; the simulated seconds that took.
    fn run(&mut self) -> f64 {
        self.drain();
        for _ in 0..1_000_000 {
            if self.sender.finished() {
                return self.now.as_secs_f64();
            }
            let timer = self.sender.timeout().map(|at| at.as_nanos().div_ceil(1000));
            let packet = self.events.keys().next().map(|key| key.0);
            assert!(
                timer.is_some() || packet.is_some(),
                "nothing will ever happen"
            );
            if packet.is_some_and(|at| timer.is_none_or(|timer| at <= timer)) {
                let ((at, _), packet) = self.events.pop_first().expect("a packet");
                self.now = self.now.max(Instant::from_nanos(at * 1000));
                self.arrive(packet);
            } else if let Some(at) = timer {
                self.now = self.now.max(Instant::from_nanos(at * 1000));
                self.sender.expire(self.now);
                assert!(!self.sender.gave_up());
                self.drain();
            }
        }
        panic!("no end: {:?}", self.sender);
    }
}

fn paths() -> impl Strategy<Value = Path> {
    (
        (any::<u64>(), 0..15_u64, 0..25_u64, 0..20_u64),
        prop_oneof![Just(0), Just(1), 0..60_u64],
        (any::<bool>(), any::<bool>(), any::<bool>()),
        prop_oneof![Just(1_u64 << 20), 3000..40_000_u64],
        1..150_000_u64,
    )
        .prop_map(|(a, jitter, b, window, bytes)| Path {
            seed: a.0,
            loss: a.1,
            ack_loss: a.2,
            duplication: a.3,
            jitter,
            sack: b.0,
            timestamps: b.1,
            window,
            retracts: b.2,
            bytes,
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn everything_arrives(path in paths()) {
        let mut world = World::new(path);
        world.run();
        prop_assert_eq!(world.receiver.next, path.bytes + 2);
        prop_assert_eq!(world.receiver.fin, Some(path.bytes + 1));
        prop_assert!(world.sender.board.is_empty());
        prop_assert_eq!(world.sender.timeout(), None);
    }

    /// A path without loss: nothing is sent twice.
    #[test]
    fn nothing_is_sent_twice_for_nothing(seed: u64, sack: bool, bytes in 1..200_000_u64) {
        let path = Path {
            seed, sack, bytes,
            loss: 0, ack_loss: 0, duplication: 0, jitter: 0,
            timestamps: true, window: 1 << 20, retracts: false,
        };
        let mut world = World::new(path);
        world.run();
        let info = world.sender.info();
        prop_assert_eq!(info.retransmits, 0);
        prop_assert_eq!(info.segments_sent, bytes.div_ceil(MSS));
    }

    /// The FIN has no segment of its own if data fill the last one.
    #[test]
    fn the_fin_rides_with_full_segments(segments in 1..200_u64) {
        let path = Path {
            seed: 0, sack: true, bytes: segments * MSS,
            loss: 0, ack_loss: 0, duplication: 0, jitter: 0,
            timestamps: true, window: 1 << 20, retracts: false,
        };
        let mut world = World::new(path);
        world.run();
        prop_assert_eq!(world.sender.info().segments_sent, segments);
    }
}
