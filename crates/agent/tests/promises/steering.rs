//! How downloads are steered.

use crate::connection::{Connection, MSS, RTT_US, window_of};
use crate::gate::{Gate, Way};
use crate::packet::{FIN, Ip, Link, option};
use tidegate_agent::Reason;
use tidegate_laws::{Law, Params};
use tidegate_testing::is_root;
use tidegate_testing::skipped;

const START_US: u64 = 5_000_000;

/// DRS with a limit: wants just that, as soon as it knows a round trip.
pub fn limited_to(bytes: u32) -> Params {
    Params {
        law: Law::Drs,
        limit: Some(bytes),
        ..Params::default()
    }
}

/// A gate whose law wants `bytes`.
pub fn gate_with_limit(bytes: u32) -> Gate {
    let mut gate = Gate::new();
    gate.configure(&limited_to(bytes), false);
    gate
}

#[test]
fn a_download_is_steered_on_every_kind_of_link() {
    if !is_root() {
        return;
    }
    let mut gate = gate_with_limit(20_000);
    let mut port = 1_000;
    for link in [Link::Ethernet, Link::PlainIp] {
        for ip in [Ip::V4, Ip::V6] {
            for vlan in [None, Some(7)] {
                for timestamps in [true, false] {
                    if link == Link::PlainIp && vlan.is_some() {
                        continue;
                    }
                    port += 1;
                    let mut connection = Connection::new(link, ip, port);
                    connection.vlan = vlan;
                    connection.timestamps = timestamps;
                    connection.open(&mut gate, START_US);
                    let (_, window) = connection.download(&mut gate, START_US, 400_000, 500);
                    // Rounded down to whole units.
                    assert_eq!(window, 20_000 >> 7, "{link:?} {ip:?} {vlan:?} {timestamps}");
                }
            }
        }
    }
}

/// The sum that a gateway's device took on the way in changes with the window; the checksum stays right.
#[test]
fn the_sum_that_a_device_took_stays_right() {
    if !is_root() {
        return;
    }
    let mut gate = gate_with_limit(20_000);
    for (port, link) in [(3_000, Link::Ethernet), (3_001, Link::PlainIp)] {
        for ip in [Ip::V4, Ip::V6] {
            let mut connection = Connection::new(link, ip, port);
            connection.open(&mut gate, START_US);
            let (now_us, _) = connection.download(&mut gate, START_US, 400_000, 500);
            let packet = connection.outgoing(now_us, 60_000);
            let Some(out) = gate.pass_summed(Way::Leaves, link, &packet.bytes()) else {
                skipped("the kernel is too old to compare sums");
                return;
            };
            assert_eq!(window_of(&packet, &out), 20_000 >> 7, "{link:?} {ip:?}");
        }
    }
}

#[test]
fn a_scale_is_in_force_only_if_both_sides_offered_one() {
    if !is_root() {
        return;
    }
    let mut gate = gate_with_limit(20_000);
    let cases = [
        ([Some(7), Some(2)], true),
        ([Some(7), Some(2)], false),
        ([Some(7), None], true),
        ([None, Some(7)], true),
        ([None, None], false),
        ([Some(0), Some(0)], true),
        ([Some(14), Some(14)], true),
        // More than RFC 7323 allows counts as 14.
        ([Some(15), Some(7)], true),
        ([Some(200), Some(7)], false),
    ];
    for (port, (scales, opens)) in (2_000..).zip(cases) {
        let mut connection = Connection::new(Link::Ethernet, Ip::V4, port);
        connection.scales = scales;
        if opens {
            connection.open(&mut gate, START_US);
        } else {
            connection.accept(&mut gate, START_US);
        }
        // The window falls by whole units of the scale, since its edge may not be retracted: an acknowledgement of less
        // than a unit does not lower it.
        connection.ack_every = 12;
        let kernel = 64_000 >> connection.scale();
        let (_, window) = connection.download(&mut gate, START_US, 400_000, kernel);
        // One unit of a scale of 14 is 16 KB already.
        let unit = 1u32 << connection.scale();
        let bytes = u32::from(window) * unit;
        let wanted = if unit > 4_096 {
            16_384
        } else {
            20_000 / unit * unit
        };
        assert_eq!(bytes, wanted, "{scales:?} opens: {opens}");
    }
}

#[test]
fn promised_edges_hold_while_the_window_falls() {
    if !is_root() {
        return;
    }
    let mut gate = gate_with_limit(60_000);
    let mut connection = Connection::new(Link::Ethernet, Ip::V4, 3_000);
    connection.open(&mut gate, START_US);
    let (now_us, before) = connection.download(&mut gate, START_US, 400_000, 500);
    gate.configure(&limited_to(4_000), false);
    // Each acknowledgement may lower the window by what it acknowledges, and no unit is lost to rounding.
    let (_, soon) = connection.download(&mut gate, now_us, 42_000, 500);
    assert!(soon < before && u32::from(soon) << 7 > 2 * MSS as u32);
    let (_, then) = connection.download(&mut gate, now_us + 42_000, 200_000, 500);
    assert_eq!(then, 4_000 >> 7);
}

#[test]
fn two_segments_are_the_least() {
    if !is_root() {
        return;
    }
    let mut gate = gate_with_limit(1);
    let mut connection = Connection::new(Link::Ethernet, Ip::V4, 3_001);
    connection.open(&mut gate, START_US);
    let (now_us, window) = connection.download(&mut gate, START_US, 400_000, 500);
    assert_eq!(u32::from(window), (2 * MSS as u32).div_ceil(128));
    // A merged packet says how long its segments are.
    let merged = connection.incoming(now_us, 2 * 1_600).bytes();
    gate.pass_merged(Way::Arrives, Link::Ethernet, &merged, 1_600);
    connection.expected += 2 * 1_600;
    let packet = connection.outgoing(now_us, 500);
    assert_eq!(connection.send(&gate, now_us, &packet), 25);
    // Unless the kernel says less.
    for kernel in [3, 0] {
        connection.receive(&gate, now_us, MSS);
        let packet = connection.outgoing(now_us, kernel);
        assert_eq!(connection.send(&gate, now_us, &packet), kernel);
    }
}

#[test]
fn a_duplicate_keeps_its_window_and_what_is_none_does_not() {
    if !is_root() {
        return;
    }
    let mut gate = gate_with_limit(40_000);
    let mut connection = Connection::new(Link::Ethernet, Ip::V6, 3_002);
    connection.open(&mut gate, START_US);
    let (now_us, window) = connection.download(&mut gate, START_US, 400_000, 500);
    gate.configure(&limited_to(400_000), false);
    connection.receive(&gate, now_us, MSS);
    let packet = connection.outgoing(now_us, 500);
    let last = connection.send(&gate, now_us, &packet);
    assert_eq!(last, window);
    // The law wants more from here on.
    let (now_us, _) = (now_us + 2 * RTT_US, gate.at(now_us + 2 * RTT_US));
    for _ in 0..60 {
        connection.receive(&gate, now_us, MSS);
    }
    connection.expected -= 60 * MSS as u32;
    let mut sacked = connection.outgoing(now_us, 510);
    sacked.options = [option::sack(9, 99), sacked.options].concat();
    assert_eq!(
        connection.send(&gate, now_us, &sacked),
        last,
        "with SACK blocks"
    );
    let duplicate = connection.outgoing(now_us, 510);
    assert_eq!(
        connection.send(&gate, now_us, &duplicate),
        last,
        "of the same window"
    );
    let mut data = connection.outgoing(now_us, 510);
    data.payload = 10;
    assert!(
        connection.send(&gate, now_us, &data) > last,
        "it carries data"
    );
}

/// A flow that sends and receives at once: its data carry the window, too.
#[test]
fn segments_with_data_are_steered_in_both_roles() {
    if !is_root() {
        return;
    }
    let mut gate = gate_with_limit(20_000);
    let mut connection = Connection::new(Link::PlainIp, Ip::V4, 3_003);
    connection.open(&mut gate, START_US);
    let (now_us, _) = connection.download(&mut gate, START_US, 400_000, 500);
    for (payload, flags) in [(1, 0), (MSS, 0), (40_000, 0), (777, FIN), (0, FIN)] {
        connection.receive(&gate, now_us, MSS);
        let mut packet = connection.outgoing(now_us, 500);
        packet.payload = payload.min(3_000);
        packet.flags |= flags;
        assert_eq!(
            connection.send(&gate, now_us, &packet),
            20_000 >> 7,
            "{payload}"
        );
        connection.seq = connection.seq.wrapping_add(payload as u32);
    }
}

/// Ethernet pads short frames: the padding is no data, or a bare acknowledgement would look like
/// a segment with six bytes.
#[test]
fn padding_is_no_data() {
    if !is_root() {
        return;
    }
    let mut gate = gate_with_limit(20_000);
    let mut connection = Connection::new(Link::Ethernet, Ip::V4, 3_004);
    connection.timestamps = false;
    connection.open(&mut gate, START_US);
    let (now_us, window) = connection.download(&mut gate, START_US, 400_000, 500);
    let mut arrives = connection.incoming(now_us, 0);
    arrives.padding = 6;
    let (_, reason) = gate.explain(Way::Arrives, Link::Ethernet, &arrives.bytes());
    assert_eq!(reason, Reason::NoData);
    let mut leaves = connection.outgoing(now_us, 500);
    leaves.padding = 6;
    assert_eq!(
        connection.send(&gate, now_us, &leaves),
        window,
        "a duplicate, padded"
    );
}

/// The length of a packet above 64 KB, which GRO merged or TSO is to cut, does not fit its header.
#[test]
fn a_packet_without_a_length_is_as_long_as_its_frame() {
    if !is_root() {
        return;
    }
    let mut gate = gate_with_limit(20_000);
    let mut connection = Connection::new(Link::Ethernet, Ip::V4, 3_005);
    connection.open(&mut gate, START_US);
    let (now_us, _) = connection.download(&mut gate, START_US, 400_000, 500);
    let mut packet = connection.incoming(now_us, 3_000).bytes();
    packet[16..18].fill(0);
    let (_, reason) = gate.explain(Way::Arrives, Link::Ethernet, &packet);
    assert_eq!(reason, Reason::Measured);
}

#[test]
fn a_dry_run_changes_nothing_and_what_follows_it_retracts_nothing() {
    if !is_root() {
        return;
    }
    let mut gate = Gate::new();
    gate.configure(&limited_to(20_000), true);
    let mut connection = Connection::new(Link::Ethernet, Ip::V4, 3_006);
    connection.open(&mut gate, START_US);
    let (now_us, _) = connection.download(&mut gate, START_US, 400_000, 500);
    assert_eq!(connection.lowered, 0);
    gate.configure(&limited_to(20_000), false);
    // The connection itself checks that no edge is retracted.
    let (_, window) = connection.download(&mut gate, now_us, 400_000, 500);
    assert_eq!(window, 20_000 >> 7);
}

#[test]
fn a_law_that_is_switched_off_leaves_every_window() {
    if !is_root() {
        return;
    }
    let mut gate = gate_with_limit(20_000);
    let mut connection = Connection::new(Link::Ethernet, Ip::V4, 3_007);
    connection.open(&mut gate, START_US);
    let (now_us, window) = connection.download(&mut gate, START_US, 400_000, 500);
    assert!(window < 500);
    let none = Params {
        law: Law::None,
        ..Params::default()
    };
    gate.configure(&none, false);
    let (_, window) = connection.download(&mut gate, now_us, 10_000, 500);
    assert_eq!(window, 500);
}

/// A SYN begins anew, whatever its port did before.
#[test]
fn a_port_that_is_used_again_begins_anew() {
    if !is_root() {
        return;
    }
    let mut gate = gate_with_limit(20_000);
    let mut connection = Connection::new(Link::Ethernet, Ip::V4, 3_008);
    connection.open(&mut gate, START_US);
    connection.download(&mut gate, START_US, 400_000, 500);
    let mut connection = Connection::new(Link::Ethernet, Ip::V4, 3_008);
    connection.scales = [Some(3), Some(3)];
    connection.expected = 77;
    connection.open(&mut gate, START_US + 1_000_000);
    connection.receive(&gate, START_US + 1_000_000, MSS);
    let first = connection.outgoing(START_US + 1_000_000, 9_000);
    assert_eq!(connection.send(&gate, START_US + 1_000_000, &first), 9_000);
    let (_, window) = connection.download(&mut gate, START_US + 1_000_000, 400_000, 9_000);
    assert_eq!(window, 20_000 >> 3);
}

/// Where there is neither a handshake nor a socket to ask, the window is not understood.
#[test]
fn an_answer_that_never_came_settles_no_scale() {
    if !is_root() {
        return;
    }
    let gate = gate_with_limit(20_000);
    let mut connection = Connection::new(Link::Ethernet, Ip::V4, 3_009);
    connection.send_handshake(&gate, START_US, Way::Leaves, false);
    let before = connection.outgoing(START_US, 500);
    let (after, reason) = gate.explain(Way::Leaves, Link::Ethernet, &before.bytes());
    assert_eq!((window_of(&before, &after), reason), (500, Reason::NoScale));
}

#[test]
fn an_answer_to_another_handshake_settles_no_scale() {
    if !is_root() {
        return;
    }
    let gate = gate_with_limit(20_000);
    let mut connection = Connection::new(Link::Ethernet, Ip::V4, 3_010);
    connection.send_handshake(&gate, START_US, Way::Leaves, false);
    connection.seq = connection.seq.wrapping_add(5_000);
    connection.send_handshake(&gate, START_US, Way::Arrives, true);
    let before = connection.outgoing(START_US, 500);
    let (after, reason) = gate.explain(Way::Leaves, Link::Ethernet, &before.bytes());
    assert_eq!((window_of(&before, &after), reason), (500, Reason::NoScale));
}
