//! More connections than the tables hold: those that go first are left alone, never steered wrongly.

use crate::connection::{Connection, MSS};
use crate::gate::{Gate, Way};
use crate::packet::{Ip, Link};
use crate::steering::limited_to;
use nix::sched::{CpuSet, sched_getcpu, sched_setaffinity};
use nix::unistd::Pid;
use tidegate_agent::Direction;
use tidegate_agent::Reason;
use tidegate_testing::is_root;

const START_US: u64 = 5_000_000;
const WINDOW: u16 = 500;
const TABLE: u32 = 256;

fn small_gate(direction: Direction) -> Gate {
    let mut gate = Gate::with_tables(direction, TABLE);
    if direction == Direction::Down {
        gate.configure(&limited_to(20_000), false);
    }
    gate
}

/// Each CPU keeps some of a table's records to itself, which those that others make do not push out.
fn stay_on_one_cpu() {
    let mut here = CpuSet::new();
    here.set(sched_getcpu().unwrap()).unwrap();
    sched_setaffinity(Pid::from_raw(0), &here).unwrap();
}

/// Handshakes of ours that nobody answers.
fn flood(gate: &mut Gate, now_us: u64, ports: std::ops::Range<u16>) {
    gate.at(now_us);
    for port in ports {
        let mut connection = Connection::through(gate, Link::Ethernet, Ip::V4, port);
        connection.send_handshake(gate, now_us, Way::Leaves, false);
        if gate.direction == Direction::Up {
            connection.send_handshake(gate, now_us, Way::Arrives, false);
        }
    }
}

/// A flow that is silent meanwhile is forgotten, so it passes; a new one of the same port is steered.
#[test]
fn a_forgotten_flow_passes_and_the_next_is_steered() {
    if !is_root() {
        return;
    }
    stay_on_one_cpu();
    for direction in Direction::ALL {
        let mut gate = small_gate(direction);
        let mut connection = Connection::through(&gate, Link::Ethernet, Ip::V4, 900);
        connection.open(&mut gate, START_US);
        let (now_us, window) = connection.steer(&mut gate, START_US, WINDOW);
        assert!(window < WINDOW, "{direction:?}");
        flood(&mut gate, now_us, 10_000..12_000);
        let packet = connection.outgoing(now_us, WINDOW);
        let before = packet.bytes();
        let (after, reason) = gate.explain(Way::Leaves, Link::Ethernet, &before);
        assert_eq!(after, before, "{direction:?}");
        assert!(
            [Reason::NoScale, Reason::NoFlow].contains(&reason),
            "{reason}"
        );
        let mut next = Connection::through(&gate, Link::Ethernet, Ip::V4, 900);
        next.open(&mut gate, now_us + 1_000_000);
        next.steer(&mut gate, now_us + 1_000_000, WINDOW);
        assert!(next.lowered > 0, "{direction:?}");
    }
}

/// A flow that is busy meanwhile may be forgotten or not; whatever it is, no promise is broken, and
/// nothing that leaves is malformed.
#[test]
fn a_busy_flow_keeps_its_promises_through_a_flood() {
    if !is_root() {
        return;
    }
    for direction in Direction::ALL {
        let mut gate = small_gate(direction);
        let mut connection = Connection::through(&gate, Link::Ethernet, Ip::V4, 901);
        connection.open(&mut gate, START_US);
        let (mut now_us, _) = connection.steer(&mut gate, START_US, WINDOW);
        for port in 0..2_000 {
            flood(&mut gate, now_us, 10_000 + port..10_001 + port);
            now_us += 1_000;
            gate.at(now_us);
            connection.receive(&gate, now_us, MSS);
            let packet = connection.outgoing(now_us, WINDOW);
            connection.send(&gate, now_us, &packet);
        }
    }
}
