//! The fast path: flows with a round trip too short for an access link, and those that a rule leaves alone, are
//! measured now and then. Every packet is counted, no edge is retracted, and a queue ends it.

use crate::connection::{Connection, MSS};
use crate::gate::{Gate, Way};
use crate::packet::{ACK, FIN, Ip, Link};
use tidegate_agent::{Direction, Reason, Verdict};
use tidegate_testing::is_root;

const START_US: u64 = 5_000_000;
const PORT: u16 = 9_000;

/// The kernel's: four megabytes, with the scale.
const WINDOW: u16 = 32_000;

/// A machine next door, 1.2 Gbit/s.
fn next_door(gate: &mut Gate, link: Link, ip: Ip) -> Connection {
    let mut connection = Connection::through(gate, link, ip, PORT);
    connection.rtt_us = 300;
    connection.segment_us = 10;
    connection.open(gate, START_US - 300);
    connection
}

fn fin(gate: &Gate, connection: &mut Connection, now_us: u64) {
    let mut packet = connection.incoming(now_us, 0);
    packet.flags = ACK | FIN;
    gate.pass(Way::Arrives, packet.link, &packet.bytes());
}

#[test]
fn a_flow_that_no_access_link_could_carry_is_looked_at_now_and_then() {
    if !is_root() {
        return;
    }
    for (link, ip) in [(Link::Ethernet, Ip::V4), (Link::PlainIp, Ip::V6)] {
        let mut gate = Gate::new();
        let mut connection = next_door(&mut gate, link, ip);
        let (now_us, window) = connection.download(&mut gate, START_US, 200_000, WINDOW);
        assert_eq!((window, connection.lowered), (WINDOW, 0), "the kernel's");
        let (segments, acks) = (20_000, 10_000);
        let looks = gate.path().measured / MSS as u64;
        assert!(
            (1..segments / 20).contains(&looks),
            "{looks} of {segments} looked at"
        );
        let passed = gate.passed() / MSS as u64;
        assert_eq!(looks + passed, segments);
        let counts = gate.counts();
        assert_eq!(counts[Reason::Measured as usize], segments);
        assert_eq!(counts[Reason::Unchanged as usize], acks);
        fin(&gate, &mut connection, now_us);
        assert_eq!(gate.path().measured + gate.passed(), segments * MSS as u64);
        // Packets that passed are counted at the next measurement. The first acknowledgements have no queue, and the
        // last one of the handshake has a window.
        let (queues, windows) = gate.shown();
        assert!((segments - 10..=segments).contains(&queues), "{queues}");
        assert!((acks..=acks + 1).contains(&windows), "{windows}");
        // The place's next flow does not inherit this one's counts.
        let (now_us, _) = connection.download(&mut gate, now_us, 200_000, WINDOW);
        fin(&gate, &mut connection, now_us);
        let (_, more) = gate.shown();
        assert!(more - windows <= acks, "{more} windows");
    }
}

#[test]
fn every_packet_counts_where_a_round_trip_is_longer() {
    if !is_root() {
        return;
    }
    let mut gate = Gate::new();
    let mut connection = next_door(&mut gate, Link::Ethernet, Ip::V4);
    connection.rtt_us = 3_000;
    connection.download(&mut gate, START_US, 100_000, WINDOW);
    assert_eq!(gate.passed(), 0);
    assert_eq!(gate.path().measured, 10_000 * MSS as u64);
}

/// The cost of measurements does not grow with the number of flows.
#[test]
fn looks_at_many_flows_are_bounded_and_each_is_looked_at() {
    if !is_root() {
        return;
    }
    const FLOWS: u16 = 800;
    const ROUND_US: u64 = 20_000;
    let mut gate = Gate::new();
    let connect = |port| {
        let mut connection = Connection::through(&gate, Link::Ethernet, Ip::V4, PORT + port);
        (connection.rtt_us, connection.segment_us) = (300, 500);
        connection.ack_every = 1;
        connection
    };
    let mut connections: Vec<_> = (0..FLOWS).map(connect).collect();
    for connection in &mut connections {
        connection.open(&mut gate, START_US - 1_000);
    }
    let looks_in_a_second = |second: u64, connections: &mut Vec<Connection>, gate: &mut Gate| {
        let before = gate.path().measured;
        for round in 0..1_000_000 / ROUND_US {
            let now_us = START_US + second * 1_000_000 + round * ROUND_US;
            for connection in &mut *connections {
                connection.download(gate, now_us, 1_000, WINDOW);
            }
        }
        (gate.path().measured - before) / MSS as u64
    };
    let mut looks = 0;
    for second in 0..8 {
        looks = looks_in_a_second(second, &mut connections, &mut gate);
    }
    let each = u64::from(FLOWS);
    assert!((each / 2..3 * each).contains(&looks), "{looks} in a second");
    let few = &mut connections.split_off(usize::from(FLOWS) - 50);
    for second in 8..12 {
        looks = looks_in_a_second(second, few, &mut gate);
    }
    // With few flows, a queue is found as soon as with one flow.
    assert!(looks >= 50 * 5, "{looks} in a second");
}

/// The promises are held by every acknowledgement that is sent here.
#[test]
fn a_queue_ends_it_and_nothing_is_retracted() {
    if !is_root() {
        return;
    }
    let mut gate = Gate::new();
    let mut connection = next_door(&mut gate, Link::Ethernet, Ip::V4);
    let (mut now_us, _) = connection.download(&mut gate, START_US, 200_000, WINDOW);
    connection.segment_us = 100;
    while connection.lowered == 0 {
        connection.queue_us += 2_000;
        let (until_us, _) = connection.download(&mut gate, now_us, 4_000, WINDOW);
        now_us = until_us;
        assert!(connection.queue_us < 100_000, "the law does not notice");
    }
    let (_, window) = connection.download(&mut gate, now_us, 400_000, WINDOW);
    assert!(window < WINDOW / 4, "a window of {window}");
}

#[test]
fn what_a_rule_leaves_alone_is_looked_at_as_seldom_until_it_does_not() {
    if !is_root() {
        return;
    }
    let mut gate = Gate::new();
    gate.set_verdicts(&[(PORT, Verdict::LeftAlone)]);
    let mut connection = next_door(&mut gate, Link::Ethernet, Ip::V4);
    connection.rtt_us = 20_000;
    let denied = |gate: &Gate| gate.counts()[Reason::Denied as usize];
    let handshake = denied(&gate);
    let (now_us, _) = connection.download(&mut gate, START_US, 200_000, WINDOW);
    assert_eq!(denied(&gate) - handshake, 30_000);
    gate.set_verdicts(&[]);
    connection.segment_us = 500;
    let (now_us, _) = connection.download(&mut gate, now_us, 200_000, WINDOW);
    connection.queue_us = 50_000;
    let (now_us, window) = connection.download(&mut gate, now_us, 2_000_000, WINDOW);
    assert!(window < WINDOW / 4, "a window of {window}");
    fin(&gate, &mut connection, now_us);
    let left: Vec<_> = gate.left();
    assert_eq!(left.len(), 1);
    assert_eq!(left[0].0.direction, Direction::Down as u32);
    let told = left[0].1.bytes / MSS as u64;
    assert!((19_700..=20_300).contains(&told), "{told} segments");
    assert_eq!(left[0].1.packets, told);
}
