//! TCP connections that are left alone are remembered, with their bytes and the reason; those that are steered are not.

use crate::connection::Connection;
use crate::gate::{Gate, Way};
use crate::packet::{ACK, FIN, Ip, Link, Packet, RST, option};
use tidegate_agent::skeleton::types::{tg_left, tg_left_key};
use tidegate_agent::{Direction, Reason};
use tidegate_testing::is_root;

const START_US: u64 = 5_000_000;
const LINK: Link = Link::Ethernet;
const PORT: u16 = 40_000;

/// Runs `test` before the receiver and before the sender of data.
fn everywhere(test: impl Fn(Gate, Connection)) {
    if !is_root() {
        return;
    }
    for direction in Direction::ALL {
        for ip in [Ip::V4, Ip::V6] {
            let mut gate = Gate::before(direction);
            gate.at(START_US);
            let connection = Connection::through(&gate, LINK, ip, PORT);
            test(gate, connection);
        }
    }
}

/// 100 bytes of data, changed.
fn data(connection: &mut Connection, change: impl Fn(&mut Packet)) -> Packet {
    let mut packet = connection.incoming(START_US, 100);
    change(&mut packet);
    packet
}

/// The one entry.
fn only(gate: &Gate) -> (tg_left_key, tg_left) {
    let left = gate.left();
    let [entry] = left[..] else {
        panic!("{} entries", left.len());
    };
    entry
}

fn reason(left: &tg_left) -> Reason {
    Reason::from_raw(left.reason).expect("a reason")
}

#[test]
fn a_connection_that_is_left_alone_is_remembered_with_its_bytes() {
    everywhere(|gate, mut connection| {
        let sealed = |p: &mut Packet| p.options = option::other(19, 16);
        let packet = data(&mut connection, sealed);
        for _ in 0..3 {
            gate.pass(Way::Arrives, LINK, &packet.bytes());
        }
        // Packets of the other direction carry none of the data.
        let mut back = connection.outgoing(START_US, 500);
        sealed(&mut back);
        gate.pass(Way::Leaves, LINK, &back.bytes());
        let (key, left) = only(&gate);
        assert_eq!(
            (reason(&left), left.packets, left.bytes),
            (Reason::Sealed, 3, 300)
        );
        assert_eq!(left.seen_us, START_US);
        assert_eq!(key.protocol, 6);
        assert_eq!(key.direction, gate.direction as u32);
        let ports = [key.key.local_port, key.key.remote_port].map(u16::from_be);
        let expected = match gate.direction {
            Direction::Down => [packet.to.1, packet.from.1],
            Direction::Up => [packet.from.1, packet.to.1],
        };
        assert_eq!(ports, expected);
        assert_eq!(gate.path().measured, 0);
    });
}

#[test]
fn why_nothing_is_known_of_a_download_is_found_where_its_answers_leave() {
    if !is_root() {
        return;
    }
    let mut gate = Gate::before(Direction::Down);
    gate.at(START_US);
    let mut connection = Connection::through(&gate, LINK, Ip::V4, PORT);
    let arrives = |gate: &Gate, connection: &mut Connection| {
        gate.pass(Way::Arrives, LINK, &data(connection, |_| {}).bytes());
        let left = only(gate).1;
        (reason(&left), left.packets, left.bytes)
    };
    assert_eq!(arrives(&gate, &mut connection), (Reason::NoFlow, 1, 100));
    let answer = connection.outgoing(START_US, 500);
    gate.pass(Way::Leaves, LINK, &answer.bytes());
    assert_eq!(reason(&only(&gate).1), Reason::NoScale);
    assert_eq!(arrives(&gate, &mut connection), (Reason::NoScale, 2, 200));
}

#[test]
fn of_a_flow_that_is_steered_and_of_rubbish_nothing_is_remembered() {
    everywhere(|mut gate, mut connection| {
        connection.open(&mut gate, START_US);
        connection.steer(&mut gate, START_US, 500);
        let mut rubbish = data(&mut connection, |_| {}).bytes();
        rubbish[14] ^= 0x30;
        gate.pass(Way::Arrives, LINK, &rubbish);
        assert_eq!(gate.left().len(), 0);
        assert!(gate.path().measured > 0);
    });
}

#[test]
fn fin_and_reset_end_the_data_and_more_data_begin_them_again() {
    everywhere(|mut gate, mut connection| {
        connection.open(&mut gate, START_US);
        connection.steer(&mut gate, START_US, 500);
        let end = |gate: &Gate, connection: &mut Connection, flags, payload| {
            let mut packet = connection.incoming(START_US, payload);
            packet.flags = flags;
            gate.pass(Way::Arrives, LINK, &packet.bytes());
            gate.closed()
        };
        assert!(!gate.closed());
        for (flags, payload) in [(FIN | ACK, 0), (FIN | ACK, 100), (RST, 0), (RST | ACK, 0)] {
            assert!(
                end(&gate, &mut connection, flags, payload),
                "{flags} {payload}"
            );
            assert!(!end(&gate, &mut connection, ACK, 100));
        }
        let mut reset = connection.outgoing(START_US, 500);
        reset.flags = RST;
        gate.pass(Way::Leaves, LINK, &reset.bytes());
        assert!(gate.closed());
    });
}
