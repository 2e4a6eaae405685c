//! Promises of queue disciplines and stages, tested from outside a link.

use std::time::Duration;
use tidegate_link::{
    Arq, BlockError, Config, Disorder, FqCodelPolicy, Instant, Link, Middlebox, Packet, Policy,
    QueueConfig, Rate, RedPolicy, Sequence, SignalWalk, TokenBucket,
};

/// A packet of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Segment {
    flow: u64,
    number: u32,
    bytes: usize,
}

impl Packet for Segment {
    fn wire_bytes(&self) -> usize {
        self.bytes
    }

    fn flow(&self) -> u64 {
        self.flow
    }

    fn sequence(&self) -> Option<Sequence> {
        Some(Sequence {
            start: self.number,
            end: self.number + 1,
            opens: false,
        })
    }
}

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

fn at(ms: u64) -> Instant {
    Instant::from_millis(ms)
}

/// 12 Mbit/s, 1500 bytes a millisecond, behind 1000 packets.
fn behind(policy: Policy) -> Config {
    Config {
        rate: Rate::constant(12e6),
        queue: QueueConfig {
            policy,
            ..QueueConfig::default()
        },
        ..Config::default()
    }
}

const CODEL: Policy = Policy::Codel {
    target: Duration::from_millis(5),
    interval: Duration::from_millis(100),
};

const PIE: Policy = Policy::Pie {
    target: Duration::from_millis(15),
};

/// An unresponsive flow offers 110 % of the rate for a minute. Returns the mean queueing delay of the last 40 s in ms,
/// and the share of packets dropped in them.
fn overloaded(policy: Policy) -> (f64, f64) {
    let mut link = Link::new(behind(policy), 1);
    let (mut delays, mut delivered) = (Duration::ZERO, 0);
    let (mut now, mut number, mut early) = (Instant::ZERO, 0, 0);
    while now < at(60_000) {
        let packet = Segment {
            flow: 1,
            number,
            bytes: 1500,
        };
        link.push(now, packet);
        number += 1;
        while let Some(delivery) = link.poll(now) {
            if delivery.due >= at(20_000) {
                delays += delivery.queued;
                delivered += 1;
            } else {
                early = link.stats().dropped;
            }
        }
        now += Duration::from_nanos(1_000_000 * 10 / 11);
    }
    let dropped = (link.stats().dropped - early) as f64;
    let mean = delays.as_secs_f64() * 1e3 / f64::from(delivered);
    (mean, dropped / (dropped + f64::from(delivered)))
}

/// Every discipline that holds the delay has to drop the excess load: one packet in eleven.
#[test]
fn against_an_unresponsive_overload_the_delay_keeps_near_the_target() {
    let red = Policy::Red(RedPolicy {
        min_packets: 10.0,
        max_packets: 30.0,
        max_probability: 0.1,
        weight: 0.002,
        packet_time: ms(1),
    });
    for (policy, low, high) in [
        (PIE, 12.0, 18.0),
        // RFC 8289 §5.5 forgets most of what it learnt when it leaves the drop state for the second
        // time (count becomes count − lastcount), so that the delay swings: 25 ms on average.
        (CODEL, 5.0, 30.0),
        // 2 p_b = 1/11 at an average of 10 + 20 · 0.4545 = 19.1 packets of 1 ms.
        (red, 17.5, 20.5),
        // Drop-tail fills the queue of 1000.
        (Policy::DropTail, 990.0, 1001.0),
    ] {
        let (delay, dropped) = overloaded(policy);
        assert!((low..high).contains(&delay), "{policy:?}: {delay} ms");
        assert!(
            (dropped - 1.0 / 11.0).abs() < 0.003,
            "{policy:?}: {dropped}"
        );
    }
}

/// RFC 8290 §6.1's promise: beside a flow that fills the queue, a flow of 100 bytes each 10 ms waits no longer than
/// the packet in transmission and loses nothing; in one shared queue it waits and loses.
#[test]
fn fq_codel_isolates_a_sparse_flow() {
    let sparse = |policy| {
        let mut link = Link::new(behind(policy), 1);
        let (mut worst, mut arrived) = (Duration::ZERO, 0);
        for n in 0..200_000u32 {
            let now = Instant::ZERO + Duration::from_micros(500) * n;
            let packet = if n % 20 == 7 {
                Segment {
                    flow: 2,
                    number: n,
                    bytes: 100,
                }
            } else {
                Segment {
                    flow: 1,
                    number: n,
                    bytes: 1500,
                }
            };
            link.push(now, packet);
            while let Some(delivery) = link.poll(now) {
                if delivery.packet.flow == 2 {
                    worst = worst.max(delivery.queued);
                    arrived += 1;
                }
            }
        }
        (worst, arrived)
    };
    let (worst, arrived) = sparse(Policy::FqCodel(FqCodelPolicy::default()));
    assert!(worst <= ms(1), "{worst:?}");
    assert!(arrived >= 9_999, "{arrived}");
    let (worst, arrived) = sparse(Policy::DropTail);
    assert!(worst > ms(900) && arrived < 6_000, "{worst:?} {arrived}");
}

/// Three flows that offer 1, 2 and 4 times the rate get a third of it each.
#[test]
fn fq_codel_gives_greedy_flows_equal_shares() {
    let mut link = Link::new(behind(Policy::FqCodel(FqCodelPolicy::default())), 1);
    let mut delivered = [0u32; 3];
    for n in 0..70_000u32 {
        let now = Instant::ZERO + Duration::from_nanos(1_000_000 / 7) * n;
        let flow = [0, 1, 1, 2, 2, 2, 2][n as usize % 7];
        let packet = Segment {
            flow,
            number: n,
            bytes: 1500,
        };
        link.push(now, packet);
        while let Some(delivery) = link.poll(now) {
            delivered[delivery.packet.flow as usize] += 1;
        }
    }
    for n in delivered {
        assert!(n.abs_diff(10_000 / 3) < 30, "{delivered:?}");
    }
}

/// An uplink is one queue for everything that a host sends, so a download's ACKs wait behind an upload (thesis §4.4).
/// 64 kB at 50 kbit/s are ten seconds.
#[test]
fn acks_wait_behind_an_upload() {
    let uplink = Config {
        rate: Rate::constant(50e3),
        queue: QueueConfig {
            packets: None,
            bytes: Some(64_000),
            policy: Policy::DropTail,
            ..QueueConfig::default()
        },
        ..Config::default()
    };
    let mut link = Link::new(uplink, 1);
    for number in 0..100 {
        let packet = Segment {
            flow: 1,
            number,
            bytes: 1420,
        };
        link.push(Instant::ZERO, packet);
    }
    let ack = Segment {
        flow: 2,
        number: 0,
        bytes: 52,
    };
    link.push(at(1), ack);
    let queued = std::iter::from_fn(|| link.poll(Instant::MAX))
        .find(|d| d.packet == ack)
        .map(|d| d.queued);
    // 45 packets fit beside the one being sent.
    let expected = Duration::from_micros(46 * 1420 * 8 * 20) - ms(1);
    assert_eq!(queued, Some(expected));
}

/// Shaper, queue, link and propagation in a row, each with its own time: four packets leave the shaper
/// at 0, 0, 2 and 4 ms, the link at 1, 2, 3 and 5 ms, and come 20 ms later.
#[test]
fn stages_add_up() {
    let config = Config {
        shaper: Some(TokenBucket {
            rate_bps: 6e6,
            burst_bytes: 3000,
            queue_packets: 10,
        }),
        delay: ms(20).into(),
        ..behind(Policy::DropTail)
    };
    let mut link = Link::new(config, 1);
    for number in 0..4 {
        let packet = Segment {
            flow: 1,
            number,
            bytes: 1500,
        };
        link.push(Instant::ZERO, packet);
    }
    assert_eq!(
        (link.shaper_len(), link.queue_len(), link.in_flight()),
        (2, 1, 1)
    );
    let deliveries: Vec<_> = std::iter::from_fn(|| link.poll(at(100))).collect();
    let dues: Vec<_> = deliveries.iter().map(|d| d.due).collect();
    assert_eq!(dues, [21, 22, 23, 25].map(at));
    let queued: Vec<_> = deliveries.iter().map(|d| d.queued).collect();
    assert_eq!(queued, [0, 1, 0, 0].map(ms));
}

/// Retransmission in order turns loss into delay: over a channel that fails one time in ten a transport sees no loss
/// and no reordering, but spikes of 8 ms.
#[test]
fn retransmission_hides_errors_and_shows_delay() {
    let config = Config {
        arq: Some(Arq {
            error: BlockError::Constant(0.1),
            retry: ms(8),
            tries: 8,
        }),
        ..behind(Policy::DropTail)
    };
    let mut link = Link::new(config, 1);
    let mut deliveries = Vec::new();
    for number in 0..10_000 {
        let now = at(u64::from(number) * 2);
        let packet = Segment {
            flow: 1,
            number,
            bytes: 1500,
        };
        link.push(now, packet);
        deliveries.extend(std::iter::from_fn(|| link.poll(now)));
    }
    deliveries.extend(std::iter::from_fn(|| link.poll(Instant::MAX)));
    assert_eq!(link.stats().lost, 0);
    assert!(deliveries.iter().map(|d| d.packet.number).eq(0..10_000));
    // 1 ms to send, and a head of the line that waited for 8 ms less what came since.
    let late = deliveries
        .iter()
        .zip(0..)
        .map(|(d, n): (_, u64)| d.due - at(2 * n + 1));
    assert!(late.clone().all(|late| late.as_millis() % 2 == 0));
    let spiked = late.filter(|late| *late > Duration::ZERO).count();
    // 1 − 0.9⁴: any of the four packets within 8 ms, and more for second retries.
    assert!((3_300..4_000).contains(&spiked), "{spiked}");
}

/// A packet is lost on the way and sent again 50 ms later: behind the middlebox the receiver never sees the hole.
#[test]
fn a_middlebox_hides_a_hole() {
    let config = Config {
        middlebox: Some(Middlebox { patience: ms(200) }),
        ..behind(Policy::DropTail)
    };
    let mut link = Link::new(config, 1);
    let mut seen = Vec::new();
    let mut advance = |link: &mut Link<Segment>, until: Instant| {
        while let Some(next) = link.next_event().filter(|&next| next <= until) {
            while let Some(delivery) = link.poll(next) {
                assert_eq!(delivery.due, next);
                seen.push((next, delivery.packet.number));
            }
        }
    };
    for (now, number) in [(0, 0), (10, 2), (20, 3), (60, 1), (70, 5)] {
        let packet = Segment {
            flow: 1,
            number,
            bytes: 1500,
        };
        advance(&mut link, at(now));
        link.push(at(now), packet);
    }
    advance(&mut link, at(1000));
    let expected = [(1, 0), (61, 1), (61, 2), (61, 3), (271, 5)];
    assert_eq!(seen, expected.map(|(ms, number)| (at(ms), number)));
}

/// The randomness of one stage does not affect another: the same packets are reordered with and without
/// retransmission.
#[test]
fn streams_of_randomness_are_apart() {
    let reordered = |arq| {
        let config = Config {
            arq,
            disorder: Some(Disorder {
                reorder: 0.2,
                late_by: Duration::from_secs(1000),
                duplicate: 0.0,
            }),
            ..behind(Policy::DropTail)
        };
        let mut link = Link::new(config, 9);
        for number in 0..500 {
            let packet = Segment {
                flow: 1,
                number,
                bytes: 100,
            };
            link.push(Instant::ZERO, packet);
        }
        let mut late: Vec<_> = std::iter::from_fn(|| link.poll(Instant::MAX))
            .filter(|d| d.due > at(1_000_000))
            .map(|d| d.packet.number)
            .collect();
        late.sort_unstable();
        late
    };
    let arq = Arq {
        error: BlockError::Constant(0.5),
        retry: ms(8),
        tries: 50,
    };
    let late = reordered(None);
    assert!((60..140).contains(&late.len()));
    assert_eq!(late, reordered(Some(arq)));
}

/// Good to weak and back: the queue of a source that offers half of the peak grows in the weak part
/// and is gone again.
#[test]
fn a_walk_fills_and_empties_the_queue() {
    let second = Duration::from_secs(1);
    let points = [
        (Duration::ZERO, 20.0),
        (20 * second, -4.0),
        (40 * second, 20.0),
    ];
    let walk = SignalWalk::new(&points, 24e6, None, 1).expect("valid");
    let config = Config {
        rate: Rate::from(walk),
        queue: QueueConfig {
            packets: None,
            ..QueueConfig::default()
        },
        ..Config::default()
    };
    let mut link = Link::new(config, 1);
    let mut lengths = Vec::new();
    for n in 0..40_000 {
        let packet = Segment {
            flow: 1,
            number: n,
            bytes: 1500,
        };
        link.push(at(n.into()), packet);
        while link.poll(at(n.into())).is_some() {}
        lengths.push(link.queue_len());
    }
    // Offered 12 Mbit/s, at 20 s 24 · 0.2344/5.5547 are carried.
    assert!(lengths[..5_000].iter().all(|&n| n <= 2));
    assert!(lengths[20_000] > 2_000 && lengths[25_000] > lengths[20_000]);
    assert!(lengths[39_999] < lengths[30_000]);
    let possible = link.capacity_bytes(at(20_000), at(21_000)) as f64 * 8.0;
    assert!(
        (possible - 24e6 * 2344.0 / 55_547.0).abs() < 0.4e6,
        "{possible}"
    );
}
