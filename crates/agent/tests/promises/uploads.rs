//! Uploads are steered by their arriving acknowledgements. `tide` decides how far a window is lowered, so these tests
//! only ask whether; the connection checks the promises.

use crate::connection::{Connection, MSS, RTT_US, window_of};
use crate::gate::{Gate, Way};
use crate::packet::{FIN, Ip, Link, option};
use tidegate_agent::Direction;
use tidegate_agent::Reason;
use tidegate_laws::{Law, Params};
use tidegate_testing::is_root;
use tidegate_testing::skipped;

const START_US: u64 = 5_000_000;
/// Window field of the far kernel, 64 kB with the usual scale.
const WINDOW: u16 = 500;
/// A segment so large that two are more than the law wants.
const JUMBO: u32 = 8_948;

/// An upload that is steered: when, and its window.
fn steered(gate: &mut Gate, connection: &mut Connection) -> (u64, u16) {
    connection.open(gate, START_US);
    let (now_us, window) = connection.steer(gate, START_US, WINDOW);
    assert!(window < WINDOW / 2, "never steered: {window}");
    (now_us, window)
}

fn upload(gate: &Gate, port: u16) -> Connection {
    Connection::through(gate, Link::Ethernet, Ip::V4, port)
}

/// The next acknowledgement's window, `us` later.
fn next(connection: &mut Connection, gate: &mut Gate, us: u64, window: u16) -> u16 {
    gate.at(us);
    connection.receive(gate, us, MSS);
    let packet = connection.outgoing(us, window);
    connection.send(gate, us, &packet)
}

#[test]
fn an_upload_is_steered_on_every_kind_of_link() {
    if !is_root() {
        return;
    }
    for link in [Link::Ethernet, Link::PlainIp] {
        for ip in [Ip::V4, Ip::V6] {
            for vlan in [None, Some(7)] {
                if link == Link::PlainIp && vlan.is_some() {
                    continue;
                }
                let mut gate = Gate::before(Direction::Up);
                let mut connection = Connection::through(&gate, link, ip, 1_000);
                connection.vlan = vlan;
                steered(&mut gate, &mut connection);
            }
        }
    }
}

/// The uplink's queue cannot be measured.
#[test]
fn without_timestamps_an_upload_is_left_alone() {
    if !is_root() {
        return;
    }
    for law in Law::ALL.into_iter().filter(|law| law.steers_uploads()) {
        let mut gate = Gate::before(Direction::Up);
        let params = Params {
            law,
            ..Params::default()
        };
        gate.configure(&params, false);
        let mut connection = upload(&gate, 1_001);
        connection.timestamps = false;
        connection.open(&mut gate, START_US);
        connection.steer(&mut gate, START_US, WINDOW);
        assert_eq!(connection.lowered, 0, "{law:?}");
    }
}

/// The sum that a device took, or that a peer on this machine has left for a device to take, changes with the window;
/// the checksum stays right.
#[test]
fn the_sum_that_a_device_took_stays_right() {
    if !is_root() {
        return;
    }
    for link in [Link::Ethernet, Link::PlainIp] {
        for ip in [Ip::V4, Ip::V6] {
            let mut gate = Gate::before(Direction::Up);
            let mut connection = Connection::through(&gate, link, ip, 1_002);
            let (now_us, _) = steered(&mut gate, &mut connection);
            connection.receive(&gate, now_us, MSS);
            let packet = connection.outgoing(now_us, WINDOW);
            let Some(out) = gate.pass_summed(Way::Leaves, link, &packet.bytes()) else {
                skipped("the kernel is too old to compare sums");
                return;
            };
            assert!(window_of(&packet, &out) < WINDOW, "{link:?} {ip:?}");
            assert!(packet.checksum_is_right(&out), "{link:?} {ip:?}");
        }
    }
}

/// The scale is the peer's, whichever side opened the connection, which checks edges and floors by it.
#[test]
fn the_scale_is_the_peers_and_in_force_only_if_both_sides_offered_one() {
    if !is_root() {
        return;
    }
    for scales in [
        [Some(7), Some(2)],
        [Some(2), Some(9)],
        [Some(7), None],
        [None, Some(7)],
        [None, None],
        [Some(0), Some(0)],
        // More than RFC 7323 allows counts as 14.
        [Some(15), Some(7)],
    ] {
        for opens in [true, false] {
            let mut gate = Gate::before(Direction::Up);
            let mut connection = upload(&gate, 1_003);
            connection.scales = scales;
            // The window falls by whole units of the scale, since its edge may not be retracted: an acknowledgement of
            // less than a unit does not lower it.
            connection.ack_every = 12;
            if opens {
                connection.open(&mut gate, START_US);
            } else {
                connection.accept(&mut gate, START_US);
            }
            let kernel = (65_535u32 >> connection.scale()) as u16;
            let (_, window) = connection.steer(&mut gate, START_US, kernel);
            let bytes = u32::from(window) << connection.scale();
            // The path carries 290 kB/s; above are a forecast's margin and the scale's rounding.
            let bound = 32_000 + (1 << connection.scale());
            assert!(bytes < bound, "{scales:?} opens: {opens}, {bytes} bytes");
        }
    }
}

#[test]
fn a_handshake_that_was_missed_settles_no_scale() {
    if !is_root() {
        return;
    }
    // The peer's SYN, but not our answer; our SYN, but not the peer's answer; another's answer.
    let miss: [fn(&mut Connection, &mut Gate); 3] = [
        |c, gate| c.send_handshake(gate, START_US, Way::Leaves, false),
        |c, gate| c.send_handshake(gate, START_US, Way::Arrives, false),
        |c, gate| {
            c.send_handshake(gate, START_US, Way::Arrives, false);
            c.expected = c.expected.wrapping_add(5_000);
            c.send_handshake(gate, START_US, Way::Leaves, true);
        },
    ];
    for miss in miss {
        let mut gate = Gate::before(Direction::Up);
        let mut connection = upload(&gate, 1_004);
        miss(&mut connection, &mut gate);
        let data = connection.incoming(START_US, MSS).bytes();
        let (_, reason) = gate.explain(Way::Arrives, Link::Ethernet, &data);
        assert_eq!(reason, Reason::NoScale);
        connection.steer(&mut gate, START_US, WINDOW);
        assert_eq!(connection.lowered, 0);
    }
}

/// The peer's SYN is remembered with its sequence number, which our answer has to acknowledge.
#[test]
fn an_answer_to_another_syn_settles_no_scale() {
    if !is_root() {
        return;
    }
    let mut gate = Gate::before(Direction::Up);
    let mut connection = upload(&gate, 1_005);
    connection.send_handshake(&gate, START_US, Way::Leaves, false);
    connection.expected = connection.expected.wrapping_add(7);
    connection.seq = connection.seq.wrapping_add(5_000);
    connection.send_handshake(&gate, START_US, Way::Arrives, true);
    connection.steer(&mut gate, START_US, WINDOW);
    assert_eq!(connection.lowered, 0);
}

/// A forged SYN, or a forged answer to one, does not change the scale of an existing flow.
#[test]
fn a_forged_handshake_takes_nothing_from_a_flow() {
    if !is_root() {
        return;
    }
    let mut gate = Gate::before(Direction::Up);
    let mut connection = upload(&gate, 1_006);
    let (now_us, window) = steered(&mut gate, &mut connection);
    for answers in [false, true] {
        let mut forged = connection.outgoing(now_us, 1);
        forged.flags = if answers { 0x12 } else { 0x02 };
        forged.options.extend(option::scale(14));
        let (_, reason) = gate.explain(Way::Leaves, Link::Ethernet, &forged.bytes());
        assert_eq!(reason, Reason::Handshake);
    }
    let after = next(&mut connection, &mut gate, now_us + 5_000, WINDOW);
    assert!(after <= window + 20, "{after} after {window}");
}

/// A flow that receives at once: its data carry the window of what it has received.
#[test]
fn acknowledgements_with_data_are_steered() {
    if !is_root() {
        return;
    }
    let mut gate = Gate::before(Direction::Up);
    let mut connection = upload(&gate, 1_007);
    let (mut now_us, _) = steered(&mut gate, &mut connection);
    for (payload, flags) in [(1, 0), (MSS, 0), (3_000, 0), (777, FIN), (0, FIN)] {
        now_us += 5_000;
        gate.at(now_us);
        connection.receive(&gate, now_us, MSS);
        let mut packet = connection.outgoing(now_us, WINDOW);
        packet.payload = payload;
        packet.flags |= flags;
        let window = connection.send(&gate, now_us, &packet);
        assert!(window < WINDOW, "{payload} bytes");
        connection.seq = connection.seq.wrapping_add(payload as u32);
    }
}

#[test]
fn a_duplicate_keeps_its_window_and_a_zero_window_passes() {
    if !is_root() {
        return;
    }
    let mut gate = Gate::before(Direction::Up);
    let mut connection = upload(&gate, 1_008);
    let (now_us, _) = steered(&mut gate, &mut connection);
    let last = next(&mut connection, &mut gate, now_us + 5_000, WINDOW);
    let now_us = now_us + 2 * RTT_US;
    gate.at(now_us);
    let mut sacked = connection.outgoing(now_us, WINDOW + 10);
    sacked.options = [option::sack(9, 99), sacked.options].concat();
    assert_eq!(connection.send(&gate, now_us, &sacked), last, "with SACK");
    let duplicate = connection.outgoing(now_us, WINDOW + 10);
    assert_eq!(connection.send(&gate, now_us, &duplicate), last, "without");
    assert_eq!(next(&mut connection, &mut gate, now_us + 5_000, 0), 0);
}

#[test]
fn two_segments_are_the_least() {
    if !is_root() {
        return;
    }
    let mut gate = Gate::before(Direction::Up);
    let mut connection = upload(&gate, 1_009);
    let (now_us, window) = steered(&mut gate, &mut connection);
    assert!(u32::from(window) << 7 < 2 * JUMBO);
    // A packet that TSO is to cut says how long its segments are.
    let merged = connection.incoming(now_us, 3_000).bytes();
    gate.pass_merged(Way::Arrives, Link::Ethernet, &merged, JUMBO);
    connection.expected += 3_000;
    let packet = connection.outgoing(now_us, WINDOW);
    let window = connection.send(&gate, now_us, &packet);
    assert!(u32::from(window) << 7 >= 2 * JUMBO, "{window}");
    // Unless the kernel says less.
    assert_eq!(next(&mut connection, &mut gate, now_us + 5_000, 3), 3);
}

/// Short frames are padded, and padding is no data. Packets without data are not noted.
#[test]
fn what_leaves_without_data_is_not_noted() {
    if !is_root() {
        return;
    }
    let mut gate = Gate::before(Direction::Up);
    let mut connection = upload(&gate, 1_010);
    connection.timestamps = false;
    connection.open(&mut gate, START_US);
    for (payload, padding, why) in [
        (0, 0, Reason::NoData),
        (0, 6, Reason::NoData),
        (1, 5, Reason::Measured),
    ] {
        let mut packet = connection.incoming(START_US, payload);
        packet.padding = padding;
        let (_, reason) = gate.explain(Way::Arrives, Link::Ethernet, &packet.bytes());
        assert_eq!(reason, why, "{payload} bytes, {padding} of padding");
    }
}

#[test]
fn a_dry_run_changes_nothing_and_what_follows_it_retracts_nothing() {
    if !is_root() {
        return;
    }
    let mut gate = Gate::before(Direction::Up);
    gate.configure(&Params::default(), true);
    let mut connection = upload(&gate, 1_011);
    connection.open(&mut gate, START_US);
    let (now_us, _) = connection.steer(&mut gate, START_US, WINDOW);
    assert_eq!(connection.lowered, 0);
    gate.configure(&Params::default(), false);
    // The connection itself checks that no edge is retracted.
    let (_, window) = connection.download(&mut gate, now_us, 800_000, WINDOW);
    assert!(window < WINDOW);
}

/// Packets pass the programs at once, uncounted. The flow is forgotten, since nobody has seen the windows that it was
/// told in between.
#[test]
fn a_law_that_steers_downloads_alone_lets_everything_pass() {
    if !is_root() {
        return;
    }
    for law in Law::ALL.into_iter().filter(|law| !law.steers_uploads()) {
        let mut gate = Gate::before(Direction::Up);
        let mut connection = upload(&gate, 1_012);
        let (now_us, _) = steered(&mut gate, &mut connection);
        let (lowered, counted) = (connection.lowered, gate.counts());
        let params = Params {
            law,
            ..Params::default()
        };
        gate.configure(&params, false);
        let (now_us, window) = connection.download(&mut gate, now_us, 400_000, WINDOW);
        assert_eq!((window, connection.lowered), (WINDOW, lowered), "{law:?}");
        assert_eq!(gate.counts(), counted);
        gate.configure(&Params::default(), false);
        connection.steer(&mut gate, now_us, WINDOW);
        assert_eq!(
            connection.lowered, lowered,
            "the scale is not known any more"
        );
    }
}

/// A SYN begins anew, whatever its port did before.
#[test]
fn a_port_that_is_used_again_begins_anew() {
    if !is_root() {
        return;
    }
    let mut gate = Gate::before(Direction::Up);
    let mut connection = upload(&gate, 1_013);
    let (now_us, _) = steered(&mut gate, &mut connection);
    let mut connection = upload(&gate, 1_013);
    connection.scales = [Some(3), Some(3)];
    connection.expected = 77;
    connection.accept(&mut gate, now_us + 1_000_000);
    assert_eq!(
        next(&mut connection, &mut gate, now_us + 1_100_000, 8_000),
        8_000
    );
    connection.steer(&mut gate, now_us + 1_200_000, 8_000);
    assert!(connection.lowered > 0);
}
