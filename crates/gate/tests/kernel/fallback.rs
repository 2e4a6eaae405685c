//! QUIC's Initials are rejected at once, and nothing else is.

use crate::hosts::{Path, assert_all_in_order, hosts};
use crate::laws::{Law, start};
use crate::router::{Router, sh};
use std::io::ErrorKind;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::thread;
use std::time::{Duration, Instant};
use tidegate_gate::{Choice, Fallback, Limits};
use tidegate_lab::{IpVersion, Namespace, Veth};
use tidegate_testing::has_program;

const QUIC: u16 = 443;

fn choice(rejects: bool) -> Choice {
    Choice {
        interface: None,
        remote_ports: QUIC..=QUIC,
        remote: None,
        rejects,
    }
}

/// A datagram with a long header of that first byte and version.
fn long(first: u8, version: u32) -> Vec<u8> {
    let mut datagram = vec![0; 1200];
    datagram[0] = first;
    datagram[1..5].copy_from_slice(&version.to_be_bytes());
    datagram
}

/// What becomes of a datagram to a port of the server.
#[derive(Debug, PartialEq, Eq)]
enum Fate {
    Arrives,
    /// It does not arrive, and its sender gets an error.
    Rejected,
}

/// How long that may take at most on a busy machine; on an idle one it is known within a millisecond.
const MOST: Duration = Duration::from_secs(5);

fn fate(from: &Namespace, to: &Namespace, at: SocketAddr, datagram: &[u8]) -> Fate {
    let bound = |namespace: &Namespace, at: SocketAddr| {
        let socket = namespace.run(|| Ok(UdpSocket::bind(at)?)).unwrap();
        socket.set_nonblocking(true).unwrap();
        socket
    };
    let server = bound(to, at);
    let any = match at.ip() {
        IpAddr::V4(_) => IpAddr::V4(Ipv4Addr::UNSPECIFIED),
        IpAddr::V6(_) => IpAddr::V6(Ipv6Addr::UNSPECIFIED),
    };
    let client = bound(from, (any, 0).into());
    client.connect(at).unwrap();
    let began = Instant::now();
    // The kernel refuses this machine's own packets at once.
    let sent = client.send(datagram);
    let mut buffer = [0; 2048];
    while began.elapsed() < MOST {
        if let Ok(length) = server.recv(&mut buffer) {
            sent.unwrap();
            assert_eq!(length, datagram.len());
            return Fate::Arrives;
        }
        match client.recv(&mut buffer).unwrap_err().kind() {
            ErrorKind::WouldBlock => thread::sleep(Duration::from_millis(1)),
            told => {
                assert_eq!(told, ErrorKind::ConnectionRefused);
                return Fate::Rejected;
            }
        }
    }
    panic!("neither has {datagram:x?} arrived, nor was its sender told");
}

#[test]
fn initials_are_rejected_and_nothing_else() {
    if !has_program("ip", "iproute2") {
        return;
    }
    let Some(hosts) = hosts() else { return };
    // The ICMP errors for a machine's own packets come through the loopback device.
    assert!(sh(&hosts.client, "ip link set lo up"));
    let make = |choices: &[Choice]| hosts.client.run(|| Ok(Fallback::new(choices)?)).unwrap();
    for version in IpVersion::ALL {
        let server = Veth::server_address(version);
        let fate = |port, datagram: &[u8]| {
            let at = SocketAddr::new(server, port);
            fate(&hosts.client, &hosts.server, at, datagram)
        };
        let initial = long(0xc3, 1);
        let fallback = make(&[choice(true)]);
        let initials = [
            initial.clone(),
            long(0x83, 1), // without the fixed bit
            long(0xc0, 0xff00_001d),
            long(0xc0, 0xface_b002),
            long(0xd1, 0x6b33_43cf),
        ];
        for datagram in &initials {
            assert_eq!(
                fate(QUIC, datagram),
                Fate::Rejected,
                "{:x?}",
                &datagram[..5]
            );
        }
        let others = [
            long(0x43, 1),           // a short header, as in a connection that stands
            long(0xd0, 1),           // 0-RTT
            long(0xe0, 1),           // Handshake
            long(0xf0, 1),           // Retry
            long(0xe0, 0x6b33_43cf), // 0-RTT of version 2
            long(0xc0, 0x6b33_43cf), // Retry of version 2
            long(0xc0, 0),           // a list of versions
            long(0xc0, 0x1234_5678), // not a version of QUIC
            initial[..1199].to_vec(),
            b"\xc3".to_vec(),
            Vec::new(),
        ];
        for datagram in &others {
            let head = &datagram[..datagram.len().min(5)];
            assert_eq!(fate(QUIC, datagram), Fate::Arrives, "{head:x?}");
        }
        assert_eq!(fate(8443, &initial), Fate::Arrives);
        drop(fallback);
        assert_eq!(fate(QUIC, &initial), Fate::Arrives);

        let bits = if server.is_ipv4() { 30 } else { 126 };
        let mut exception = choice(false);
        exception.remote = Some((server, bits));
        let mut fallback = make(&[exception.clone(), choice(true)]);
        assert_eq!(fate(QUIC, &initial), Fate::Arrives);
        exception.rejects = true;
        fallback.set(&[exception]).unwrap();
        assert_eq!(fate(QUIC, &initial), Fate::Rejected);
        let elsewhere = Choice {
            interface: Some(0x7fff),
            ..choice(true)
        };
        fallback.set(&[elsewhere]).unwrap();
        assert_eq!(fate(QUIC, &initial), Fate::Arrives);
        fallback.set(&[choice(true)]).unwrap();
        assert_eq!(fate(QUIC, &initial), Fate::Rejected);
        fallback.set(&[]).unwrap();
        assert_eq!(fate(QUIC, &initial), Fate::Arrives);
    }
}

/// If a chain were removed for it, the kernel would drop all waiting packets.
#[test]
fn choices_change_while_packets_wait() {
    const PACKETS: u32 = 200;
    let Some(hosts) = hosts() else { return };
    let path = Path::new(&hosts, IpVersion::V4);
    let wait = Law::Wait(Duration::from_millis(200).as_micros() as u64);
    let (mut gate, mut fallback) = hosts
        .client
        .run(|| {
            let gate = start(wait, Limits::default())?;
            Ok((gate, Fallback::new(&[choice(true)])?))
        })
        .unwrap();
    gate.hold(&[path.flow]).unwrap();
    let receiver = path.receive(Duration::from_millis(800));
    path.send(0..PACKETS);
    for choices in [&[choice(false)][..], &[], &[choice(true)]] {
        fallback.set(choices).unwrap();
    }
    assert_all_in_order(&receiver.join().unwrap(), PACKETS);
    assert_eq!(gate.counts().unwrap().waited, u64::from(PACKETS));
    let own = gate.each().unwrap();
    assert_eq!((own.len(), own[0].0), (1, path.flow));
    assert_eq!((own[0].1.waited, own[0].1.waiting), (u64::from(PACKETS), 0));
}

#[test]
fn so_are_those_that_a_router_forwards() {
    let Some(hosts) = Router::new() else { return };
    let Path { flow, .. } = hosts.path();
    let at = SocketAddr::new(flow.remote.ip(), QUIC);
    let only = Choice {
        interface: Some(hosts.wan()),
        ..choice(true)
    };
    let make = || Ok(Fallback::new(&[only])?);
    let _fallback = hosts.router.run(make).unwrap();
    let fate = |datagram: &[u8]| fate(&hosts.inside, &hosts.far, at, datagram);
    assert_eq!(fate(&long(0xc3, 1)), Fate::Rejected);
    assert_eq!(fate(&long(0x43, 1)), Fate::Arrives);
}
