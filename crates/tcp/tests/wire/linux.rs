//! Packets that Linux sent: we read in them what tcpdump does, and write them as Linux did.

use std::fmt::Write;
use tidegate_tcp::wire::{self, Parsed};
use tidegate_tcp::{Flags, Segment};

/// Name, tcpdump's reading, bytes.
fn packets() -> Vec<(&'static str, &'static str, Vec<u8>)> {
    let lines: Vec<_> = include_str!("linux.txt").lines().collect();
    let packet = |pair: &[&'static str]| {
        let reading = pair[0].strip_prefix("# IP")?;
        let (name, bytes) = pair[1].split_once(": ")?;
        Some((name, reading, hex(bytes)))
    };
    let packets: Vec<_> = lines.windows(2).filter_map(packet).collect();
    assert_eq!(packets.len(), 15);
    packets
}

fn hex(digits: &str) -> Vec<u8> {
    let byte = |at| u8::from_str_radix(&digits[at..at + 2], 16).unwrap();
    (0..digits.len()).step_by(2).map(byte).collect()
}

#[test]
fn each_reads_as_tcpdump_reads_it() {
    for (name, reading, bytes) in packets() {
        let parsed = wire::parse(&bytes).unwrap();
        assert!(reading.contains(&ends(&parsed)), "{name}: {reading}");
        let (before, after) = reading
            .split_once("Flags")
            .unwrap()
            .1
            .split_once(", cksum")
            .unwrap();
        let reading = format!("Flags{before}{}", after.split_once("(correct)").unwrap().1);
        assert_eq!(as_tcpdump(&parsed.segment), reading, "{name}");
        assert_eq!(
            parsed.payload,
            if reading.ends_with("length 5") {
                &b"first"[..]
            } else {
                &[]
            }
        );
    }
}

#[test]
fn each_is_written_as_linux_wrote_it() {
    for (name, _, bytes) in packets() {
        let Parsed {
            addresses,
            segment,
            payload,
        } = wire::parse(&bytes).unwrap();
        let mut packet = Vec::new();
        wire::write(
            &mut packet,
            &addresses,
            &segment,
            [&payload[..payload.len() / 2], &payload[payload.len() / 2..]],
        );
        let ip = addresses.ip_header_bytes();
        assert_eq!(packet[ip..], bytes[ip..], "{name}: TCP");
        // Only Linux sets the IP header's identification and flow label.
        let mut expected = bytes[..ip].to_vec();
        if ip == 20 {
            expected[4..6].fill(0);
            expected[10..12].copy_from_slice(&packet[10..12]);
        } else {
            expected[1..4].fill(0);
        }
        assert_eq!(packet[..ip], expected, "{name}: IP");
        assert_eq!(
            segment.header_bytes(),
            bytes.len() - ip - payload.len(),
            "{name}"
        );
    }
}

/// A flipped bit is noticed wherever the checksums reach.
#[test]
fn each_is_refused_with_any_bit_changed() {
    for (name, _, bytes) in packets() {
        let before = wire::parse(&bytes).unwrap();
        for bit in 0..8 * bytes.len() {
            let mut changed = bytes.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            match wire::parse(&changed) {
                Err(_) => {}
                // IPv6 protects neither the traffic class, whose lowest bits are ECN's, nor flow label nor hop limit.
                Ok(mut after) => {
                    if let 12 | 13 = bit {
                        assert_ne!(after.segment.ecn, before.segment.ecn);
                        after.segment.ecn = before.segment.ecn;
                    }
                    assert_eq!(bytes[0] >> 4, 6, "{name}, bit {bit}");
                    assert!(matches!(bit, 0..4 | 8..32 | 56..64), "{name}, bit {bit}");
                    assert_eq!(after, before);
                }
            }
        }
    }
}

fn ends(parsed: &Parsed) -> String {
    let dotted = |address: std::net::SocketAddr| format!("{}.{}", address.ip(), address.port());
    let addresses = parsed.addresses;
    format!(
        "{} > {}:",
        dotted(addresses.source()),
        dotted(addresses.destination())
    )
}

/// A segment as `tcpdump -S` prints it.
fn as_tcpdump(segment: &Segment) -> String {
    let flags = [
        (Flags::FIN, 'F'),
        (Flags::SYN, 'S'),
        (Flags::RST, 'R'),
        (Flags::PSH, 'P'),
        (Flags::ACK, '.'),
    ];
    let letters: String = flags
        .iter()
        .filter(|(flag, _)| segment.flags.has(*flag))
        .map(|(_, letter)| letter)
        .collect();
    let mut text = format!("Flags [{letters}]");
    let syn_or_fin = segment.flags.has(Flags::SYN) || segment.flags.has(Flags::FIN);
    if segment.len > 0 {
        write!(
            text,
            ", seq {}:{}",
            segment.seq,
            segment.seq.0.wrapping_add(segment.len)
        )
        .unwrap();
    } else if syn_or_fin {
        write!(text, ", seq {}", segment.seq).unwrap();
    }
    if segment.flags.has(Flags::ACK) {
        write!(text, ", ack {}", segment.ack).unwrap();
    }
    write!(text, ", win {}", segment.window).unwrap();
    let options = options(segment);
    if !options.is_empty() {
        write!(text, ", options [{}]", options.join(",")).unwrap();
    }
    write!(text, ", length {}", segment.len).unwrap();
    text
}

fn options(segment: &Segment) -> Vec<String> {
    let mut options = Vec::new();
    let syn = segment.syn;
    options.extend(syn.mss.map(|mss| format!("mss {mss}")));
    let permitted = if syn.sack_permitted {
        "sackOK"
    } else {
        "nop,nop"
    };
    match segment.timestamps {
        Some(ts) if segment.flags.has(Flags::SYN) => {
            options.push(format!("{permitted},TS val {} ecr {}", ts.val, ts.ecr))
        }
        Some(ts) => options.push(format!("nop,nop,TS val {} ecr {}", ts.val, ts.ecr)),
        None if syn.sack_permitted => options.push("nop,nop,sackOK".into()),
        None => {}
    }
    options.extend(syn.window_scale.map(|shift| format!("nop,wscale {shift}")));
    let blocks = segment.sack.as_slice();
    if !blocks.is_empty() {
        let list: String = blocks
            .iter()
            .map(|(left, right)| format!("{{{left}:{right}}}"))
            .collect();
        options.push(format!("nop,nop,sack {} {list}", blocks.len()));
    }
    options
}
