//! Every reason to refuse a packet.

use crate::packet::{data, mend, v4, v6, with_options};
use tidegate_tcp::Flags;
use tidegate_tcp::wire::{self, Malformed};

/// IPv6 extension headers (RFC 8200 §4), by number.
const HOP_BY_HOP: u8 = 0;
const ROUTING: u8 = 43;
const FRAGMENT: u8 = 44;
const AUTHENTICATION: u8 = 51;
const DESTINATION_OPTIONS: u8 = 60;

#[track_caller]
fn refused(packet: &[u8], reason: Malformed) {
    assert_eq!(wire::parse(packet), Err(reason));
}

/// A sound packet with the byte at `at` set to `value`, its checksums right.
fn with_byte(mut packet: Vec<u8>, at: usize, value: u8) -> Vec<u8> {
    packet[at] = value;
    mend(&mut packet);
    packet
}

/// An IPv6 packet with an extension header of eight bytes before TCP.
fn extended(kind: u8, value: [u8; 7]) -> Vec<u8> {
    let mut packet = data(v6(), b"payload");
    packet[5] += 8;
    let next = std::mem::replace(&mut packet[6], kind);
    packet.splice(40..40, [[next].as_slice(), &value].concat());
    packet
}

#[test]
fn versions_other_than_4_and_6() {
    let mut packet = data(v4(), b"");
    packet[0] = 0x55;
    refused(&packet, Malformed::Version(5));
    refused(&[0; 60], Malformed::Version(0));
}

#[test]
fn truncated_anywhere() {
    for packet in [data(v4(), b"payload"), data(v6(), b"payload")] {
        for len in 0..packet.len() {
            refused(&packet[..len], Malformed::Truncated);
        }
    }
}

#[test]
fn truncated_inside_the_lengths() {
    // IP says less than a TCP header, and TCP says more header than there is.
    let short = |len: u8| {
        let mut packet = data(v4(), b"");
        packet.truncate(usize::from(len));
        packet[3] = len;
        packet[10..12].fill(0);
        packet.resize(40, 0);
        mend(&mut packet);
        packet
    };
    refused(&short(20), Malformed::Truncated);
    refused(&short(39), Malformed::Truncated);
    refused(
        &with_byte(data(v4(), b"1234567"), 32, 0x70),
        Malformed::Truncated,
    );
    // A length under the header's own.
    refused(&short(19), Malformed::Truncated);
}

#[test]
fn bytes_after_the_packet_do_not_belong_to_it() {
    for mut packet in [data(v4(), b"payload"), data(v6(), b"payload")] {
        packet.extend([0xff; 10]);
        assert_eq!(wire::parse(&packet).unwrap().payload, b"payload");
    }
}

#[test]
fn unsound_ip_headers() {
    refused(&with_byte(data(v4(), b""), 0, 0x44), Malformed::IpHeader);
    // A jumbogram, or a length that offloading has not filled in.
    let mut jumbo = data(v6(), b"payload");
    jumbo[4..6].fill(0);
    refused(&jumbo, Malformed::IpHeader);
    // Hop-by-hop options that are not the first.
    let mut late = extended(DESTINATION_OPTIONS, [0; 7]);
    late[40] = HOP_BY_HOP;
    refused(&late, Malformed::IpHeader);
}

#[test]
fn wrong_checksums() {
    let mut packet = data(v4(), b"payload");
    packet[8] -= 1;
    refused(&packet, Malformed::Ipv4Checksum);
    for mut packet in [data(v4(), b"payload"), data(v6(), b"payload")] {
        *packet.last_mut().unwrap() ^= 1;
        refused(&packet, Malformed::TcpChecksum);
    }
    // The pseudo-header counts: another host's address.
    let mut packet = data(v6(), b"payload");
    packet[23] ^= 1;
    refused(&packet, Malformed::TcpChecksum);
}

#[test]
fn fragments() {
    let more = with_byte(data(v4(), b"payload"), 6, 0x20);
    refused(&more, Malformed::Fragment);
    let later = with_byte(data(v4(), b"payload"), 7, 1);
    refused(&later, Malformed::Fragment);
    refused(
        &extended(FRAGMENT, [0, 0, 1, 0, 0, 0, 9]),
        Malformed::Fragment,
    );
    // An atomic fragment (RFC 6946) is whole.
    let atomic = extended(FRAGMENT, [0, 0, 0, 0, 0, 0, 9]);
    assert_eq!(wire::parse(&atomic).unwrap().payload, b"payload");
}

#[test]
fn extension_headers_are_skipped_where_they_mean_nothing_to_the_last_node() {
    let padding = [0, 1, 4, 0, 0, 0, 0];
    for kind in [HOP_BY_HOP, DESTINATION_OPTIONS] {
        assert_eq!(
            wire::parse(&extended(kind, padding)).unwrap().payload,
            b"payload"
        );
    }
    let arrived = extended(ROUTING, [0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(wire::parse(&arrived).unwrap().payload, b"payload");
    let further = extended(ROUTING, [0, 0, 1, 0, 0, 0, 0]);
    refused(&further, Malformed::Extension(ROUTING));
    // One that is longer than what is left of the packet.
    refused(
        &extended(DESTINATION_OPTIONS, [9, 0, 0, 0, 0, 0, 0]),
        Malformed::Truncated,
    );
}

#[test]
fn authenticated_packets() {
    let mut v6 = data(v6(), b"payload");
    v6[5] += 12;
    v6[6] = AUTHENTICATION;
    v6.splice(40..40, [6, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1]);
    refused(&v6, Malformed::Extension(AUTHENTICATION));
    let mut v4 = data(v4(), b"payload");
    v4.splice(20..20, [6, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1]);
    v4[3] += 12;
    v4[9] = AUTHENTICATION;
    mend(&mut v4);
    refused(&v4, Malformed::Extension(AUTHENTICATION));
}

#[test]
fn other_protocols() {
    const UDP: u8 = 17;
    refused(
        &with_byte(data(v4(), b"payload"), 9, UDP),
        Malformed::Protocol(UDP),
    );
    refused(
        &with_byte(data(v6(), b"payload"), 6, UDP),
        Malformed::Protocol(UDP),
    );
}

#[test]
fn headers_under_five_words() {
    for words in 0..5 {
        let packet = with_byte(data(v4(), b"payload"), 32, words << 4);
        refused(&packet, Malformed::DataOffset(words));
    }
}

#[test]
fn options_of_illegal_length() {
    #[track_caller]
    fn illegal(options: [u8; 12], kind: u8, len: u8) {
        let packet = with_options(Flags::SYN, &options);
        refused(&packet, Malformed::Option { kind, len });
    }
    // MSS, window scale, SACK-permitted, SACK and timestamps of a wrong length.
    illegal([2, 3, 5, 1, 1, 1, 1, 1, 1, 1, 1, 0], 2, 3);
    illegal([3, 4, 0, 0, 1, 1, 1, 1, 1, 1, 1, 0], 3, 4);
    illegal([4, 3, 0, 1, 1, 1, 1, 1, 1, 1, 1, 0], 4, 3);
    illegal([5, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0], 5, 2);
    illegal([5, 9, 0, 0, 0, 0, 0, 0, 0, 1, 1, 0], 5, 9);
    illegal([8, 9, 0, 0, 0, 0, 0, 0, 0, 1, 1, 0], 8, 9);
    // No length at all, lengths under the two bytes of every option, and beyond the header.
    illegal([1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 77], 77, 0);
    illegal([77, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0], 77, 0);
    illegal([77, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0], 77, 1);
    illegal([1, 77, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0], 77, 12);
}

#[test]
fn every_reason_has_words() {
    assert_eq!(
        Malformed::Protocol(17).to_string(),
        "IP protocol 17 is not TCP"
    );
    let option = Malformed::Option { kind: 5, len: 9 };
    assert_eq!(option.to_string(), "option 5 with an illegal length of 9");
}
