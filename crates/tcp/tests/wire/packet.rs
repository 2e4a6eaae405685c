//! Packets by hand.

use std::net::SocketAddr;
use tidegate_tcp::wire::{self, Addresses};
use tidegate_tcp::{Flags, Segment};

pub fn addresses(source: &str, destination: &str) -> Addresses {
    let parse = |address: &str| address.parse::<SocketAddr>().unwrap();
    Addresses::new(parse(source), parse(destination)).unwrap()
}

pub fn v4() -> Addresses {
    addresses("10.9.0.2:1000", "10.9.0.1:2000")
}

pub fn v6() -> Addresses {
    addresses("[fd09::2]:1000", "[fd09::1]:2000")
}

/// A data segment's packet.
pub fn data(addresses: Addresses, payload: &[u8]) -> Vec<u8> {
    let segment = Segment {
        flags: Flags::ACK,
        len: payload.len() as u32,
        ..Segment::default()
    };
    let mut packet = Vec::new();
    wire::write(&mut packet, &addresses, &segment, [payload, &[]]);
    packet
}

/// An IPv4 packet with a TCP header of these flags and options, as they are.
pub fn with_options(flags: Flags, options: &[u8]) -> Vec<u8> {
    assert_eq!(options.len() % 4, 0);
    let mut packet = data(v4(), options);
    packet[20 + 12] = ((5 + options.len() / 4) as u8) << 4;
    packet[20 + 13] = flags.0 as u8;
    mend(&mut packet);
    packet
}

/// Corrects the checksums of a packet that was changed, word by word as RFC 1071 defines them.
pub fn mend(packet: &mut [u8]) {
    let (header, pseudo): (usize, Vec<u8>) = if packet[0] >> 4 == 4 {
        packet[10..12].fill(0);
        let sum = checksum(&packet[..20]);
        packet[10..12].copy_from_slice(&sum);
        (20, packet[12..20].to_vec())
    } else {
        (40, packet[8..40].to_vec())
    };
    let tcp = packet.len() - header;
    packet[header + 16..][..2].fill(0);
    let len = (tcp as u32).to_be_bytes();
    let all = [&pseudo, &len[..], &[0, 0, 0, 6], &packet[header..]].concat();
    packet[header + 16..][..2].copy_from_slice(&checksum(&all));
}

fn checksum(bytes: &[u8]) -> [u8; 2] {
    let mut sum = bytes.chunks(2).fold(0u32, |sum, word| {
        sum + (u32::from(word[0]) << 8) + word.get(1).copied().map_or(0, u32::from)
    });
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    (!(sum as u16)).to_be_bytes()
}
