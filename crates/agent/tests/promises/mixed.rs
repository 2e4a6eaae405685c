//! Flows with some packets that are not understood: the windows that these told count, too.

use crate::connection::{Connection, MSS, window_of};
use crate::gate::{Gate, Way};
use crate::packet::{Ip, Link, option};
use crate::steering::{gate_with_limit, limited_to};
use tidegate_agent::Direction;
use tidegate_agent::Reason;
use tidegate_testing::is_root;

const START_US: u64 = 5_000_000;
const WINDOW: u16 = 500;

fn gates() -> [Gate; 2] {
    [gate_with_limit(20_000), Gate::before(Direction::Up)]
}

/// A flow that is steered, and the time.
fn steered(gate: &mut Gate) -> (Connection, u64) {
    let mut connection = Connection::through(gate, Link::Ethernet, Ip::V4, 7_000);
    connection.open(gate, START_US);
    let (now_us, window) = connection.steer(gate, START_US, WINDOW);
    assert!(window < WINDOW);
    (connection, now_us)
}

/// A window that passes unread, in a segment whose options are not understood, is told all the same: the next segment
/// must not retract its edge.
#[test]
fn an_edge_that_passed_unread_is_not_retracted() {
    if !is_root() {
        return;
    }
    for mut gate in gates() {
        let (mut connection, now_us) = steered(&mut gate);
        let unread = [
            option::other(19, 16),
            vec![1; 22],
            // An option that claims to be longer than the header.
            vec![253, 40, 0, 0],
        ];
        for (n, options) in (1..).zip(unread) {
            let now_us = now_us + 5_000 * n;
            gate.at(now_us);
            connection.receive(&gate, now_us, MSS);
            let mut packet = connection.outgoing(now_us, WINDOW);
            packet.options = options;
            let before = packet.bytes();
            assert_eq!(gate.pass(Way::Leaves, Link::Ethernet, &before), before);
            let told = packet.ack.wrapping_add(u32::from(WINDOW) << 7);
            connection.receive(&gate, now_us, MSS);
            let packet = connection.outgoing(now_us, WINDOW);
            let after = gate.pass(Way::Leaves, Link::Ethernet, &packet.bytes());
            let edge = u32::from(window_of(&packet, &after)) << 7;
            let edge = packet.ack.wrapping_add(edge);
            assert!(edge.wrapping_sub(told) as i32 >= 0, "{:?}", gate.direction);
        }
    }
}

/// Then the flow is steered again.
#[test]
fn a_flow_is_steered_on_after_what_was_not_understood() {
    if !is_root() {
        return;
    }
    let mut gate = gate_with_limit(20_000);
    let (mut connection, now_us) = steered(&mut gate);
    let mut packet = connection.outgoing(now_us, WINDOW);
    packet.options = option::other(19, 16);
    gate.pass(Way::Leaves, Link::Ethernet, &packet.bytes());
    let (_, window) = connection.download(&mut gate, now_us, 400_000, WINDOW);
    assert_eq!(window, 20_000 >> 7);
}

/// The window belongs to the MPTCP connection, and not every segment of a subflow has the option.
#[test]
fn of_an_mptcp_connection_segments_without_its_option_pass_too() {
    if !is_root() {
        return;
    }
    for opens in [true, false] {
        for mut gate in gates() {
            let mut connection = Connection::through(&gate, Link::Ethernet, Ip::V6, 7_001);
            connection.mptcp = [true, true];
            if opens {
                connection.open(&mut gate, START_US);
            } else {
                connection.accept(&mut gate, START_US);
            }
            connection.steer(&mut gate, START_US, WINDOW);
            assert_eq!(connection.lowered, 0, "{:?} {opens}", gate.direction);
            let packet = connection.outgoing(START_US + 9_000_000, WINDOW);
            let (_, reason) = gate.explain(Way::Leaves, Link::Ethernet, &packet.bytes());
            assert_eq!(reason, Reason::Mptcp);
        }
    }
}

#[test]
fn mptcp_that_the_far_host_does_not_know_is_plain_tcp() {
    if !is_root() {
        return;
    }
    for mut gate in gates() {
        let mut connection = Connection::through(&gate, Link::Ethernet, Ip::V4, 7_002);
        connection.mptcp = [true, false];
        connection.open(&mut gate, START_US);
        connection.steer(&mut gate, START_US, WINDOW);
        assert!(connection.lowered > 0, "{:?}", gate.direction);
    }
}

/// In mid-stream the first MPTCP option tells.
#[test]
fn an_mptcp_option_stays_in_mind() {
    if !is_root() {
        return;
    }
    for mut gate in gates() {
        let (mut connection, now_us) = steered(&mut gate);
        let lowered = connection.lowered;
        let mut packet = connection.outgoing(now_us, WINDOW);
        packet.options.extend(option::other(30, 10));
        let (_, reason) = gate.explain(Way::Leaves, Link::Ethernet, &packet.bytes());
        assert_eq!(reason, Reason::Mptcp);
        connection.download(&mut gate, now_us, 400_000, WINDOW);
        assert_eq!(connection.lowered, lowered, "{:?}", gate.direction);
    }
}

/// The same addresses and ports on another VLAN are another connection.
#[test]
fn vlans_do_not_mix() {
    if !is_root() {
        return;
    }
    let mut gate = gate_with_limit(20_000);
    let mut now_us = START_US;
    let mut connections = [None, Some(7), Some(8)].map(|vlan| {
        let mut connection = Connection::new(Link::Ethernet, Ip::V4, 7_003);
        connection.vlan = vlan;
        connection.scales = [vlan.map(|v| v as u8).or(Some(4)), Some(2)];
        connection.expected = u32::from(vlan.unwrap_or(1)) << 28;
        connection.open(&mut gate, START_US);
        connection
    });
    // They take turns, each with its own scale, edges and numbers; each checks its own promises.
    for _ in 0..20 {
        for connection in &mut connections {
            let kernel = (64_000 >> connection.scale()) as u16;
            (now_us, _) = connection.download(&mut gate, now_us, 20_000, kernel);
        }
    }
    for connection in &connections {
        assert!(connection.lowered > 50, "{:?}", connection.vlan);
    }
}

/// A packet that TSO will cut leaves with a lowered window, too, and its checksum stays right.
#[test]
fn a_merged_packet_that_leaves_is_steered() {
    if !is_root() {
        return;
    }
    for mut gate in gates() {
        let (mut connection, now_us) = steered(&mut gate);
        connection.receive(&gate, now_us, MSS);
        let mut packet = connection.outgoing(now_us, WINDOW);
        packet.payload = 2 * MSS;
        let before = packet.bytes();
        let after = gate.pass_merged(Way::Leaves, Link::Ethernet, &before, MSS as u32);
        assert!(window_of(&packet, &after) < WINDOW, "{:?}", gate.direction);
        assert!(packet.checksum_is_right(&after), "{:?}", gate.direction);
    }
}

/// A change of law never retracts an edge.
#[test]
fn a_limit_that_jumps_retracts_nothing() {
    if !is_root() {
        return;
    }
    let mut gate = gate_with_limit(60_000);
    let mut connection = Connection::new(Link::Ethernet, Ip::V4, 7_004);
    for scale in 0..=14 {
        connection.scales = [Some(scale), Some(scale)];
        connection.expected = connection.expected.wrapping_add(1 << 28);
        connection.open(&mut gate, START_US);
        connection.ack_every = 3;
        let mut now_us = START_US;
        let kernel = (60_000u32 >> scale).max(4) as u16;
        for limit in [60_000, 3_000, 40_000, 1, 20_000, 200_000, 2_000] {
            gate.configure(&limited_to(limit), false);
            // The connection holds each window against the one before.
            (now_us, _) = connection.download(&mut gate, now_us, 60_000, kernel);
        }
        assert!(connection.lowered > 0, "scale {scale}");
    }
}
