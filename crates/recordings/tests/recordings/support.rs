//! Small files of every kind: invented numbers in each kind's format.

use etherparse::PacketBuilder;
use tidegate_recordings::{Form, Import, Options, Recorded, Refused, Written, import};

/// Files of text, by name.
pub const TEXTS: &[(&str, &[u8])] = &[
    ("5gdataset.csv", include_bytes!("samples/5gdataset.csv")),
    ("lumos5g.csv", include_bytes!("samples/lumos5g.csv")),
    ("nuwins.csv", include_bytes!("samples/nuwins.csv")),
    ("errant.csv", include_bytes!("samples/errant.csv")),
    ("monroe.csv", include_bytes!("samples/monroe.csv")),
    ("monroe.json", include_bytes!("samples/monroe.json")),
    ("mahimahi.down", include_bytes!("samples/mahimahi.down")),
    ("mm-link.log", include_bytes!("samples/mm-link.log")),
    ("pantheon.log", include_bytes!("samples/pantheon.log")),
    ("iperf3.json", include_bytes!("samples/iperf3.json")),
    (
        "iperf3-bidir.json",
        include_bytes!("samples/iperf3-bidir.json"),
    ),
];

pub fn text(name: &str) -> &'static [u8] {
    let found = TEXTS.iter().find(|(known, _)| *known == name);
    found.expect("a sample").1
}

pub fn read(bytes: &[u8], options: &Options) -> Result<Import, Refused> {
    import(bytes, options)
}

pub fn by_default(name: &str) -> Import {
    read(text(name), &Options::default()).unwrap()
}

/// The recording as written in that form.
pub fn written(recorded: &Recorded, form: Form) -> (String, Written) {
    let mut bytes = Vec::new();
    let bin = std::time::Duration::from_millis(100);
    let written = recorded.write(form, bin, &mut bytes).unwrap();
    (String::from_utf8(bytes).unwrap(), written)
}

/// A packet of a capture: microseconds since its first one, and an Ethernet frame.
pub type Frame = (u64, Vec<u8>);

/// TCP from one port of 10.0.0.1 to another of 10.0.0.2, with that much payload.
pub fn tcp(from: u16, to: u16, payload: usize) -> Vec<u8> {
    let builder = PacketBuilder::ethernet2([1; 6], [2; 6])
        .ipv4([10, 0, 0, 1], [10, 0, 0, 2], 64)
        .tcp(from, to, 1, 1000);
    let mut frame = Vec::new();
    builder.write(&mut frame, &vec![0; payload]).unwrap();
    frame
}

/// UDP over IPv6.
pub fn udp6(from: u16, to: u16, payload: usize) -> Vec<u8> {
    let builder = PacketBuilder::ethernet2([1; 6], [2; 6])
        .ipv6([1; 16], [2; 16], 64)
        .udp(from, to);
    let mut frame = Vec::new();
    builder.write(&mut frame, &vec![0; payload]).unwrap();
    frame
}

/// A download of 20 packets of 1460 bytes in 10 ms steps, its acknowledgements, and something else.
pub fn conversation() -> Vec<Frame> {
    let mut frames = Vec::new();
    for number in 0..20 {
        frames.push((number * 10_000, tcp(443, 50_000, 1460)));
        frames.push((number * 10_000 + 50, tcp(50_000, 443, 0)));
    }
    frames.push((200_000, udp6(53, 40_000, 100)));
    // ARP, which is no IP.
    let mut arp = vec![0; 42];
    arp[12..14].copy_from_slice(&[8, 6]);
    frames.push((200_100, arp));
    frames
}

/// When captures begin, in seconds since 1970.
const BEGIN_S: u64 = 1_500_000_000;

/// A classic capture in either byte order, with µs or ns, and at most `kept` bytes of each packet.
pub fn pcap(frames: &[Frame], big_endian: bool, nanoseconds: bool, kept: usize) -> Vec<u8> {
    let four = |x: u32| {
        if big_endian {
            x.to_be_bytes()
        } else {
            x.to_le_bytes()
        }
    };
    let two = |x: u16| {
        if big_endian {
            x.to_be_bytes()
        } else {
            x.to_le_bytes()
        }
    };
    let mut file = Vec::new();
    file.extend(four(if nanoseconds {
        0xa1b2_3c4d
    } else {
        0xa1b2_c3d4
    }));
    file.extend(two(2));
    file.extend(two(4));
    for word in [0, 0, 262_144, 1] {
        file.extend(four(word));
    }
    for (us, frame) in frames {
        let (s, rest) = (BEGIN_S + us / 1_000_000, us % 1_000_000);
        let kept = kept.min(frame.len());
        let rest = if nanoseconds { rest * 1000 } else { rest };
        for word in [s as u32, rest as u32, kept as u32, frame.len() as u32] {
            file.extend(four(word));
        }
        file.extend(&frame[..kept]);
    }
    file
}

fn block(kind: u32, body: &[u8]) -> Vec<u8> {
    let mut body = body.to_vec();
    body.resize(body.len().next_multiple_of(4), 0);
    let length = (body.len() as u32 + 12).to_le_bytes();
    [&kind.to_le_bytes()[..], &length, &body, &length].concat()
}

/// A pcapng capture whose timestamps have that resolution (the option `if_tsresol`), `units` a second.
pub fn pcapng(frames: &[Frame], resolution: u8, units: u64) -> Vec<u8> {
    let section = [
        &0x1a2b_3c4d_u32.to_le_bytes()[..],
        &[1, 0, 0, 0],
        &[0xff; 8],
    ]
    .concat();
    let interface = [
        &[1, 0, 0, 0, 0, 0, 4, 0][..],
        &[9, 0, 1, 0, resolution, 0, 0, 0, 0, 0, 0, 0],
    ];
    let mut file = block(0x0a0d_0d0a, &section);
    file.extend(block(1, &interface.concat()));
    for (us, frame) in frames {
        let at = u128::from(BEGIN_S * 1_000_000 + us) * u128::from(units) / 1_000_000;
        let at = at as u64;
        let length = (frame.len() as u32).to_le_bytes();
        let head = [0, (at >> 32) as u32, at as u32];
        let head: Vec<u8> = head.iter().flat_map(|word| word.to_le_bytes()).collect();
        file.extend(block(6, &[&head[..], &length, &length, frame].concat()));
    }
    file
}
