//! The first files of the corpora: generated, or packets and scripts by hand. The committed files are these;
//! `SEEDS=write cargo test` writes them anew.

use crate::corpus;
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;
use std::{env, fs};

/// The least files of a corpus.
pub const LEAST: usize = 10;

type Seed = (String, Vec<u8>);

#[test]
fn are_committed() {
    for (target, seeds) in [
        ("packet", packets()),
        ("stream", streams()),
        ("endpoint", endpoints()),
    ] {
        for (name, bytes) in seeds {
            let path = corpus(target).join(&name);
            if env::var_os("SEEDS").is_some_and(|value| value == "write") {
                fs::create_dir_all(corpus(target)).unwrap();
                fs::write(&path, &bytes).unwrap();
            }
            assert!(
                fs::read(&path).is_ok_and(|file| file == bytes),
                "{target}: {name}"
            );
        }
    }
}

/// Packets that Linux sent, and corrupted ones.
pub fn packets() -> Vec<Seed> {
    let lines = include_str!("../wire/linux.txt").lines();
    let linux = lines
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| line.split_once(": "));
    let mut seeds: Vec<Seed> = linux
        .map(|(name, bytes)| {
            (
                format!("linux-{}", name.to_lowercase().replace(' ', "-")),
                hex(bytes),
            )
        })
        .collect();
    seeds.extend(HOSTILE.map(|(name, bytes)| (name.to_owned(), hex(bytes))));
    seeds
}

/// Checksums are left out: the target mends them.
const HOSTILE: [(&str, &str); 12] = [
    // All flags; and none.
    (
        "flags-all",
        "450000280000000040060000010203040506070800010002000000030000000450ff000000000000",
    ),
    (
        "flags-none",
        "450000280000000040060000010203040506070800010002000000030000000450000000_00000000",
    ),
    // From itself to itself, port zero.
    (
        "land",
        "4500002800000000400600000102030401020304000000000000000000000000500200000000_0000",
    ),
    // A header length beyond the packet; a data offset beyond it; a total length below the header.
    (
        "ip-header-beyond",
        "4f0000280000000040060000010203040506070800010002000000030000000450020000_00000000",
    ),
    (
        "data-offset-beyond",
        "45000028000000004006000001020304050607080001000200000003000000_04f0020000_00000000",
    ),
    (
        "total-length-short",
        "4500001300000000400600000102030405060708000100020000000300000004500200000000_0000",
    ),
    // Options: length 0; length beyond the header; all NOP; SACK of no block; of five.
    (
        "option-length-0",
        "4500002c000000004006000001020304050607080001000200000003000000046002000000000000_02000000",
    ),
    (
        "option-length-beyond",
        "4500002c0000000040060000010203040506070800010002000000030000000460020000000000000828_0101",
    ),
    (
        "options-nop",
        "4500003c000000004006000001020304050607080001000200000003000000_04a00200000000000001010101010101010101010101010101010101_01",
    ),
    (
        "sack-empty",
        "4500002c0000000040060000010203040506070800010002000000030000000460100000000000000101_0502",
    ),
    // IPv6: a jumbogram, and hop-by-hop options after destination options.
    (
        "ipv6-jumbo",
        "6000000000000640_00000000000000000000000000000001_00000000000000000000000000000002_00010002000000030000000450020000_00000000",
    ),
    (
        "ipv6-late-hop-by-hop",
        "6000000000243c40_00000000000000000000000000000001_00000000000000000000000000000002_0001040000000000_0600040000000000_00010002000000030000000450020000_00000000",
    ),
];

fn hex(digits: &str) -> Vec<u8> {
    let digits: Vec<_> = digits
        .chars()
        .filter_map(|digit| digit.to_digit(16))
        .collect();
    digits
        .chunks(2)
        .map(|pair| (pair[0] << 4 | pair[1]) as u8)
        .collect()
}

fn streams() -> Vec<Seed> {
    (0..12)
        .map(|n| (format!("random-{n:02}"), random(n, 100 * (n as usize + 1))))
        .collect()
}

fn endpoints() -> Vec<Seed> {
    let mut seeds: Vec<Seed> = (0..24)
        .map(|n| (format!("random-{n:02}"), random(n, 60 * (n as usize + 1))))
        .collect();
    seeds.extend((0..8).map(|n| (format!("transfer-{n:02}"), transfer(n))));
    seeds
}

/// Settings, the handshake, and then writes, deliveries and reads in plenty, few disturbances.
fn transfer(seed: u64) -> Vec<u8> {
    let mut random = Pcg64Mcg::seed_from_u64(seed);
    let mut script = vec![0; 1 + 2 * 7];
    random.fill_bytes(&mut script);
    for _ in 0..300 {
        // Twice as many honest operations as there are of each kind of trouble.
        let operation = [15, 0, 1, 15, 6, 7, 8, 10, 11, 3, 4, 5][random.next_u32() as usize % 12];
        let side = random.next_u32() as u8 & 1;
        script.extend([
            operation << 1 | side,
            random.next_u32() as u8,
            random.next_u32() as u8,
        ]);
    }
    script
}

fn random(seed: u64, len: usize) -> Vec<u8> {
    let mut bytes = vec![0; len];
    Pcg64Mcg::seed_from_u64(seed).fill_bytes(&mut bytes);
    bytes
}
