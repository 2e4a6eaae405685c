//! A proxy over real sockets: listed, forwarding, and refusing.

mod common;

use common::{announced, registry, serve, serve_at, unix_s, until};
use nix::sys::socket::{setsockopt, sockopt};
use std::net::{SocketAddr, UdpSocket};
use std::time::{Duration, Instant};
use tidegate_mpath::wire::write_relay;
use tidegate_overlay::proxy::{Options, Proxy, Refusal};
use tidegate_overlay::registry::{Config, Memory, Server};
use tidegate_overlay::{Limits, Listing, ReceiverId, Secret};

const RECEIVER: ReceiverId = ReceiverId([7; 16]);
const SOON: Duration = Duration::from_secs(10);

fn secret() -> Secret {
    Secret::new([1; 32])
}

/// A proxy, a receiver, and the registry by which they found each other.
struct Overlay {
    proxy: Proxy,
    receiver: UdpSocket,
    sender: UdpSocket,
    _announcement: Listing,
    server: Server,
}

impl Overlay {
    fn new(host: &str, listen: &str, limits: Limits) -> Self {
        let at = |port| format!("{host}:{port}");
        let server = serve_at(
            at(0).parse().unwrap(),
            secret(),
            Memory::default(),
            Config::default(),
        );
        let options = Options {
            listen: listen.parse().unwrap(),
            public: Vec::new(),
            limits,
            allow_private: true,
        };
        let proxy = Proxy::start(&registry(&server), secret(), &options).unwrap();
        let public = proxy.enrolment().wait(SOON).unwrap();
        let port = proxy.address().unwrap().port();
        assert_eq!(public, [at(port).parse().unwrap()]);
        let receiver = UdpSocket::bind(at(0)).unwrap();
        receiver
            .set_read_timeout(Some(Duration::from_millis(200)))
            .unwrap();
        let listening = receiver.local_addr().unwrap();
        Self {
            _announcement: announced(&registry(&server), RECEIVER, listening),
            sender: UdpSocket::bind(at(0)).unwrap(),
            proxy,
            receiver,
            server,
        }
    }

    /// The envelope that the registry lets a sender write.
    fn envelope(&self) -> (SocketAddr, Vec<u8>) {
        let grant = registry(&self.server).relays(RECEIVER, &[]).unwrap();
        let relay = &grant.relays[0];
        let mut envelope = Vec::new();
        write_relay(&mut envelope, grant.destination, &relay.capability);
        (relay.address, envelope)
    }

    /// Runs the proxy until `packets` packets have come.
    fn forward(&mut self, packets: u64) {
        let began = Instant::now();
        while self.proxy.counts().received.packets < packets {
            assert!(began.elapsed() < SOON, "{:?}", self.proxy.counts());
            self.proxy.turn(Duration::from_millis(100));
        }
    }

    /// The packets that the receiver has by now.
    fn received(&self) -> Vec<Vec<u8>> {
        let mut packets = Vec::new();
        let mut buffer = [0; 65_535];
        while let Ok((count, from)) = self.receiver.recv_from(&mut buffer) {
            assert_eq!(from.port(), self.proxy.address().unwrap().port());
            packets.push(buffer[..count].to_vec());
        }
        packets
    }
}

fn forwards(host: &str, listen: &str) {
    let mut overlay = Overlay::new(host, listen, Limits::default());
    let (proxy, envelope) = overlay.envelope();
    // Equal ones, which travel together, and others between them.
    let packets: Vec<Vec<u8>> = (0..100_u8)
        .map(|i| {
            vec![
                i;
                if i % 7 == 0 {
                    500 + usize::from(i)
                } else {
                    1200
                }
            ]
        })
        .collect();
    for some in packets.chunks(10) {
        for packet in some {
            let datagram = [&envelope[..], packet].concat();
            overlay.sender.send_to(&datagram, proxy).unwrap();
        }
        let come = overlay.proxy.counts().received.packets;
        overlay.forward(come + some.len() as u64);
        assert_eq!(overlay.received(), some);
    }
    let counts = overlay.proxy.counts();
    assert_eq!(
        (counts.received.packets, counts.forwarded.packets),
        (100, 100)
    );
    let envelopes = 100 * envelope.len() as u64;
    assert_eq!(counts.received.bytes, counts.forwarded.bytes + envelopes);
}

#[test]
fn packets_leave_their_envelopes_and_arrive_by_ipv4() {
    forwards("127.0.0.1", "127.0.0.1:0");
}

#[test]
fn packets_leave_their_envelopes_and_arrive_by_ipv6() {
    forwards("[::1]", "[::1]:0");
}

#[test]
fn a_socket_for_both_families_forwards_either() {
    forwards("127.0.0.1", "[::]:0");
    forwards("[::1]", "[::]:0");
}

#[test]
fn everything_else_is_refused_and_counted_under_its_name() {
    let rate = tidegate_overlay::Rate {
        per_second: 1.0,
        burst: 1000.0,
    };
    let limits = Limits {
        overall: None,
        source: Some(rate),
    };
    let mut overlay = Overlay::new("127.0.0.1", "127.0.0.1:0", limits);
    let (proxy, envelope) = overlay.envelope();
    let destination = overlay.receiver.local_addr().unwrap();
    let with = |to, source: &str, end_s: u64| {
        let key = secret().proxy_key(proxy);
        let capability = key.issue(source.parse().unwrap(), to, end_s as u32);
        let mut datagram = Vec::new();
        write_relay(&mut datagram, to, &capability);
        datagram.extend(b"packet");
        datagram
    };
    let good = [&envelope[..], b"packet"].concat();
    let mut forged = good.clone();
    forged[50] ^= 1;
    let mut replaced = good.clone();
    replaced[4] ^= 1;
    let later = unix_s() + 600;
    let cases: [(Vec<u8>, Refusal); 12] = [
        (forged, Refusal::Capability),
        (replaced, Refusal::Capability),
        (with(destination, "127.0.0.2", later), Refusal::Capability),
        (
            with(destination, "127.0.0.1", later - 3600),
            Refusal::Expired,
        ),
        (with(proxy, "127.0.0.1", later), Refusal::Destination),
        (
            with("255.255.255.255:9".parse().unwrap(), "127.0.0.1", later),
            Refusal::Destination,
        ),
        (good[..40].to_vec(), Refusal::Malformed),
        (Vec::new(), Refusal::Malformed),
        ([&[0x23], &good[1..]].concat(), Refusal::Version),
        ([&envelope[..], &good].concat(), Refusal::Nested),
        ([&envelope[..], &[0; 20_000]].concat(), Refusal::Oversized),
        ([&envelope[..], &[0; 2000]].concat(), Refusal::SourceRate),
    ];
    for (datagram, why) in &cases {
        overlay.sender.send_to(datagram, proxy).unwrap();
        let counts = overlay.proxy.counts();
        let (come, refused) = (counts.received.packets, counts.refused(*why));
        overlay.forward(come + 1);
        let counts = overlay.proxy.counts();
        assert_eq!(counts.refused(*why), refused + 1, "{why}: {counts:?}");
        let all: u64 = counts.refusals().map(|(_, packets)| packets).sum();
        assert_eq!(all, come + 1, "{why}");
    }
    assert_eq!(overlay.received(), <[Vec<u8>; 0]>::default());
    // Nothing is answered.
    overlay.sender.set_nonblocking(true).unwrap();
    assert!(overlay.sender.recv(&mut [0; 10]).is_err());
    // And a valid packet still passes.
    overlay.sender.send_to(&good, proxy).unwrap();
    overlay.forward(cases.len() as u64 + 1);
    assert_eq!(overlay.received(), [b"packet"]);
}

#[test]
fn a_proxy_works_on_while_the_registry_is_away() {
    let mut overlay = Overlay::new("127.0.0.1", "127.0.0.1:0", Limits::default());
    let (proxy, envelope) = overlay.envelope();
    overlay.server = serve(secret(), Memory::default(), Config::default());
    overlay
        .sender
        .send_to(&[&envelope[..], b"packet"].concat(), proxy)
        .unwrap();
    overlay.forward(1);
    assert_eq!(overlay.received(), [b"packet"]);
}

#[test]
fn what_cannot_be_sent_is_counted() {
    // Nothing goes from the machine's own address to another network.
    let mut overlay = Overlay::new("127.0.0.1", "127.0.0.1:0", Limits::default());
    let (proxy, envelope) = overlay.envelope();
    let to = "203.0.113.9:9".parse().unwrap();
    let key = secret().proxy_key(proxy);
    let from = "127.0.0.1".parse().unwrap();
    let capability = key.issue(from, to, unix_s() as u32 + 600);
    let mut datagram = Vec::new();
    write_relay(&mut datagram, to, &capability);
    datagram.extend([0; 100]);
    for _ in 0..3 {
        overlay.sender.send_to(&datagram, proxy).unwrap();
    }
    overlay.forward(3);
    assert_eq!(overlay.proxy.counts().refused(Refusal::Send), 3);
    assert_eq!(overlay.proxy.counts().forwarded.packets, 0);

    // The packets of others travel in trains again soon.
    setsockopt(&overlay.receiver, sockopt::UdpGroSegment, &true).unwrap();
    let good = [&envelope[..], &[0; 1000]].concat();
    until("packets come joined", || {
        for _ in 0..5 {
            overlay.sender.send_to(&good, proxy).unwrap();
        }
        let come = overlay.proxy.counts().received.packets;
        overlay.forward(come + 5);
        let received = overlay.received();
        assert_eq!(received.concat().len(), 5000);
        received.len() == 1
    });
}
