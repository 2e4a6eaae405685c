//! A pause: from its first packet to its last every window is the kernel's own.

use crate::connection::{Connection, MSS};
use crate::gate::Gate;
use crate::packet::{Ip, Link};
use crate::steering::gate_with_limit;
use tidegate_agent::Direction;
use tidegate_testing::is_root;

const START_US: u64 = 5_000_000;
const WINDOW: u16 = 500;

/// The flow's record keeps the law's last window until data arrive.
#[test]
fn what_the_law_wanted_before_a_pause_is_not_written_in_it() {
    if !is_root() {
        return;
    }
    for mut gate in [gate_with_limit(20_000), Gate::before(Direction::Up)] {
        let mut connection = Connection::through(&gate, Link::Ethernet, Ip::V4, 7_100);
        connection.open(&mut gate, START_US);
        let (now_us, window) = connection.steer(&mut gate, START_US, WINDOW);
        assert!(window < WINDOW);
        connection.receive(&gate, now_us, MSS);
        let until_us = now_us + 400_000;
        gate.pass_until(until_us);
        let mut packet = connection.outgoing(now_us, WINDOW);
        // With data, so that it is no duplicate of the one before.
        packet.payload = 300;
        assert_eq!(connection.send(&gate, now_us, &packet), WINDOW);
        connection.seq = connection.seq.wrapping_add(300);
        let lowered = connection.lowered;
        let end_us = until_us - now_us - connection.segment_us;
        let (now_us, window) = connection.download(&mut gate, now_us, end_us, WINDOW);
        assert_eq!((window, connection.lowered), (WINDOW, lowered));
        // The pause ends by itself, and the connection itself checks that no edge is retracted.
        let (_, window) = connection.steer(&mut gate, now_us + 10_000, WINDOW);
        assert!(window < WINDOW, "{:?}", gate.direction);
    }
}
