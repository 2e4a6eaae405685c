//! More connections than the tables hold: those that are pushed out are found again, and never steered wrongly.

use crate::connection::{Connection, MSS};
use crate::gate::{Gate, Way};
use crate::packet::{Ip, Link, RST};
use crate::steering::limited_to;
use nix::sched::{CpuSet, sched_getcpu, sched_setaffinity};
use nix::unistd::Pid;
use tidegate_agent::Direction;
use tidegate_agent::Reason;
use tidegate_testing::is_root;

const START_US: u64 = 5_000_000;
const WINDOW: u16 = 500;
/// The largest window, in bytes, of downloads.
const LIMIT: u32 = 20_000;
const SCALES: [Option<u8>; 2] = [Some(7); 2];

/// Sizes of small tables of flows and of scales, fewer than a flood's connections.
const TABLE: u32 = 256;
const FEW: u32 = 256;
const MANY: u32 = 65_536;
const FLOOD: std::ops::Range<u16> = 10_000..12_000;

fn small_gate(direction: Direction, scales: u32) -> Gate {
    let mut gate = Gate::with_tables(direction, TABLE, scales);
    if direction == Direction::Down {
        gate.configure(&limited_to(LIMIT), false);
    }
    gate
}

/// Each CPU keeps some of a table's records to itself, which other CPUs do not push out.
fn stay_on_one_cpu() {
    let mut here = CpuSet::new();
    here.set(sched_getcpu().unwrap()).unwrap();
    sched_setaffinity(Pid::from_raw(0), &here).unwrap();
}

/// Opens connections that send no data.
fn flood(gate: &mut Gate, now_us: u64, ports: std::ops::Range<u16>) {
    for port in ports {
        Connection::through(gate, Link::Ethernet, Ip::V4, port).open(gate, now_us);
    }
}

/// A steered connection with these scales, and the time.
fn steered(gate: &mut Gate, now_us: u64, scales: [Option<u8>; 2]) -> (Connection, u64) {
    let mut connection = Connection::through(gate, Link::Ethernet, Ip::V4, 900);
    connection.scales = scales;
    connection.open(gate, now_us);
    let (now_us, _) = connection.steer(gate, now_us, WINDOW);
    assert!(connection.lowered > 0, "{:?}", gate.direction);
    (connection, now_us)
}

/// What became of the next acknowledgement, which passes as it is.
fn next_passes(gate: &mut Gate, connection: &mut Connection, now_us: u64) -> Reason {
    gate.at(now_us);
    connection.receive(gate, now_us, MSS);
    let before = connection.outgoing(now_us, WINDOW).bytes();
    let (after, reason) = gate.explain(Way::Leaves, Link::Ethernet, &before);
    assert_eq!(after, before, "{:?}", gate.direction);
    reason
}

/// A flow that is silent during a flood is pushed out. When it goes on, one window passes as the kernel's, and the next
/// are lowered by the scale of this connection, not of an earlier one.
#[test]
fn a_flow_that_was_pushed_out_is_steered_again() {
    if !is_root() {
        return;
    }
    stay_on_one_cpu();
    for direction in Direction::ALL {
        let mut gate = small_gate(direction, MANY);
        let mut now_us = START_US;
        for scales in [[Some(10), Some(2)], [Some(8), Some(3)], [Some(9), Some(4)]] {
            let (mut connection, then_us) = steered(&mut gate, now_us, scales);
            flood(&mut gate, then_us, FLOOD);
            now_us = then_us + 100_000_000;
            assert_eq!(
                next_passes(&mut gate, &mut connection, now_us),
                Reason::Unchanged
            );
            connection.lowered = 0;
            // What the kernel's window has promised has to be used up.
            let (end_us, _) = connection.steer(&mut gate, now_us, WINDOW);
            let (end_us, window) = connection.steer(&mut gate, end_us, WINDOW);
            assert!(connection.lowered > 0, "{direction:?}");
            let bytes = u32::from(window) << connection.scale();
            if direction == Direction::Down {
                assert!((LIMIT * 9 / 10..=LIMIT).contains(&bytes), "{bytes}");
            }
            now_us = end_us + 1_000_000;
        }
    }
}

/// A flow whose scale is forgotten as well passes unchanged, and so does one whose data have ended; a new connection
/// between the same ends is steered.
#[test]
fn a_flow_whose_scale_is_forgotten_passes_and_the_next_is_steered() {
    if !is_root() {
        return;
    }
    stay_on_one_cpu();
    for (direction, scales) in Direction::ALL
        .into_iter()
        .flat_map(|d| [(d, FEW), (d, MANY)])
    {
        let mut gate = small_gate(direction, scales);
        let (mut connection, now_us) = steered(&mut gate, START_US, SCALES);
        if scales == MANY {
            let mut end = connection.incoming(now_us, 0);
            end.flags |= RST;
            gate.pass(Way::Arrives, Link::Ethernet, &end.bytes());
        }
        flood(&mut gate, now_us, FLOOD);
        let reason = next_passes(&mut gate, &mut connection, now_us);
        assert!(
            [Reason::NoScale, Reason::NoFlow].contains(&reason),
            "{reason}"
        );
        steered(&mut gate, now_us + 1_000_000, SCALES);
    }
}

/// The scale of a live flow is not forgotten, however many flows come and go: it is looked up now and then.
#[test]
fn the_scale_of_a_flow_that_lives_stays() {
    if !is_root() {
        return;
    }
    stay_on_one_cpu();
    for direction in Direction::ALL {
        let mut gate = small_gate(direction, 4 * TABLE);
        let (mut connection, mut now_us) = steered(&mut gate, START_US, SCALES);
        for part in 0..20 {
            let from = FLOOD.start + part * 100;
            flood(&mut gate, now_us, from..from + 100);
            now_us += 40_000_000;
            gate.at(now_us);
            connection.receive(&gate, now_us, MSS);
            let packet = connection.outgoing(now_us, WINDOW);
            connection.send(&gate, now_us, &packet);
        }
        let before = FLOOD.start + 2_000;
        flood(&mut gate, now_us, before..before + 500);
        connection.lowered = 0;
        connection.steer(&mut gate, now_us, WINDOW);
        assert!(connection.lowered > 0, "{direction:?}");
    }
}

/// A hundred thousand connections at once, three times as many as have a record: none is broken, and those that go
/// on are steered.
#[test]
fn a_hundred_thousand_connections() {
    if !is_root() {
        return;
    }
    /// Every 4000th connection sends its first data after all others.
    const SILENT: usize = 4_000;
    for direction in Direction::ALL {
        let mut gate = Gate::with_tables(direction, 32_768, 131_072);
        if direction == Direction::Down {
            gate.configure(&limited_to(LIMIT), false);
        }
        let ends = [Ip::V4, Ip::V6].into_iter();
        let ends = ends.flat_map(|ip| (1..=50_000).map(move |port| (ip, port)));
        let connection = |(ip, port)| Connection::through(&gate, Link::Ethernet, ip, port);
        let mut connections: Vec<_> = ends.map(connection).collect();
        for connection in &mut connections {
            connection.open(&mut gate, START_US);
        }
        let mut now_us = START_US + 1_000_000;
        let busy = connections.iter_mut().enumerate();
        for (_, connection) in busy.filter(|(number, _)| number % SILENT != 0) {
            now_us += 10;
            gate.at(now_us);
            connection.receive(&gate, now_us, MSS);
            let packet = connection.outgoing(now_us, WINDOW);
            connection.send(&gate, now_us, &packet);
        }
        for connection in connections.iter_mut().step_by(SILENT) {
            connection.lowered = 0;
            (now_us, _) = connection.steer(&mut gate, now_us, WINDOW);
            let port = connection.port;
            assert!(
                connection.lowered > 0,
                "{direction:?} {port} {:?}",
                gate.counts()
            );
        }
    }
}
/// A flow that is busy during a flood may be forgotten or not: no promise is broken, and no packet leaves malformed.
#[test]
fn a_busy_flow_keeps_its_promises_through_a_flood() {
    if !is_root() {
        return;
    }
    for direction in Direction::ALL {
        let mut gate = small_gate(direction, MANY);
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
