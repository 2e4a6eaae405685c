//! Packets that are not understood pass unchanged, and are counted under their reason.

use crate::connection::Connection;
use crate::gate::{Gate, Way};
use crate::packet::{ACK, Ip, Link, Packet, RST, SYN, extension, option};
use crate::steering::gate_with_limit;
use tidegate_agent::Direction;
use tidegate_agent::Reason;
use tidegate_testing::is_root;

const START_US: u64 = 5_000_000;
const LINKS: [Link; 2] = [Link::Ethernet, Link::PlainIp];
const IPS: [Ip; 2] = [Ip::V4, Ip::V6];

/// A flow on a path that is steered: a plain acknowledgement of it leaves with a lower window.
struct Steered<'a> {
    gate: &'a Gate,
    connection: Connection,
    now_us: u64,
}

impl<'a> Steered<'a> {
    fn new(gate: &'a mut Gate, link: Link, ip: Ip) -> Self {
        let mut connection = Connection::through(gate, link, ip, 40_000);
        connection.open(gate, START_US);
        let (now_us, window) = connection.steer(gate, START_US, 500);
        assert!(window < 500);
        Self {
            gate,
            connection,
            now_us,
        }
    }

    /// A packet of the flow that would be steered, or measured.
    fn packet(&mut self, way: Way) -> Packet {
        match way {
            Way::Arrives => self.connection.incoming(self.now_us, 100),
            Way::Leaves => {
                // An upload's acknowledgement is of data that have left.
                let data = self.connection.incoming(self.now_us, 3_000).bytes();
                if self.gate.direction == Direction::Up {
                    self.gate.pass(Way::Arrives, self.connection.link, &data);
                }
                self.connection.expected += 3_000;
                self.connection.outgoing(self.now_us, 500)
            }
        }
    }

    fn expect(&self, way: Way, bytes: &[u8], expected: Reason) {
        let link = self.connection.link;
        let (after, reason) = self.gate.explain(way, link, bytes);
        let ip = self.connection.ip;
        assert_eq!(reason, expected, "{link:?} {ip:?} {way:?} {bytes:02x?}");
        assert_eq!(after, bytes, "changed, though {expected}");
    }

    /// Changes a packet of the flow by `change`, in both directions, and expects `reason`.
    fn expect_both(&mut self, reason: Reason, change: impl Fn(&mut Packet)) {
        for way in [Way::Arrives, Way::Leaves] {
            let mut packet = self.packet(way);
            change(&mut packet);
            self.expect(way, &packet.bytes(), reason);
        }
    }

    /// The same with the packet's bytes, from the TCP header's beginning.
    fn expect_bytes(&mut self, reason: Reason, change: impl Fn(&mut [u8])) {
        for way in [Way::Arrives, Way::Leaves] {
            let packet = self.packet(way);
            let mut bytes = packet.bytes();
            change(&mut bytes[packet.tcp_offset()..]);
            self.expect(way, &bytes, reason);
        }
    }
}

/// Runs `test` on every link and IP version, with a download and with an upload.
fn everywhere(test: impl Fn(Steered, Link, Ip)) {
    if !is_root() {
        return;
    }
    let mut downloads = gate_with_limit(20_000);
    for link in LINKS {
        for ip in IPS {
            test(Steered::new(&mut downloads, link, ip), link, ip);
            let mut uploads = Gate::before(Direction::Up);
            test(Steered::new(&mut uploads, link, ip), link, ip);
        }
    }
}

#[test]
fn signatures_and_shared_windows() {
    everywhere(|mut flow, _, _| {
        for (kind, content, reason) in [
            (19, 16, Reason::Sealed),
            (29, 14, Reason::Sealed),
            (30, 10, Reason::Mptcp),
        ] {
            flow.expect_both(reason, |p| p.options = option::other(kind, content));
            flow.expect_both(reason, |p| p.options.extend(option::other(kind, content)));
        }
        // After more options than are looked at, so the window must not be changed.
        flow.expect_both(Reason::Malformed, |p| {
            p.options = [vec![1; 22], option::other(19, 16)].concat();
        });
    });
}

#[test]
fn options_that_are_known_or_harmless_are_no_obstacle() {
    everywhere(|mut flow, _, _| {
        let stamps = option::timestamps(400_000, 0);
        for options in [
            [option::sack(1, 9), stamps.clone()].concat(),
            [stamps.clone(), option::other(253, 6)].concat(),
            // The end of the list, and rubbish behind it.
            [stamps.clone(), vec![0, 19, 0]].concat(),
            vec![],
        ] {
            let mut packet = flow.packet(Way::Leaves);
            packet.options = options;
            // Without timestamps an uplink's queue cannot be measured.
            let blind = packet.options.is_empty() && flow.gate.direction == Direction::Up;
            let expected = if blind {
                Reason::Unchanged
            } else {
                Reason::Rewritten
            };
            let (_, reason) = flow.gate.explain(Way::Leaves, packet.link, &packet.bytes());
            assert_eq!(reason, expected, "{:?}", packet.options);
            let mut packet = flow.packet(Way::Arrives);
            packet.options.extend(option::other(253, 6));
            let (_, reason) = flow
                .gate
                .explain(Way::Arrives, packet.link, &packet.bytes());
            assert_eq!(reason, Reason::Measured);
        }
    });
}

#[test]
fn fragments_and_headers_in_between() {
    everywhere(|mut flow, _, ip| match ip {
        Ip::V4 => {
            for fragment in [0x2000, 0x2001, 0x0001, 0x1fff] {
                flow.expect_both(Reason::Fragment, |p| p.fragment = fragment);
            }
            for length in [4, 8, 40] {
                flow.expect_both(Reason::IpOptions, |p| p.ip_options = vec![1; length]);
            }
            // Don't Fragment is no fragment.
            let mut packet = flow.packet(Way::Leaves);
            packet.fragment = 0x4000;
            let (_, reason) = flow.gate.explain(Way::Leaves, packet.link, &packet.bytes());
            assert_eq!(reason, Reason::Rewritten);
        }
        Ip::V6 => {
            for (offset, more) in [(0, true), (1, true), (1, false), (8191, false)] {
                let fragment = extension::fragment(offset, more);
                flow.expect_both(Reason::Fragment, |p| p.extensions = vec![fragment.clone()]);
                let behind = vec![extension::hop_by_hop(1), fragment.clone()];
                flow.expect_both(Reason::Fragment, |p| p.extensions = behind.clone());
            }
        }
    });
}

/// Changes packets of a flow over IPv6 by `change`, and expects that they are steered and measured all the same.
fn stays_understood(change: impl Fn(&mut Packet)) {
    everywhere(|mut flow, link, ip| {
        if ip == Ip::V4 {
            return;
        }
        let mut packet = flow.packet(Way::Leaves);
        change(&mut packet);
        let before = packet.bytes();
        let (after, reason) = flow.gate.explain(Way::Leaves, link, &before);
        let download = flow.gate.direction == Direction::Down;
        let expected = match flow.gate.direction {
            Direction::Down => Reason::Rewritten,
            Direction::Up => Reason::Measured,
        };
        if download || packet.payload > 0 {
            assert_eq!(reason, expected, "{:?}", packet.extensions);
        }
        assert_eq!(after != before, reason == Reason::Rewritten);
        assert!(packet.checksum_is_right(&after), "{:?}", packet.extensions);
        let mut packet = flow.packet(Way::Arrives);
        change(&mut packet);
        let before = packet.bytes();
        let (after, reason) = flow.gate.explain(Way::Arrives, link, &before);
        assert!(
            matches!(reason, Reason::Measured | Reason::Rewritten),
            "{reason}: {:?}",
            packet.extensions
        );
        assert!(packet.checksum_is_right(&after), "{:?}", packet.extensions);
    });
}

#[test]
fn extension_headers_are_no_obstacle() {
    use extension::{destination, fragment, hop_by_hop, routing};
    for extensions in [
        vec![hop_by_hop(1)],
        vec![destination(3)],
        vec![destination(31)],
        vec![routing(4, 0, &[9])],
        // A routing header of any type without segments left.
        vec![routing(3, 0, &[7, 8])],
        // A fragment that is a whole packet.
        vec![fragment(0, false)],
        vec![
            hop_by_hop(2),
            destination(1),
            routing(4, 0, &[9, 8]),
            fragment(0, false),
            destination(1),
        ],
        vec![destination(1); 8],
    ] {
        stays_understood(|p| p.extensions = extensions.clone());
    }
}

/// With segment routing the last segment is the connection's end, and the one in the checksum.
#[test]
fn a_packet_that_is_on_its_way_by_segments_is_of_its_connection() {
    stays_understood(|p| {
        p.via = Some(77);
        p.extensions = vec![extension::routing(4, 1, &[p.to.0, 77])];
    });
}

#[test]
fn jumbograms_are_understood() {
    // As Linux makes them of what is larger than 64 KB, and since 6.19 without the option.
    stays_understood(|p| {
        let length = p.bytes().len() - p.ip_offset() - 40 + 8;
        (p.jumbo, p.extensions) = (true, vec![extension::jumbo(length as u32)]);
    });
    stays_understood(|p| p.jumbo = true);
}

#[test]
fn extension_headers_that_nobody_understands() {
    use extension::{destination, hop_by_hop, jumbo, routing};
    everywhere(|mut flow, _, ip| {
        if ip == Ip::V4 {
            return;
        }
        for extensions in [
            // More than are looked at.
            vec![destination(1); 9],
            // TCP is further back than is looked at.
            vec![destination(255)],
            // Routing that leaves the connection's end unknown.
            vec![routing(0, 1, &[9])],
            vec![routing(3, 1, &[9])],
            vec![routing(4, 1, &[])],
        ] {
            flow.expect_both(Reason::IpOptions, |p| p.extensions = extensions.clone());
        }
        for lie in [1, 27, 100_000, u32::MAX] {
            flow.expect_both(Reason::Malformed, |p| {
                (p.jumbo, p.extensions) = (true, vec![jumbo(lie)]);
            });
        }
        // A header that is longer than its packet, and one that is longer than IP's header says.
        let mut longer = hop_by_hop(1);
        longer.1[1] = 100;
        flow.expect_both(Reason::Malformed, |p| p.extensions = vec![longer.clone()]);
        for way in [Way::Arrives, Way::Leaves] {
            let mut packet = flow.packet(way);
            packet.extensions = vec![hop_by_hop(2)];
            let mut bytes = packet.bytes();
            let length = packet.ip_offset() + 4;
            bytes[length..length + 2].copy_from_slice(&[0, 15]);
            flow.expect(way, &bytes, Reason::Malformed);
        }
    });
}

#[test]
fn other_protocols() {
    everywhere(|mut flow, link, _| {
        flow.expect_both(Reason::Udp, |p| p.protocol = 17);
        // ICMP, IP in IP, IPv6 in IP, GRE, ESP, AH, ICMPv6, SCTP, UDP-Lite.
        for protocol in [1, 4, 41, 47, 50, 51, 58, 132, 136] {
            flow.expect_both(Reason::NotTcp, |p| p.protocol = protocol);
        }
        if link == Link::Ethernet {
            // ARP, MPLS, PPPoE, an LLC frame, and a second tag behind the first.
            for ethertype in [0x0806, 0x8847, 0x8864, 0x0100, 0x88cc] {
                flow.expect_both(Reason::NotIp, |p| p.ethertype = Some(ethertype));
            }
            flow.expect_both(Reason::NotIp, |p| {
                (p.vlan, p.ethertype) = (Some(1), Some(0x8100))
            });
        }
    });
}

#[test]
fn handshakes_and_resets() {
    everywhere(|mut flow, _, _| {
        flow.expect_both(Reason::Reset, |p| p.flags = RST);
        flow.expect_both(Reason::Reset, |p| p.flags = RST | ACK);
        flow.expect_both(Reason::Handshake, |p| p.flags = SYN | ACK);
        let mut packet = flow.packet(Way::Leaves);
        packet.flags = SYN;
        packet.options.extend(option::scale(7));
        flow.expect(Way::Leaves, &packet.bytes(), Reason::Handshake);
        let mut without_ack = flow.packet(Way::Leaves);
        without_ack.flags = 0;
        flow.expect(Way::Leaves, &without_ack.bytes(), Reason::Malformed);
    });
}

#[test]
fn lengths_that_lie() {
    everywhere(|mut flow, _, ip| {
        for doff in [0, 1, 4] {
            flow.expect_bytes(Reason::Malformed, |tcp| tcp[12] = doff << 4);
        }
        let mut packet = flow.packet(Way::Leaves);
        packet.payload = 0;
        let mut bytes = packet.bytes();
        bytes[packet.tcp_offset() + 12] = 15 << 4;
        flow.expect(Way::Leaves, &bytes, Reason::Malformed);
        // An option of no length, of one byte, and one that is longer than the header.
        for length in [0, 1, 13, 255] {
            flow.expect_bytes(Reason::Malformed, |tcp| tcp[23] = length);
        }
        for way in [Way::Arrives, Way::Leaves] {
            let packet = flow.packet(way);
            let length = match ip {
                Ip::V4 => packet.ip_offset() + 2,
                Ip::V6 => packet.ip_offset() + 4,
            };
            let shortest: u16 = if ip == Ip::V4 { 39 } else { 19 };
            for wrong in [1, shortest, u16::MAX] {
                let mut bytes = packet.bytes();
                bytes[length..length + 2].copy_from_slice(&wrong.to_be_bytes());
                flow.expect(way, &bytes, Reason::Malformed);
            }
            let mut bytes = packet.bytes();
            bytes[packet.ip_offset()] ^= 0x30;
            flow.expect(way, &bytes, Reason::Malformed);
        }
    });
}

/// A packet that ends anywhere before its data do.
#[test]
fn packets_that_end_too_early() {
    everywhere(|mut flow, link, ip| {
        // The kernel's test run asks for as much as Ethernet's and the IP header, and takes a
        // tagged frame for something else.
        let shortest = if ip == Ip::V4 { 34 } else { 54 };
        for vlan in [None, Some(7)] {
            flow.connection.vlan = vlan.filter(|_| link == Link::Ethernet);
            for way in [Way::Arrives, Way::Leaves] {
                let bytes = flow.packet(way).bytes();
                let tagged = flow.connection.vlan.is_some();
                for end in if tagged { 16 } else { shortest }..bytes.len() {
                    flow.expect(way, &bytes[..end], Reason::Malformed);
                }
            }
        }
    });
}

#[test]
fn flows_that_are_not_known() {
    everywhere(|mut flow, _, _| {
        // A leaving packet would begin a flow if its scale were known.
        let (arrives_for, leaves_for) = match flow.gate.direction {
            Direction::Down => (Reason::NoFlow, Reason::NoScale),
            Direction::Up => (Reason::NoScale, Reason::NoFlow),
        };
        let mut arrives = flow.packet(Way::Arrives);
        arrives.to.1 = 1;
        flow.expect(Way::Arrives, &arrives.bytes(), arrives_for);
        let mut leaves = flow.packet(Way::Leaves);
        leaves.from.1 = 1;
        flow.expect(Way::Leaves, &leaves.bytes(), leaves_for);
        let mut bare = flow.packet(Way::Arrives);
        bare.payload = 0;
        flow.expect(Way::Arrives, &bare.bytes(), Reason::NoData);
    });
}

#[test]
fn an_interface_without_a_record() {
    if !is_root() {
        return;
    }
    // The law runs, and needs the path, only when a packet arrives at the machine.
    for (direction, data, acknowledgement) in [
        (Direction::Down, Reason::NoPath, Reason::Unchanged),
        (Direction::Up, Reason::Measured, Reason::NoPath),
    ] {
        let mut gate = Gate::without_path(direction);
        let mut connection = Connection::through(&gate, Link::Ethernet, Ip::V4, 40_000);
        connection.accept(&mut gate, START_US);
        let leaves = connection.outgoing(START_US, 500);
        let arrives = connection.incoming(START_US, 100);
        for (way, packet, why) in [
            (Way::Leaves, leaves, acknowledgement),
            (Way::Arrives, arrives, data),
        ] {
            let before = packet.bytes();
            let (after, reason) = gate.explain(way, Link::Ethernet, &before);
            assert_eq!((after, reason), (before, why));
        }
    }
}
