//! The first files of the corpora. The committed files are these; `SEEDS=write cargo test` writes them anew.

use crate::targets::files::CONTENT;
use crate::{TARGETS, corpus};
use std::net::SocketAddr;
use std::time::Duration;
use std::{env, fs};
use tidegate_mpath::wire::{
    Answer, Control, Hello, write_answer, write_control, write_data, write_feedback, write_hello,
    write_relay, write_sealed,
};
use tidegate_mpath::{Data, Feedback, Gap, PathGap, PathId, PathReport};
use tidegate_overlay::Secret;
use tidegate_transfer::{Cipher, Token};

pub type Seed = (String, Vec<u8>);

#[test]
fn are_committed() {
    for (target, _) in TARGETS {
        for (name, bytes) in of(target) {
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

/// The seeds of a target.
pub fn of(target: &str) -> Vec<Seed> {
    let seeds = match target {
        "ends" => ends(),
        "files" => files(),
        "proxy" => proxy(),
        "registry" => registry(),
        "token" => tokens(),
        _ => packets(),
    };
    let named = |(name, bytes): (&str, Vec<u8>)| (name.to_owned(), bytes);
    seeds.into_iter().map(named).collect()
}

type Named = Vec<(&'static str, Vec<u8>)>;

fn written(write: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut out = Vec::new();
    write(&mut out);
    out
}

fn data(path: u32, path_seq: u64, stream: u64, fin: bool) -> Vec<u8> {
    let data = Data {
        path: PathId(path),
        path_seq,
        stream,
        patience: Duration::from_millis(20),
        fin,
    };
    written(|out| write_data(out, 1, &data))
}

fn feedback(
    next: u64,
    limit: u64,
    reports: &[(u32, u64, u64)],
    gaps: &[(u32, u64, u32)],
) -> Vec<u8> {
    let report = |&(path, largest, lost): &(u32, u64, u64)| PathReport {
        path: PathId(path),
        largest,
        lost,
        delay: Duration::from_millis(1),
    };
    let gap = |&(path, first, count): &(u32, u64, u32)| PathGap {
        path: PathId(path),
        gap: Gap { first, count },
    };
    let feedback = Feedback {
        next,
        limit,
        reports: reports.iter().map(report).collect(),
        lost: gaps.iter().map(gap).collect(),
        missing: gaps
            .iter()
            .map(|&(_, first, count)| Gap { first, count })
            .collect(),
    };
    written(|out| write_feedback(out, 1, &feedback))
}

fn relay(to: &str, capability: &[u8], packet: &[u8]) -> Vec<u8> {
    let to: SocketAddr = to.parse().unwrap();
    let mut out = written(|out| write_relay(out, to, capability));
    out.extend(packet);
    out
}

fn sealed() -> Vec<u8> {
    let mut out = written(|out| write_sealed(out, 1, 7, 32));
    out.resize(out.len() + 32, 9);
    out
}

fn packets() -> Named {
    let hello = Hello {
        connection: 1,
        proof: [3; 32],
        message: &[5; 96],
    };
    let answer = Answer {
        connection: 1,
        message: &[5; 48],
    };
    let mut padded = written(|out| write_hello(out, &hello));
    padded.resize(1200, 0);
    let mut with_payload = data(0, 7, 9, true);
    with_payload.extend([1; 20]);
    vec![
        ("data", with_payload),
        (
            "feedback",
            feedback(9, 99, &[(0, 12, 1), (1, 4, 0)], &[(0, 3, 1)]),
        ),
        ("feedback-empty", feedback(0, 0, &[], &[])),
        ("relay-ipv4", relay("203.0.113.9:9447", &[7; 32], &sealed())),
        (
            "relay-ipv6",
            relay("[2001:db8::9]:9447", &[7; 33], &sealed()),
        ),
        ("sealed", sealed()),
        ("hello", padded),
        ("answer", written(|out| write_answer(out, &answer))),
        (
            "ping",
            written(|out| write_control(out, 1, Control::Ping(1452))),
        ),
        (
            "close",
            written(|out| write_control(out, 1, Control::Close(5))),
        ),
    ]
}

/// Records of [`crate::targets::ends`].
fn records(packets: &[Vec<u8>]) -> Vec<u8> {
    let record = |packet: &Vec<u8>| match packet.is_empty() {
        true => vec![205],
        false => [&[packet.len() as u8][..], packet].concat(),
    };
    packets.iter().flat_map(record).collect()
}

fn ends() -> Named {
    let wait = Vec::new();
    vec![
        (
            "in-order",
            records(&[
                data(0, 0, 0, false),
                data(0, 1, 1, false),
                wait.clone(),
                data(0, 2, 2, true),
                wait.clone(),
            ]),
        ),
        (
            "holes",
            records(&[
                data(0, 3, 5, false),
                data(1, 9, 40, false),
                wait.clone(),
                data(0, 1, 2, false),
                wait.clone(),
            ]),
        ),
        (
            "acknowledged",
            records(&[
                wait.clone(),
                feedback(5, 200, &[(0, 4, 0)], &[]),
                wait.clone(),
                feedback(9, 200, &[(0, 9, 1)], &[(0, 7, 1)]),
            ]),
        ),
        (
            "nonsense",
            records(&[
                feedback(
                    u64::MAX,
                    u64::MAX,
                    &[(0, u64::MAX, u64::MAX)],
                    &[(9, u64::MAX, u32::MAX)],
                ),
                wait.clone(),
                data(u32::MAX, u64::MAX, u64::MAX, true),
                wait,
            ]),
        ),
    ]
}

fn proxy() -> Named {
    vec![
        ("global", relay("203.0.113.9:9447", &[7; 32], &sealed())),
        ("private", relay("10.0.0.1:9447", &[7; 32], &sealed())),
        (
            "mapped",
            relay("[::ffff:203.0.113.9]:9447", &[7; 32], &sealed()),
        ),
        (
            "nested",
            relay(
                "203.0.113.9:9447",
                &[7; 32],
                &relay("203.0.113.8:1", &[], &[1]),
            ),
        ),
        ("empty", relay("203.0.113.9:9447", &[], &[])),
    ]
}

fn request(path: &str, authorization: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!(
        "POST {path} HTTP/1.1\r\ncontent-type: application/json\r\n{authorization}content-length: {length}\r\n\r\n{body}"
    )
    .into_bytes()
}

fn registry() -> Named {
    const NAME: &str = "000102030405060708090a0b0c0d0e0f";
    let authorization = format!(
        "authorization: tidegate1 1800000000 aa {}\r\n",
        "0".repeat(64)
    );
    vec![
        (
            "proxy",
            request(
                "/v1/proxies",
                &authorization,
                "{\"port\":7481,\"leaving\":false}",
            ),
        ),
        (
            "proxy-elsewhere",
            request(
                "/v1/proxies",
                "",
                "{\"port\":7481,\"address\":\"2001:db8::1\"}",
            ),
        ),
        (
            "receiver",
            request(
                "/v1/receivers",
                "",
                &format!(
                    "{{\"receiver\":\"{NAME}\",\"key\":\"{NAME}\",\"port\":9447,\"address\":\"192.0.2.1\"}}"
                ),
            ),
        ),
        (
            "relays",
            request(
                "/v1/relays",
                "",
                &format!("{{\"receiver\":\"{NAME}\",\"exclude\":[\"192.0.2.1:1\"],\"most\":3}}"),
            ),
        ),
        ("other", b"GET / HTTP/1.0\r\n\r\n".to_vec()),
    ]
}

fn tokens() -> Named {
    let token = |registry| Token {
        key: [1; 32],
        secret: [2; 32],
        id: [3; 16],
        cipher: Cipher::AesGcm,
        addresses: vec![
            "192.0.2.1:9447".parse().unwrap(),
            "[2001:db8::1]:9447".parse().unwrap(),
        ],
        registry,
    };
    let content = postcard::to_stdvec(&token(None)).unwrap();
    let registry = Some("http://registry.example:7480".to_owned());
    vec![
        ("receiver", token(registry).to_string().into_bytes()),
        ("receiver-content", content),
        ("overlay", Secret::new([1; 32]).to_string().into_bytes()),
        ("damaged", b"tgm1-AAAA".to_vec()),
    ]
}

/// Messages by the numbers of their variants, as postcard encodes them.
fn said(message: &[&[u8]]) -> Vec<u8> {
    let bytes = message.concat();
    [&(bytes.len() as u32).to_be_bytes()[..], &bytes].concat()
}

fn offer(name: &str) -> Vec<u8> {
    let hash = blake3::hash(CONTENT);
    said(&[
        &[name.len() as u8],
        name.as_bytes(),
        &[CONTENT.len() as u8],
        hash.as_bytes(),
    ])
}

fn files() -> Named {
    let whole = [&[0][..], &offer("new"), CONTENT].concat();
    let over = [&[1][..], &offer("there"), CONTENT].concat();
    let (have, received) = (said(&[&[0, 0]]), said(&[&[1]]));
    vec![
        ("receive", whole),
        ("receive-there", [&[0][..], &offer("there")].concat()),
        ("receive-over", over),
        (
            "receive-outside",
            [&[0][..], &offer("../outside"), CONTENT].concat(),
        ),
        ("send", [&[2][..], &have, &received].concat()),
        ("send-there", [&[2][..], &received].concat()),
        (
            "send-failed",
            [&[2][..], &said(&[&[2, 3], b"why"])].concat(),
        ),
    ]
}
