//! Traffic without a window: the kinds of flows are recognised, and every packet of an interface is counted once, by
//! kind and codepoint.

mod reference;

use crate::connection::Connection;
use crate::gate::{Carried, Gate, Way};
use crate::packet::{Endpoint, Ip, Link, Packet, option};
use crate::steering::gate_with_limit;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed};
use reference::Flow;
use std::cell::RefCell;
use tidegate_agent::skeleton::types::{tg_windowless, tg_windowless_key};
use tidegate_agent::{Direction, Ecn, Kind, Origin, Reason};
use tidegate_testing::is_root;

const START_US: u64 = 5_000_000;
const HERE: Endpoint = (1, 50_000);
/// The shortest packet that the kernel's test run accepts: Ethernet's header and IPv6's.
const SHORTEST: usize = 54;

/// A gate before the machine that receives.
fn gate() -> Gate {
    let mut gate = Gate::new();
    gate.at(START_US);
    gate
}

/// From the far port to here, or from here to it.
fn packet(way: Way, far: u16, link: Link, ip: Ip) -> Packet {
    let there = (2, far);
    match way {
        Way::Arrives => Packet::new(link, ip, there, HERE),
        Way::Leaves => Packet::new(link, ip, HERE, there),
    }
}

fn datagram(way: Way, far: u16, payload: &[u8]) -> Packet {
    packet(way, far, Link::Ethernet, Ip::V4).with_datagram(payload)
}

/// Checks that the packet passes unchanged.
fn pass(gate: &Gate, way: Way, packet: &Packet) {
    let before = packet.bytes();
    assert_eq!(gate.pass(way, packet.link, &before), before, "changed");
}

/// The one flow.
fn only(gate: &Gate) -> (tg_windowless_key, tg_windowless) {
    let flows = gate.windowless();
    let [flow] = flows[..] else {
        panic!("{} flows", flows.len());
    };
    flow
}

fn kind(flow: &tg_windowless) -> Kind {
    Kind::from_raw(flow.kind).expect("a kind")
}

/// A payload of `bytes` that begins with `head`.
fn beginning(head: &[u8], bytes: usize) -> Vec<u8> {
    let mut payload = head.to_vec();
    payload.resize(bytes, 0x5a);
    payload
}

/// RFC 9001, appendix A.2: the beginning of a client's Initial.
const INITIAL: [u8; 16] = [
    0xc0, 0, 0, 0, 1, 8, 0x83, 0x94, 0xc8, 0xf0, 0x3e, 0x51, 0x57, 0x08, 0, 0,
];

#[test]
fn a_flow_is_what_its_first_datagram_says() {
    if !is_root() {
        return;
    }
    let gate = gate();
    let version = |first: u8, version: u32| {
        let mut head = INITIAL;
        head[0] = first;
        head[1..5].copy_from_slice(&version.to_be_bytes());
        head.to_vec()
    };
    let wireguard = |kind: u8| [&[kind, 0, 0, 0, 9, 8, 7, 6, 1, 0, 0, 0], &[0; 4][..]].concat();
    for (far, head, bytes, expected) in [
        (443, INITIAL.to_vec(), 1200, Kind::Quic),
        (50_443, INITIAL.to_vec(), 1200, Kind::Quic),
        // Too short for an Initial; too long for a connection's id; not of QUIC.
        (443, INITIAL.to_vec(), 1199, Kind::Udp),
        (443, version(0xc0, 0x1234_5678), 1200, Kind::Udp),
        (443, [&INITIAL[..5], &[21; 11]].concat(), 1200, Kind::Udp),
        (443, version(0x80, 1), 1200, Kind::Udp),
        // Version 2's Initial, its 0-RTT, a draft, a reserved version, Facebook's.
        (443, version(0xd0, 0x6b33_43cf), 1200, Kind::Quic),
        (443, version(0xd0, 0x6b33_43cf), 1199, Kind::Udp),
        (443, version(0xe0, 0x6b33_43cf), 900, Kind::Quic),
        (443, version(0xc0, 0xff00_001d), 1200, Kind::Quic),
        (443, version(0xc0, 0xff00_001c), 1200, Kind::Udp),
        (443, version(0xc0, 0x1a2a_3a4a), 1200, Kind::Quic),
        (443, version(0xe0, 0x1a2a_3a4a), 1199, Kind::Udp),
        (443, version(0xc0, 0xface_b002), 1200, Kind::Quic),
        // A short header is never certainly QUIC's; on port 443 it is likely.
        (443, vec![0x5b; 16], 1350, Kind::MaybeQuic),
        (4433, vec![0x5b; 16], 1350, Kind::Udp),
        (443, vec![0x1b; 16], 1350, Kind::MaybeQuic),
        // DTLS, STUN, RTP, and a channel of TURN's.
        (
            443,
            vec![0, 1, 0, 0, 0x21, 0x12, 0xa4, 0x42],
            100,
            Kind::Udp,
        ),
        (443, vec![0x80, 0x60], 200, Kind::Udp),
        (443, vec![0x16, 0xfe, 0xfd], 200, Kind::Udp),
        (443, vec![0x40, 1, 0, 196], 200, Kind::Udp),
        (443, vec![0x40, 1, 0, 190], 200, Kind::MaybeQuic),
        (51_820, wireguard(1), 148, Kind::Wireguard),
        (51_820, wireguard(1), 149, Kind::Udp),
        (51_820, wireguard(2), 92, Kind::Wireguard),
        (51_820, wireguard(3), 64, Kind::Wireguard),
        (443, wireguard(4), 1424, Kind::Wireguard),
        (51_820, wireguard(4), 1423, Kind::Udp),
        (51_820, vec![4; 16], 1424, Kind::Udp),
        (4500, vec![0, 0, 1, 0], 120, Kind::Ipsec),
        (4500, vec![0, 0, 0, 0], 120, Kind::Udp),
        (1194, vec![0x48, 0, 0, 1], 1300, Kind::Openvpn),
        (1194, vec![0x38, 0, 0, 1], 54, Kind::Openvpn),
        (1195, vec![0x48, 0, 0, 1], 1300, Kind::Udp),
        (2152, vec![0x34, 255, 0, 92], 100, Kind::Gtp),
        (2152, vec![0x34, 255, 0, 91], 100, Kind::Udp),
        (4789, vec![8, 0, 0, 0, 0, 0, 7, 0], 150, Kind::Vxlan),
        (4789, vec![8, 0, 0, 0, 0, 0, 7, 1], 150, Kind::Udp),
        (53, vec![0xaa; 16], 60, Kind::Udp),
        (53, vec![0xaa; 8], 8, Kind::Udp),
    ] {
        for way in [Way::Arrives, Way::Leaves] {
            gate.forget_windowless();
            pass(&gate, way, &datagram(way, far, &beginning(&head, bytes)));
            assert_eq!(kind(&only(&gate).1), expected, "{far} {head:02x?} {bytes}");
        }
    }
}

#[test]
fn what_ip_carries_beside_tcp_and_udp_is_told_by_its_number() {
    if !is_root() {
        return;
    }
    let gate = gate();
    for ip in [Ip::V4, Ip::V6] {
        for (protocol, expected) in [
            (4, Kind::IpInIp),
            (41, Kind::IpInIp),
            (47, Kind::Gre),
            (50, Kind::Ipsec),
            (51, Kind::Ipsec),
            (1, Kind::Other),
            (58, Kind::Other),
            (132, Kind::Other),
        ] {
            gate.forget_windowless();
            let mut packet = packet(Way::Arrives, 9, Link::Ethernet, ip);
            (packet.protocol, packet.payload) = (protocol, 100);
            pass(&gate, Way::Arrives, &packet);
            let (key, flow) = only(&gate);
            assert_eq!(kind(&flow), expected, "{protocol}");
            let ports = (key.key.local_port, key.key.remote_port);
            assert_eq!((key.protocol, ports), (protocol.into(), (0, 0)));
        }
    }
}

/// Random datagrams: nearly those of some protocol, or anything.
fn payload() -> impl Strategy<Value = Vec<u8>> {
    const VERSIONS: [u32; 8] = [
        1,
        0x6b33_43cf,
        0xff00_001d,
        0xff00_0022,
        0xff00_0023,
        0x0a0a_0a0a,
        0xface_b00e,
        0,
    ];
    const LENGTHS: [usize; 14] = [
        0, 7, 15, 16, 32, 48, 64, 92, 100, 148, 1184, 1199, 1200, 1400,
    ];
    let version = prop::sample::select(&VERSIONS[..]);
    let id = prop_oneof![Just(8u8), 0u8..40];
    let long = (any::<u8>(), version, id).prop_map(|(first, version, id)| {
        [&[first | 0x80][..], &version.to_be_bytes(), &[id]].concat()
    });
    let wireguard =
        (0u8..6, any::<[u8; 8]>(), prop::bool::weighted(0.9)).prop_map(|(kind, middle, counts)| {
            let upper = u8::from(!counts);
            [&[kind, 0, 0, 0][..], &middle, &[upper, 0, 0, 0]].concat()
        });
    let rest = |head: Vec<u8>| (head, None);
    // GTP-U and TURN say how long they are, behind headers of eight and of four bytes.
    let head = prop_oneof![
        4 => long.prop_map(rest),
        2 => wireguard.prop_map(rest),
        2 => Just((vec![0x34, 255], Some(8))),
        1 => Just((vec![0x40, 1], Some(4))),
        1 => Just(rest(vec![8, 0, 0, 0, 0, 0, 1, 0])),
        3 => (0x40u8..0x88).prop_map(move |first| rest(vec![first])),
        1 => (18u8..28).prop_map(move |first| rest(vec![first, 254])),
        1 => (0u8..6).prop_map(move |first| rest(vec![first, 1, 0, 0, 0x21, 0x12, 0xa4, 0x42])),
        1 => (0u8..12).prop_map(move |operation| rest(vec![operation << 3])),
        1 => Just(rest(vec![0, 0, 0, 0])),
        2 => any::<[u8; 16]>().prop_map(move |head| rest(head.into())),
    ];
    let bytes = prop_oneof![4 => prop::sample::select(&LENGTHS[..]), 1 => 0usize..1400];
    let flip = prop::option::weighted(0.2, (0usize..16, 0u8..8));
    let missing = prop_oneof![3 => Just(0), 1 => 0usize..6];
    (head, bytes, missing, any::<u8>(), flip).prop_map(|(head, bytes, missing, rest, flip)| {
        let (mut payload, header) = head;
        if let Some(header) = header {
            let says = bytes.saturating_sub(header + missing) as u16;
            payload.extend(says.to_be_bytes());
        }
        payload.resize(payload.len().max(bytes), rest);
        payload.truncate(bytes);
        if let Some((at, bit)) = flip
            && let Some(byte) = payload.get_mut(at)
        {
            *byte ^= 1 << bit;
        }
        payload
    })
}

/// The kernel's programs and a plain description of the same agree on every flow, datagram by datagram.
#[test]
fn flows_are_told_as_the_reference_tells_them() {
    if !is_root() {
        return;
    }
    let gate = gate();
    let met = RefCell::new([0; Kind::ALL.len()]);
    let config = Config {
        cases: 3_000,
        rng_seed: RngSeed::Fixed(0x7466),
        failure_persistence: None,
        ..Config::default()
    };
    let ports = vec![443, 443, 1194, 2152, 4500, 4789, 8472, 51_820];
    let port = prop::sample::select(ports);
    let way = || prop_oneof![Just(Way::Arrives), Just(Way::Leaves)];
    let payloads = prop::collection::vec((way(), payload()), 1..5);
    let link = prop_oneof![Just(Link::Ethernet), Just(Link::PlainIp)];
    let ip = prop_oneof![Just(Ip::V4), Just(Ip::V6)];
    proptest!(config, |(port in port, link in link, ip in ip, payloads in payloads)| {
        gate.forget_windowless();
        let mut expected = Flow::new([port, HERE.1]);
        for (way, payload) in payloads {
            // The kernel's test run takes no shorter packets.
            let header = if ip == Ip::V4 { 28 } else { 48 };
            if header + payload.len() < SHORTEST {
                continue;
            }
            pass(&gate, way, &packet(way, port, link, ip).with_datagram(&payload));
            expected.meets(&payload);
            let told = kind(&only(&gate).1);
            prop_assert_eq!(told, expected.kind(), "{} {:02x?}", payload.len(), payload.get(..16));
        }
        met.borrow_mut()[expected.kind() as usize] += 1;
    });
    for kind in reference::KINDS {
        let met = met.borrow()[kind as usize];
        assert!(met > 10, "hardly any {kind}: {met}");
    }
}

#[test]
fn both_ways_of_a_flow_are_noted_in_its_one_record() {
    if !is_root() {
        return;
    }
    for link in [Link::Ethernet, Link::PlainIp] {
        for ip in [Ip::V4, Ip::V6] {
            for vlan in [None, Some(7)]
                .into_iter()
                .filter(|v| v.is_none() || link == Link::Ethernet)
            {
                let mut gate = gate();
                let send = |gate: &Gate, way, ecn: Ecn, bytes| {
                    let payload = beginning(&INITIAL, bytes);
                    let mut packet = packet(way, 443, link, ip).with_datagram(&payload);
                    (packet.ecn, packet.vlan) = (ecn as u8, vlan);
                    pass(gate, way, &packet);
                };
                send(&gate, Way::Leaves, Ecn::Ect0, 1200);
                gate.at(START_US + 100);
                send(&gate, Way::Arrives, Ecn::Ce, 1200);
                send(&gate, Way::Arrives, Ecn::Ect1, 50);
                send(&gate, Way::Arrives, Ecn::NotEct, 50);
                let (key, flow) = only(&gate);
                let [down, up] = flow.ways;
                assert_eq!((down.bytes, down.packets), (1300, [1, 1, 0, 1]));
                assert_eq!((up.bytes, up.packets), (1200, [0, 0, 1, 0]));
                assert_eq!((flow.first_us, flow.seen_us), (START_US, START_US + 100));
                assert_eq!(Origin::from_raw(flow.origin), Some(Origin::Own));
                let ports = [key.key.local_port, key.key.remote_port].map(u16::from_be);
                assert_eq!((ports, key.protocol), ([HERE.1, 443], 17));
                assert_eq!(key.key.vlan, u32::from(vlan.unwrap_or(0)));
                let header = if ip == Ip::V4 { 28 } else { 48 };
                // A tag in the frame counts as bytes: it follows the link's header.
                let header = header + if vlan.is_some() { 4 } else { 0 };
                let carried = |direction, ecn, bytes: u64| {
                    ((direction, Kind::Quic, ecn), (1, header + bytes))
                };
                let expected = Carried::from([
                    carried(Direction::Up, Ecn::Ect0, 1200),
                    carried(Direction::Down, Ecn::Ce, 1200),
                    carried(Direction::Down, Ecn::Ect1, 50),
                    carried(Direction::Down, Ecn::NotEct, 50),
                ]);
                assert_eq!(gate.carried(), expected);
            }
        }
    }
}

#[test]
fn what_is_forwarded_is_told_from_the_machines_own() {
    if !is_root() {
        return;
    }
    let gate = gate();
    let origin = || Origin::from_raw(only(&gate).1.origin).expect("known");
    pass(&gate, Way::Arrives, &datagram(Way::Arrives, 443, &[1; 50]));
    assert_eq!(origin(), Origin::Unknown);
    let leaves = datagram(Way::Leaves, 443, &[1; 50]).bytes();
    let after = gate.pass_forwarded(Way::Leaves, Link::Ethernet, &leaves);
    assert_eq!((after, origin()), (leaves, Origin::Forwarded));
    pass(&gate, Way::Leaves, &datagram(Way::Leaves, 443, &[1; 50]));
    assert_eq!(origin(), Origin::Own);
}

/// Each of the merged packets counts; they are recognised by the length of one.
#[test]
fn merged_datagrams_count_as_on_the_wire() {
    if !is_root() {
        return;
    }
    let gate = gate();
    let head = [4, 0, 0, 0, 9, 8, 7, 6, 1, 0, 0, 0, 0, 0, 0, 0];
    let payload = beginning(&head, 2 * 1424 - 42);
    let packet = datagram(Way::Arrives, 51_820, &payload).bytes();
    let after = gate.pass_merged(Way::Arrives, Link::Ethernet, &packet, 1424);
    assert_eq!(after, packet);
    let (_, flow) = only(&gate);
    assert_eq!(kind(&flow), Kind::Wireguard);
    let down = flow.ways[Direction::Down as usize];
    assert_eq!((down.bytes, down.packets), (2806, [2, 0, 0, 0]));
}

#[test]
fn what_is_cut_or_hidden_passes_and_has_no_ports() {
    if !is_root() {
        return;
    }
    let gate = gate();
    let initial = || datagram(Way::Arrives, 443, &beginning(&INITIAL, 1200));
    let ports = |gate: &Gate| {
        let (key, flow) = only(gate);
        assert_eq!(kind(&flow), Kind::Udp);
        (key.key.local_port, key.key.remote_port)
    };
    for fragment in [0x2000, 0x2001, 0x0001] {
        gate.forget_windowless();
        let mut packet = initial();
        packet.fragment = fragment;
        pass(&gate, Way::Arrives, &packet);
        assert_eq!(ports(&gate), (0, 0));
    }
    gate.forget_windowless();
    let mut packet = initial();
    packet.ip_options = vec![1; 8];
    pass(&gate, Way::Arrives, &packet);
    assert_eq!(ports(&gate), (0, 0));
    // A length that is less than the header's, or more than there is.
    for length in [0u16, 7, 1209, u16::MAX] {
        gate.forget_windowless();
        let mut bytes = initial().bytes();
        bytes[38..40].copy_from_slice(&length.to_be_bytes());
        assert_eq!(gate.pass(Way::Arrives, Link::Ethernet, &bytes), bytes);
        assert_ne!(ports(&gate), (0, 0));
    }
    // Cut anywhere, from IP's header on.
    let bytes = initial().bytes();
    for end in 34..bytes.len().min(100) {
        gate.forget_windowless();
        let cut = &bytes[..end];
        assert_eq!(gate.pass(Way::Arrives, Link::Ethernet, cut), cut);
        assert_eq!(ports(&gate) != (0, 0), end >= 42, "{end}");
    }
}

/// The kinds under which packets were counted, arriving and leaving.
fn kinds(carried: &Carried) -> Vec<(Direction, Kind)> {
    let mut kinds: Vec<_> = carried.keys().map(|(d, kind, _)| (*d, *kind)).collect();
    kinds.dedup();
    kinds
}

#[test]
fn tcp_is_of_a_kind_by_what_can_be_done_with_it() {
    if !is_root() {
        return;
    }
    for (timestamps, expected) in [(true, Kind::Tcp), (false, Kind::NoTimestamps)] {
        let mut gate = gate_with_limit(20_000);
        let mut connection = Connection::through(&gate, Link::Ethernet, Ip::V4, 40_000);
        connection.timestamps = timestamps;
        connection.open(&mut gate, START_US);
        connection.steer(&mut gate, START_US, 500);
        let carried = gate.carried();
        // This gate does not serve uploads, so the answer to the SYN is not examined.
        let unasked = (Direction::Down, Kind::TcpLeft, Ecn::NotEct);
        assert_eq!(carried.get(&unasked).map(|(packets, _)| *packets), Some(1));
        for direction in Direction::ALL {
            assert!(carried[&(direction, expected, Ecn::NotEct)].0 > 10);
        }
        assert_eq!(carried.len(), 3, "{carried:?}");
        assert!(gate.windowless().is_empty());
    }
    let left = |change: fn(&mut Packet), reason| {
        let mut gate = gate();
        let mut connection = Connection::through(&gate, Link::Ethernet, Ip::V4, 40_000);
        gate.at(START_US);
        let mut packet = connection.incoming(START_US, 100);
        change(&mut packet);
        let (_, found) = gate.explain(Way::Arrives, packet.link, &packet.bytes());
        assert_eq!(found, reason);
        kinds(&gate.carried())
    };
    let expected = [(Direction::Down, Kind::TcpLeft)];
    assert_eq!(left(|_| {}, Reason::NoFlow), expected);
    let sealed = |p: &mut Packet| p.options = option::other(19, 16);
    assert_eq!(left(sealed, Reason::Sealed), expected);
    assert_eq!(left(|p| p.fragment = 0x2000, Reason::Fragment), expected);
    assert_eq!(
        left(|p| p.ip_options = vec![1; 4], Reason::IpOptions),
        expected
    );
    let unknown = [(Direction::Down, Kind::Other)];
    assert_eq!(left(|p| p.ethertype = Some(0x0806), Reason::NotIp), unknown);
}

/// More flows than the table holds: all pass, and the sums forget nothing.
#[test]
fn a_flood_of_flows_is_counted_and_the_last_are_known() {
    if !is_root() {
        return;
    }
    const FLOWS: u16 = 20_000;
    let gate = gate();
    for far in 1..=FLOWS {
        pass(
            &gate,
            Way::Arrives,
            &datagram(Way::Arrives, far, &[0xaa; 40]),
        );
    }
    let carried = gate.carried();
    let packets: u64 = carried.values().map(|(packets, _)| packets).sum();
    assert_eq!(packets, u64::from(FLOWS));
    let flows = gate.windowless();
    assert!((4_000..=8_192).contains(&flows.len()), "{}", flows.len());
    let last = |(key, _): &(tg_windowless_key, _)| u16::from_be(key.key.remote_port) == FLOWS;
    assert!(flows.iter().any(last));
}
