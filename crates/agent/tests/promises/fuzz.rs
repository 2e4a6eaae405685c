//! Random packets: all of them pass at their length, and only a window field and its checksum are ever written.
//! `Gate::pass` asserts the first.

use crate::connection::Connection;
use crate::gate::{Gate, Way};
use crate::packet::{Ip, Link, extension, option};
use crate::steering::gate_with_limit;
use rand::{Rng, RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use std::time::Instant;
use tidegate_agent::{Direction, Reason};
use tidegate_testing::is_root;

const START_US: u64 = 5_000_000;
const PACKETS: usize = 40_000;
/// The shortest packet that the kernel's test run accepts: Ethernet's header and IPv6's.
const SHORTEST: usize = 54;

/// Bytes that mean something in Ethernet or IP headers.
const TELLING: [u8; 12] = [0, 1, 2, 4, 5, 6, 8, 0x0f, 0x45, 0x60, 0x81, 0xff];

/// Flows that are steered, one of each kind.
fn flows(gate: &mut Gate) -> Vec<Connection> {
    let kinds = [Link::Ethernet, Link::PlainIp].map(|link| [(link, Ip::V4), (link, Ip::V6)]);
    (50_000..)
        .zip(kinds.concat())
        .map(|(port, (link, ip))| {
            let mut connection = Connection::through(gate, link, ip, port);
            connection.open(gate, START_US);
            connection.steer(gate, START_US, 500);
            connection
        })
        .collect()
}

/// What may stand between IPv6 and TCP.
fn extensions(random: &mut impl Rng) -> Vec<(u8, Vec<u8>)> {
    let count = random.random_range(1..4);
    let mut one = || match random.random_range(0..4) {
        0 => extension::hop_by_hop(random.random_range(1..4)),
        1 => extension::destination(random.random_range(1..4)),
        2 => extension::routing(
            random.random_range(0..6),
            random.random_range(0..2),
            &[1, 2],
        ),
        _ => extension::fragment(random.random_range(0..2), random.random()),
    };
    (0..count).map(|_| one()).collect()
}

/// Writes noise over a few bytes of the packet's head, or cuts it, or both.
fn spoil(random: &mut impl Rng, packet: &mut Vec<u8>) {
    let head = packet.len().min(100);
    for _ in 0..random.random_range(1..6) {
        let at = random.random_range(0..head);
        packet[at] = match random.random_range(0..3) {
            0 => TELLING[random.random_range(0..TELLING.len())],
            1 => packet[at] ^ (1 << random.random_range(0..8)),
            _ => random.random(),
        };
    }
    if random.random_ratio(1, 4) && packet.len() > SHORTEST {
        packet.truncate(random.random_range(SHORTEST..packet.len()));
    }
}

/// How many bytes differ, and whether they lie within four: the window and the checksum.
fn is_window_write(before: &[u8], after: &[u8]) -> bool {
    let changed: Vec<usize> = (0..before.len())
        .filter(|&i| before[i] != after[i])
        .collect();
    changed.is_empty() || changed[changed.len() - 1] - changed[0] < 4
}

#[test]
fn spoiled_packets_of_downloads_pass() {
    if is_root() {
        spoiled_packets_pass(gate_with_limit(20_000));
    }
}

#[test]
fn spoiled_packets_of_uploads_pass() {
    if is_root() {
        spoiled_packets_pass(Gate::before(Direction::Up));
    }
}

/// Many more, of both kinds and with another seed each time: 30 million, unless said otherwise. Alone: `cargo test
/// --release -p tidegate-agent --test promises campaign -- --ignored --nocapture`
#[test]
#[ignore = "takes minutes: ./dev soak runs it"]
fn campaign() {
    if !is_root() {
        return;
    }
    let millions = std::env::var("TIDEGATE_FUZZ_MILLIONS");
    let millions: u64 = millions.map_or(30, |n| n.parse().expect("a number"));
    let rounds = millions.div_ceil(2);
    let began = Instant::now();
    std::thread::scope(|scope| {
        for direction in Direction::ALL {
            scope.spawn(move || {
                for seed in 0..rounds {
                    let gate = match direction {
                        Direction::Down => gate_with_limit(20_000),
                        Direction::Up => Gate::before(Direction::Up),
                    };
                    spoiled_packets_pass_of(seed, 1_000_000, gate);
                }
            });
        }
    });
    let (packets, seconds) = (2_000_000 * rounds, began.elapsed().as_secs_f64());
    println!(
        "{packets} packets in {seconds:.0} s, {:.0} a second",
        packets as f64 / seconds
    );
}

fn spoiled_packets_pass(gate: Gate) {
    spoiled_packets_pass_of(0x7464, PACKETS, gate);
}

fn spoiled_packets_pass_of(seed: u64, packets: usize, mut gate: Gate) {
    let mut flows = flows(&mut gate);
    let mut random = Pcg64Mcg::seed_from_u64(seed);
    let counted: u64 = gate.counts().iter().sum();
    let carried_before: u64 = gate.carried().values().map(|(packets, _)| packets).sum();
    let mut now_us = START_US + 2_000_000;
    for _ in 0..packets {
        now_us += random.random_range(0..2_000);
        gate.at(now_us);
        let flow = random.random_range(0..flows.len());
        let connection = &mut flows[flow];
        let (way, mut packet) = if random.random() {
            (Way::Arrives, connection.incoming(now_us, 50))
        } else {
            connection.expected = connection.expected.wrapping_add(500);
            (Way::Leaves, connection.outgoing(now_us, 500))
        };
        if random.random_ratio(1, 3) {
            packet
                .options
                .extend(option::sack(random.random(), random.random()));
        }
        if random.random_ratio(1, 3) {
            packet.extensions = extensions(&mut random);
        }
        let mut before = packet.bytes();
        spoil(&mut random, &mut before);
        // A spoiled packet of one link may arrive on another.
        let link = if random.random_ratio(1, 20) {
            Link::Ethernet
        } else {
            connection.link
        };
        let after = gate.pass(way, link, &before);
        match way {
            Way::Arrives => assert_eq!(before, after),
            Way::Leaves => assert!(
                is_window_write(&before, &after),
                "{before:02x?}, {after:02x?}"
            ),
        }
    }
    let counts = gate.counts();
    assert_eq!(
        counts.iter().sum::<u64>() - counted,
        packets as u64,
        "each is counted once"
    );
    let carried = gate.carried();
    assert_eq!(
        carried.values().map(|(packets, _)| packets).sum::<u64>() - carried_before,
        packets as u64,
        "each is of one kind"
    );
    for reason in [
        Reason::Measured,
        Reason::Rewritten,
        Reason::NotTcp,
        Reason::NotIp,
        Reason::Fragment,
        Reason::IpOptions,
        Reason::Malformed,
    ] {
        let met = counts[reason as usize];
        assert!(met > 50, "hardly any {reason}: {met}");
    }
}

#[test]
fn noise_passes() {
    if !is_root() {
        return;
    }
    let gates = [gate_with_limit(20_000), Gate::before(Direction::Up)];
    let mut random = Pcg64Mcg::seed_from_u64(0x7465);
    for gate in gates.iter().cycle().take(2 * PACKETS) {
        let mut noise = vec![0; random.random_range(SHORTEST..300)];
        random.fill(&mut noise[..]);
        if random.random() {
            for byte in &mut noise[12..60.min(SHORTEST)] {
                *byte = TELLING[random.random_range(0..TELLING.len())];
            }
        }
        let way = if random.random() {
            Way::Arrives
        } else {
            Way::Leaves
        };
        let link = if random.random() {
            Link::Ethernet
        } else {
            Link::PlainIp
        };
        assert_eq!(gate.pass(way, link, &noise), noise, "no flow is known");
    }
}
