use super::*;

/// An IPv4 header of 24 bytes (one option), then TCP with 12 bytes of options.
fn tcp4(ports: [u16; 2], sequence: u32, flags: u8, data: usize) -> Vec<u8> {
    let mut packet = vec![0; 24];
    packet[0] = 0x46;
    packet[9] = TCP;
    packet[12..20].copy_from_slice(&[10, 0, 0, 1, 10, 0, 0, 2]);
    packet.extend(tcp(ports, sequence, flags, data));
    packet
}

fn tcp6(ports: [u16; 2], sequence: u32, flags: u8, data: usize) -> Vec<u8> {
    let mut packet = vec![0; 40];
    packet[0] = 0x60;
    packet[6] = TCP;
    packet[23] = 1;
    packet[39] = 2;
    packet.extend(tcp(ports, sequence, flags, data));
    packet
}

fn tcp(ports: [u16; 2], sequence: u32, flags: u8, data: usize) -> Vec<u8> {
    let mut header = vec![0; 32];
    header[..2].copy_from_slice(&ports[0].to_be_bytes());
    header[2..4].copy_from_slice(&ports[1].to_be_bytes());
    header[4..8].copy_from_slice(&sequence.to_be_bytes());
    header[12] = 8 << 4;
    header[13] = flags;
    header.resize(32 + data, 0xaa);
    header
}

fn frame(bytes: Vec<u8>) -> Frame {
    Frame {
        bytes,
        arrived: Instant::ZERO,
        route: 0,
        passed: 0,
    }
}

/// Hosts of two sites may have the same addresses and ports, but not the same route.
#[test]
fn flows_on_two_ways_are_two() {
    let one = frame(tcp4([1, 2], 1, 0x10, 100));
    let other = Frame {
        route: 1,
        ..frame(tcp4([1, 2], 1, 0x10, 100))
    };
    assert_ne!(one.flow(), other.flow());
}

#[test]
fn a_flow_is_addresses_protocol_and_ports() {
    for make in [tcp4, tcp6] {
        let flow = |ports| frame(make(ports, 1, 0x10, 100)).flow();
        let same = frame(make([1, 2], 99, 0x18, 0)).flow();
        assert_eq!(flow([1, 2]), same);
        assert_ne!(flow([1, 2]), flow([2, 1]));
        assert_ne!(flow([1, 2]), flow([1, 3]));
        let mut udp = make([1, 2], 1, 0x10, 100);
        let protocol = if udp[0] >> 4 == 4 { 9 } else { 6 };
        udp[protocol] = UDP;
        assert_ne!(frame(udp).flow(), flow([1, 2]));
    }
}

#[test]
fn sequence_space_is_data_syn_and_fin() {
    for make in [tcp4, tcp6] {
        let of = |sequence, flags, data| frame(make([1, 2], sequence, flags, data)).sequence();
        let expected = |start, end, opens| Some(Sequence { start, end, opens });
        assert_eq!(of(1000, 0x10, 0), None);
        assert_eq!(of(1000, 0x10, 500), expected(1000, 1500, false));
        assert_eq!(of(1000, SYN, 0), expected(1000, 1001, true));
        assert_eq!(of(u32::MAX, 0x10 | FIN, 9), expected(u32::MAX, 9, false));
    }
}

#[test]
fn what_is_not_tcp_in_one_piece_has_no_sequence() {
    let whole = tcp4([1, 2], 1, 0x10, 100);
    let mut fragment = whole.clone();
    fragment[6] = 0x20;
    let mut udp = whole.clone();
    udp[9] = UDP;
    for bytes in [fragment, udp, Vec::new(), vec![0x46], vec![0x60; 20]] {
        assert_eq!(frame(bytes).sequence(), None);
    }
    for length in 0..whole.len() - 100 {
        assert_eq!(frame(whole[..length].to_vec()).sequence(), None);
    }
}

#[test]
fn a_mark_changes_the_ecn_field_and_keeps_the_checksum_right() {
    for class in [0b1011_1001, 0b1011_1010, 0xfe] {
        let mut v4 = tcp4([1, 2], 1, 0x10, 100);
        v4[1] = class;
        let sum = checksum(&v4[..24]);
        v4[10..12].copy_from_slice(&sum.to_be_bytes());
        let mut v4 = frame(v4);
        assert_eq!(v4.ecn(), Ecn::from_bits(class));
        v4.mark();
        assert_eq!((v4.ecn(), v4.bytes[1]), (Ecn::Ce, class | 3));
        assert_eq!(checksum(&v4.bytes[..24]), 0);

        let mut v6 = tcp6([1, 2], 1, 0x10, 100);
        (v6[0], v6[1]) = (0x60 | class >> 4, class << 4);
        let mut v6 = frame(v6);
        assert_eq!(v6.ecn(), Ecn::from_bits(class));
        v6.mark();
        assert_eq!(
            (v6.ecn(), v6.bytes[0], v6.bytes[1]),
            (Ecn::Ce, 0x60 | class >> 4, class << 4 | 0x30)
        );
    }
    let mut short = frame(vec![0x45]);
    short.mark();
    assert_eq!((short.ecn(), short.bytes), (Ecn::NotEct, vec![0x45]));
}

/// The Internet checksum (RFC 1071), including the checksum field as it is.
fn checksum(header: &[u8]) -> u16 {
    let words = header
        .chunks(2)
        .map(|w| u32::from(w[0]) << 8 | u32::from(w[1]));
    let sum: u32 = words.sum();
    let sum = (sum & 0xffff) + (sum >> 16);
    !(((sum & 0xffff) + (sum >> 16)) as u16)
}
