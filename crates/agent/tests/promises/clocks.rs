//! Clocks that jump by days while a connection lives: hosts sleep, connections stand still, clocks are set.

use crate::connection::Connection;
use crate::gate::Gate;
use crate::packet::{Ip, Link};
use tidegate_agent::{Direction, Reason};
use tidegate_laws::{Law, Params};
use tidegate_testing::is_root;

const START_US: u64 = 5_000_000;
const DAY_MS: u32 = 86_400_000;
const DAYS: [u32; 2] = [1, 3];

/// The laws that steer data of that direction without being given a limit.
fn laws(direction: Direction) -> Vec<Law> {
    let all = [Law::Tide, Law::Drwa, Law::Rledbat, Law::Rsfc];
    let steers = |law: &Law| match direction {
        Direction::Down => *law != Law::Rsfc,
        Direction::Up => law.steers_uploads(),
    };
    all.into_iter().filter(steers).collect()
}

/// A connection is steered, by every law, and then again after `jump`, which gets the time and returns when the
/// connection goes on. Every packet is held against the promises.
fn is_steered_again(jump: impl Fn(&mut Connection, u64) -> u64) {
    for direction in Direction::ALL {
        for law in laws(direction) {
            let mut gate = Gate::before(direction);
            let params = Params {
                law,
                ..Params::default()
            };
            gate.configure(&params, false);
            let mut connection = Connection::through(&gate, Link::Ethernet, Ip::V4, 4_000);
            connection.open(&mut gate, START_US);
            let now_us = build_a_queue(&mut connection, &mut gate, START_US);
            let before = connection.lowered;
            assert!(before > 0, "{law:?} {direction:?}: never steered");
            let now_us = jump(&mut connection, now_us);
            build_a_queue(&mut connection, &mut gate, now_us);
            let after = connection.lowered - before;
            assert!(after > 0, "{law:?} {direction:?}: not steered again");
        }
    }
}

/// Data come over a link whose queue grows from nothing. Returns when that ended.
fn build_a_queue(connection: &mut Connection, gate: &mut Gate, from_us: u64) -> u64 {
    const KERNEL: u16 = 8_000;
    connection.segment_us = 5_000;
    connection.queue_us = 0;
    let (now_us, _) = connection.download(gate, from_us, 5_000_000, KERNEL);
    connection.queue_us = 200_000;
    connection.download(gate, now_us, 5_000_000, KERNEL).0
}

/// No packet is sent for days, and both clocks go on: keepalives may be that rare.
#[test]
fn after_days_of_silence_a_connection_is_steered_again() {
    if !is_root() {
        return;
    }
    for days in DAYS {
        is_steered_again(|_, now_us| now_us + u64::from(days * DAY_MS) * 1_000);
    }
}

/// This host sleeps, and its monotonic clock with it, or the other's clock is set: days lie between two packets by the
/// other's clock, and nothing by ours. Or the other way round.
#[test]
fn after_one_host_slept_for_days_a_connection_is_steered_again() {
    if !is_root() {
        return;
    }
    for days in DAYS {
        for ahead_ms in [days * DAY_MS, (days * DAY_MS).wrapping_neg()] {
            is_steered_again(|connection, now_us| {
                connection.far_ahead_ms = connection.far_ahead_ms.wrapping_add(ahead_ms);
                now_us
            });
        }
    }
}

/// A flow whose peer's clock has that unit: how many windows were lowered, how many packets were left alone because of
/// the clock, and whether this reason is remembered.
fn with_ticks(direction: Direction, law: Law, stampless: bool, tick_us: u64) -> (usize, u64, bool) {
    let mut gate = Gate::before(direction);
    let params = Params {
        law,
        stampless,
        ..Params::default()
    };
    gate.configure(&params, false);
    let mut connection = Connection::through(&gate, Link::Ethernet, Ip::V4, 4_000);
    connection.far_tick_us = tick_us;
    connection.open(&mut gate, START_US);
    build_a_queue(&mut connection, &mut gate, START_US);
    let left = gate.left();
    let known = left
        .iter()
        .any(|(_, left)| left.reason == Reason::NoClock as u32 && left.bytes > 0);
    let counted = gate.counts()[Reason::NoClock as usize];
    (connection.lowered, counted, known)
}

/// 1 MHz, 10 kHz, 1000, 300, 250 and 100 Hz.
#[test]
fn every_unit_in_use_is_understood() {
    if !is_root() {
        return;
    }
    for direction in Direction::ALL {
        for law in [Law::Tide, Law::Rsfc] {
            if direction == Direction::Down && law == Law::Rsfc {
                continue;
            }
            for tick_us in [1, 100, 1_000, 3_333, 4_000, 10_000] {
                let (lowered, counted, known) = with_ticks(direction, law, false, tick_us);
                let told = format!("{direction:?} {law:?} {tick_us}: {lowered} {counted}");
                assert!(lowered > 0 && counted == 0 && !known, "{told}");
            }
        }
    }
}

/// 10, 2 and 1 Hz, and a constant: the law leaves such flows alone, and their packets are counted under that reason.
#[test]
fn what_is_no_clock_is_left_alone_and_counted_for_it() {
    if !is_root() {
        return;
    }
    for direction in Direction::ALL {
        for tick_us in [100_000, 500_000, 1_000_000, u64::MAX] {
            let (_, counted, known) = with_ticks(direction, Law::Tide, false, tick_us);
            let told = format!("{direction:?} {tick_us}: {counted}");
            // All but the first half second's, of ten.
            assert!(counted > 1_700 && known, "{told}");
        }
    }
}

/// Where round trips may replace them, or the law needs none, such a flow is steered.
#[test]
fn where_no_clock_is_needed_none_is_missed() {
    if !is_root() {
        return;
    }
    for (law, stampless) in [(Law::Tide, true), (Law::Drwa, false), (Law::Rledbat, false)] {
        for tick_us in [500_000, u64::MAX] {
            let (lowered, counted, known) = with_ticks(Direction::Down, law, stampless, tick_us);
            let told = format!("{law:?} {tick_us}: {lowered} {counted}");
            assert!(lowered > 0 && counted == 0 && !known, "{told}");
        }
    }
}
