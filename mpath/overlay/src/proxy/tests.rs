use super::outgoing::Outgoing;
use super::{Filter, Pass, Refusal};
use crate::{Instant, Limits, Now, Rate, Secret};
use proptest::collection::vec;
use proptest::prelude::*;
use std::net::{IpAddr, SocketAddr};
use tidegate_mpath::wire::write_relay;

const UNIX_S: u32 = 1_800_000_000;
const END_S: u32 = UNIX_S + 600;

fn now(ms: u64) -> Now {
    Now {
        unix_s: u64::from(UNIX_S) + ms / 1000,
        instant: Instant::from_millis(ms),
    }
}

fn secret() -> Secret {
    Secret::new([1; 32])
}

fn address(text: &str) -> SocketAddr {
    text.parse().unwrap()
}

fn proxy() -> SocketAddr {
    address("198.51.100.1:7481")
}

fn source() -> IpAddr {
    [192, 0, 2, 1].into()
}

/// A proxy with an address of each family.
fn gate(limits: Limits) -> Filter {
    let mut gate = Filter::new(secret(), limits, false, now(0));
    gate.set_listed(&[proxy(), address("[2606:4700::1]:7481")]);
    gate
}

/// A packet with a genuine capability for this destination.
fn enveloped(to: SocketAddr, packet: &[u8]) -> Vec<u8> {
    let capability = secret().proxy_key(proxy()).issue(source(), to, END_S);
    with_capability(to, &capability, packet)
}

fn with_capability(to: SocketAddr, capability: &[u8], packet: &[u8]) -> Vec<u8> {
    let mut datagram = Vec::new();
    write_relay(&mut datagram, to, capability);
    datagram.extend(packet);
    datagram
}

fn refusal(datagram: &[u8]) -> Option<Refusal> {
    gate(Limits::default())
        .pass(datagram, source(), now(0))
        .err()
}

const TO: &str = "203.0.113.9:4433";

#[test]
fn a_packet_with_a_good_capability_leaves_its_envelope_and_goes_on() {
    let (to, packet) = (address(TO), b"ciphertext");
    let datagram = enveloped(to, packet);
    let mut gate = gate(Limits::default());
    let pass = gate.pass(&datagram, source(), now(0));
    let destination = to;
    assert_eq!(
        pass,
        Ok(Pass {
            destination,
            packet
        })
    );
    // As a socket for both families shows it.
    let mapped = "::ffff:192.0.2.1".parse().unwrap();
    assert!(gate.pass(&datagram, mapped, now(0)).is_ok());
}

#[test]
fn each_family_has_its_own_capabilities() {
    let (six, to) = (address("[2606:4700::1]:7481"), address("[2a00::9]:4433"));
    let from = "2a00::1".parse().unwrap();
    let capability = secret().proxy_key(six).issue(from, to, END_S);
    let datagram = with_capability(to, &capability, b"packet");
    assert!(
        gate(Limits::default())
            .pass(&datagram, from, now(0))
            .is_ok()
    );
    let mut only_four = gate(Limits::default());
    only_four.set_listed(&[proxy()]);
    let refused = only_four.pass(&datagram, from, now(0));
    assert_eq!(refused, Err(Refusal::NotListed));
}

#[test]
fn every_refusal_has_its_reason() {
    let to = address(TO);
    let good = enveloped(to, b"packet");
    let changed = |place: usize, value: u8| {
        let mut datagram = good.clone();
        datagram[place] = value;
        refusal(&datagram)
    };
    assert_eq!(refusal(&good), None);
    // The port of the destination, its address, the capability's end, its MAC.
    for place in [5, 11, 31, 40] {
        assert_eq!(changed(place, 0xa5), Some(Refusal::Capability), "{place}");
    }
    assert_eq!(changed(0, 0x23), Some(Refusal::Version));
    assert_eq!(changed(24, 2), Some(Refusal::Version));
    assert_eq!(changed(0, 0x11), Some(Refusal::Malformed));
    assert_eq!(changed(6, 5), Some(Refusal::Malformed));
    for length in 0..=good.len() - b"packet".len() {
        assert_eq!(
            refusal(&good[..length]),
            Some(Refusal::Malformed),
            "{length}"
        );
    }
    let long = enveloped(to, &[0; 10_000]);
    assert_eq!(refusal(&long), Some(Refusal::Oversized));
    let nested = enveloped(to, &good);
    assert_eq!(refusal(&nested), Some(Refusal::Nested));
    let short = with_capability(to, &[1; 31], b"packet");
    assert_eq!(refusal(&short), Some(Refusal::Version));
    let none = with_capability(to, &[], b"packet");
    assert_eq!(refusal(&none), Some(Refusal::Version));

    let mut gate = gate(Limits::default());
    let elsewhere = [192, 0, 2, 2].into();
    let refused = gate.pass(&good, elsewhere, now(0));
    assert_eq!(refused, Err(Refusal::Capability));
    let refused = gate.pass(&good, source(), now(700_000));
    assert_eq!(refused, Err(Refusal::Expired));
    gate.set_listed(&[address("198.51.100.1:7482")]);
    let refused = gate.pass(&good, source(), now(0));
    assert_eq!(refused, Err(Refusal::Capability));
    gate.set_listed(&[]);
    let refused = gate.pass(&good, source(), now(0));
    assert_eq!(refused, Err(Refusal::NotListed));
}

/// The registry may issue a capability for a machine of its own network.
#[test]
fn no_capability_is_good_enough_for_some_destinations() {
    for to in [
        "127.0.0.1:53",
        "10.0.0.1:53",
        "169.254.169.254:80",
        "255.255.255.255:9",
        "224.0.0.1:9",
        "0.0.0.0:9",
        "203.0.113.9:0",
        // Itself, in both families.
        "198.51.100.1:7481",
        "[2606:4700::1]:7481",
        "[::ffff:10.0.0.1]:53",
        "[::1]:53",
        "[fe80::1]:53",
    ] {
        let refused = refusal(&enveloped(address(to), b"packet"));
        assert_eq!(refused, Some(Refusal::Destination), "{to}");
    }
}

#[test]
fn a_proxy_in_a_private_network_serves_that_network() {
    let here = address("10.0.0.1:7481");
    let passes = |allow_private, to| {
        let mut gate = Filter::new(secret(), Limits::default(), allow_private, now(0));
        gate.set_listed(&[here]);
        let to = address(to);
        let capability = secret().proxy_key(here).issue(source(), to, END_S);
        let datagram = with_capability(to, &capability, b"packet");
        gate.pass(&datagram, source(), now(0)).is_ok()
    };
    assert!(passes(false, "10.0.0.2:9"));
    assert!(passes(false, TO));
    assert!(!passes(false, "127.0.0.1:9"));
    assert!(passes(true, "127.0.0.1:9"));
    assert!(!passes(true, "255.255.255.255:9"));
    assert!(!passes(true, "10.0.0.1:7481"));
}

#[test]
fn rates_hold_for_each_source_and_for_all() {
    let rate = |per_second| Rate {
        per_second,
        burst: 3000.0,
    };
    let limits = Limits {
        overall: Some(rate(300_000.0)),
        source: Some(rate(100_000.0)),
    };
    let mut gate = gate(limits);
    let key = secret().proxy_key(proxy());
    let to = address(TO);
    let mut forwarded = [0; 5];
    let (mut by_source, mut by_all) = (0, 0);
    for ms in 0..1000 {
        for (last, count) in forwarded.iter_mut().enumerate() {
            let from = IpAddr::from([192, 0, 2, last as u8]);
            let capability = key.issue(from, to, END_S);
            let datagram = with_capability(to, &capability, &[0; 500]);
            match gate.pass(&datagram, from, now(ms)) {
                Ok(pass) => *count += pass.packet.len(),
                Err(Refusal::SourceRate) => by_source += 1,
                Err(Refusal::Rate) => by_all += 1,
                Err(why) => panic!("{why}"),
            }
        }
    }
    assert!(
        forwarded.iter().all(|&bytes| bytes <= 103_000),
        "{forwarded:?}"
    );
    let all: usize = forwarded.iter().sum();
    assert!((290_000..=303_000).contains(&all), "{all}");
    assert!(by_source > 0 && by_all > 0);
}

/// Any bytes, bytes that begin like envelopes, and genuine envelopes with a change.
fn datagrams() -> impl Strategy<Value = Vec<u8>> {
    let anything = vec(any::<u8>(), 0..200);
    let like = (vec(any::<u8>(), 0..300), 0..80_u8).prop_map(|(mut bytes, words)| {
        bytes.splice(0..0, [0x13, words, 0, 0, 1, 1, 4, 32]);
        bytes
    });
    let changed = (
        vec(any::<u8>(), 0..2000),
        any::<prop::sample::Index>(),
        any::<Option<u8>>(),
    );
    let changed = changed.prop_map(|(packet, place, value)| {
        let mut datagram = enveloped(address(TO), &packet);
        if let Some(value) = value {
            let place = place.index(datagram.len());
            datagram[place] = value;
        }
        datagram
    });
    prop_oneof![anything, like, changed]
}

proptest! {
    /// Whatever arrives: only packets with an issued capability pass, and less goes out than came in.
    #[test]
    fn no_datagram_is_amplified(datagrams in vec(datagrams(), 0..50), most in 1..70_usize) {
        let mut gate = gate(Limits::default());
        let mut outgoing = Outgoing::default();
        let (mut came, mut bytes) = (0, 0);
        let (mut passed, mut left) = (Vec::<u8>::new(), Vec::<u8>::new());
        for datagram in &datagrams {
            let pass = gate.pass(datagram, source(), now(0));
            let Ok(pass) = pass else { continue };
            prop_assert_eq!(pass.destination, address(TO));
            prop_assert!(pass.packet.len() < datagram.len());
            came += datagram.len();
            passed.extend(pass.packet);
            outgoing.push(pass.destination, pass.packet, most, |train| {
                left.extend(&train.bytes);
                bytes += train.bytes.len();
            });
        }
        outgoing.flush(|train| {
            left.extend(&train.bytes);
            bytes += train.bytes.len();
        });
        prop_assert!(bytes == 0 || bytes < came);
        prop_assert_eq!(left, passed);
    }

    /// Trains come apart into the packets that were put in, for each destination in order.
    #[test]
    fn packets_keep_their_borders_and_their_order(
        packets in vec((1..30_u16, prop_oneof![Just(1200), 1..1300_usize]), 0..400),
        most in 1..70_usize,
    ) {
        let mut outgoing = Outgoing::default();
        let mut left: Vec<(u16, usize, u8)> = Vec::new();
        let mut leave = |train: &super::outgoing::Train| {
            assert!(train.packets() <= most.min(64) && train.bytes.len() <= 65_487);
            for packet in train.bytes.chunks(train.segment) {
                assert!(packet.iter().all(|byte| *byte == packet[0]));
                left.push((train.destination.port(), packet.len(), packet[0]));
            }
        };
        let mut went = Vec::new();
        for (number, &(port, bytes)) in packets.iter().enumerate() {
            let packet = vec![number as u8; bytes];
            went.push((port, bytes, number as u8));
            outgoing.push(([192, 0, 2, 1], port).into(), &packet, most, &mut leave);
        }
        outgoing.flush(&mut leave);
        for port in 1..30 {
            let of = |all: &[(u16, usize, u8)]| {
                all.iter().copied().filter(|p| p.0 == port).collect::<Vec<_>>()
            };
            prop_assert_eq!(of(&left), of(&went));
        }
    }
}
