//! Target: bytes are parsed. No panic; and a packet that parses and is written again parses to the same.

use tidegate_tcp::wire::{self, Parsed};

/// A packet, as it is and with its checksums mended, which a fuzzer would never guess.
pub fn run(data: &[u8]) {
    check(data);
    let mut mended = data.to_vec();
    if mend(&mut mended).is_some() {
        check(&mended);
    }
}

fn check(packet: &[u8]) {
    let Ok(parsed) = wire::parse(packet) else {
        return;
    };
    let Parsed {
        addresses,
        segment,
        payload,
    } = parsed;
    assert_eq!(segment.len as usize, payload.len());
    // The same options may take more padding where Linux puts them.
    if payload.len() > addresses.largest_mss().into() {
        return;
    }
    let (front, back) = payload.split_at(payload.len() / 3);
    let mut written = Vec::new();
    wire::write(&mut written, &addresses, &segment, [front, back]);
    assert_eq!(
        written.len(),
        addresses.ip_header_bytes() + segment.header_bytes() + payload.len()
    );
    assert_eq!(wire::parse(&written), Ok(parsed));
}

/// Corrects the checksums, if the headers say where they are.
fn mend(packet: &mut [u8]) -> Option<()> {
    let be16 = |at: usize| {
        Some(usize::from(u16::from_be_bytes(
            *packet.get(at..)?.first_chunk()?,
        )))
    };
    let (addresses, tcp, end) = match packet.first()? >> 4 {
        4 => (12..20, usize::from(packet[0] & 0xf) * 4, be16(2)?),
        6 => (8..40, after_extensions(packet)?, 40 + be16(4)?),
        _ => return None,
    };
    if addresses.end == 20 {
        packet.get_mut(10..12)?.fill(0);
        let sum = checksum(packet.get(..tcp)?);
        packet[10..12].copy_from_slice(&sum);
    }
    let pseudo = packet.get(addresses)?.to_vec();
    let segment = packet.get_mut(tcp..end)?;
    segment.get_mut(16..18)?.fill(0);
    let len = (segment.len() as u32).to_be_bytes();
    let sum = checksum(&[&pseudo, &len[..], &[0, 0, 0, 6], segment].concat());
    segment[16..18].copy_from_slice(&sum);
    Some(())
}

fn after_extensions(packet: &[u8]) -> Option<usize> {
    let (mut next, mut at) = (*packet.get(6)?, 40);
    while [0, 43, 44, 60].contains(&next) {
        let words = if next == 44 { 0 } else { *packet.get(at + 1)? };
        next = *packet.get(at)?;
        at += 8 * (usize::from(words) + 1);
    }
    Some(at)
}

/// RFC 1071.
fn checksum(bytes: &[u8]) -> [u8; 2] {
    let sum = bytes.chunks(2).fold(0u64, |sum, word| {
        sum + (u64::from(word[0]) << 8) + word.get(1).copied().map_or(0, u64::from)
    });
    let folded = (0..3).fold(sum, |sum, _| (sum & 0xffff) + (sum >> 16));
    (!(folded as u16)).to_be_bytes()
}
