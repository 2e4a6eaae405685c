//! Traffic without a window between two kernels: its kind is recognised, its packets are counted as on the wire and
//! pass unchanged.

use crate::lifecycle::steering;
use crate::tally;
use crate::testbed::{on_testbed, start, wait_for};
use nix::sys::socket::{setsockopt, sockopt};
use quinn::{Connection, Endpoint};
use std::net::{Ipv4Addr, UdpSocket};
use std::os::fd::AsFd;
use std::time::Duration;
use tidegate_agent::{Agent, Carried, Direction, Ecn, Hook, Kind, Marks, Origin, WindowlessView};
use tidegate_lab::quic_ends::{NAME, endpoint, identity};
use tidegate_lab::{IpVersion, Veth};

/// Bytes of a download.
const FILE: usize = 5_000_000;

/// A connection, its two ends, and a download over it that has ended.
struct Download {
    ends: [Connection; 2],
    _endpoints: [Endpoint; 2],
}

impl Download {
    /// From the server's port 443.
    async fn over(hosts: &Veth) -> Self {
        let (server, trusting) = identity().unwrap();
        let at = (Veth::server_address(IpVersion::V4), 443).into();
        let server = endpoint(&hosts.server, at, Some(server)).unwrap();
        let any = (Ipv4Addr::UNSPECIFIED, 0).into();
        let client = endpoint(&hosts.client, any, None).unwrap();
        let connecting = client.connect_with(trusting, at, NAME);
        let accepting = async { server.accept().await.unwrap().await.unwrap() };
        let (near, far) = tokio::join!(connecting.unwrap(), accepting);
        let near = near.unwrap();
        let mut sending = far.open_uni().await.unwrap();
        let send = async {
            sending.write_all(&[7; FILE]).await.unwrap();
            sending.finish().unwrap();
        };
        let receive = async {
            let mut stream = near.accept_uni().await.unwrap();
            stream.read_to_end(FILE).await.unwrap()
        };
        let ((), file) = tokio::join!(send, receive);
        assert!(file == [7; FILE], "damaged");
        tally::file();
        Self {
            ends: [near, far],
            _endpoints: [client, server],
        }
    }
}

fn run<T>(act: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = { runtime }.enable_all().build().unwrap();
    runtime.block_on(act)
}

/// The `direction` of the only flow of that kind.
fn way(agent: &Agent, kind: Kind, direction: Direction) -> WindowlessView {
    let ways = agent.windowless().into_iter();
    let ways: Vec<_> = ways
        .filter(|w| (w.kind, w.direction) == (kind, direction))
        .collect();
    let [way] = &ways[..] else {
        panic!("{ways:?}");
    };
    way.clone()
}

/// All that the link has carried of a kind.
fn carried(agent: &Agent, kind: Kind, direction: Direction) -> Vec<Carried> {
    let paths = agent.paths(&[], 0).into_iter();
    let of = paths.filter(|p| p.direction == direction);
    of.flat_map(|p| p.traffic)
        .filter(|c| c.kind == kind)
        .collect()
}

/// Each datagram that either end has sent is counted, however the kernels cut and merge them; the link's sums are those
/// of its only flow.
#[test]
fn quic_is_known_by_its_handshake_and_counted_datagram_by_datagram() {
    on_testbed(|hosts| {
        for hook in [Hook::Tcx, Hook::Clsact] {
            let agent = start(steering(), hook);
            run(async {
                let download = Download::over(hosts).await;
                // Until everything is acknowledged.
                tokio::time::sleep(Duration::from_millis(200)).await;
                let [near, far] = download.ends.each_ref().map(Connection::stats);
                for (direction, sent) in [(Direction::Down, far), (Direction::Up, near)] {
                    let way = way(&agent, Kind::Quic, direction);
                    assert_eq!(way.packets.sum(), sent.udp_tx.datagrams, "{way:?}");
                    assert_eq!(way.bytes, sent.udp_tx.bytes, "{way:?}");
                    assert_eq!((way.remote.port, way.origin), (443, Origin::Own));
                    // Quinn asks for marks.
                    assert_eq!(way.packets.ect_0, sent.udp_tx.datagrams, "{way:?}");
                    let carried = carried(&agent, Kind::Quic, direction);
                    let [only] = &carried[..] else {
                        panic!("{carried:?}");
                    };
                    assert_eq!((only.ecn, only.packets), (Ecn::Ect0, sent.udp_tx.datagrams));
                    assert!(only.bytes > way.bytes);
                }
            });
        }
    });
}

/// An agent that starts later has not seen the handshake; on port 443 QUIC is likely.
#[test]
fn quic_in_mid_stream_is_likely() {
    on_testbed(|hosts| {
        run(async {
            let download = Download::over(hosts).await;
            let agent = start(steering(), Hook::Tcx);
            let [near, far] = &download.ends;
            let mut sending = far.open_uni().await.unwrap();
            sending.write_all(&[7; 100_000]).await.unwrap();
            sending.finish().unwrap();
            let mut stream = near.accept_uni().await.unwrap();
            let received = stream.read_to_end(FILE).await.unwrap();
            assert_eq!(received.len(), 100_000);
            let way = way(&agent, Kind::MaybeQuic, Direction::Down);
            assert!(way.bytes > 100_000, "{way:?}");
            assert!(carried(&agent, Kind::Quic, Direction::Down).is_empty());
        });
    });
}

/// Marks that a sender has set by itself, and messages like WireGuard's.
#[test]
fn codepoints_and_tunnels_are_told_apart() {
    on_testbed(|hosts| {
        let agent = start(steering(), Hook::Tcx);
        let server = Veth::server_address(IpVersion::V4);
        let far = hosts.server.run(|| Ok(UdpSocket::bind((server, 51_820))?));
        let far = far.unwrap();
        let near = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).unwrap();
        near.connect(far.local_addr().unwrap()).unwrap();
        let mut begins = [0; 148];
        begins[0] = 1;
        near.send(&begins).unwrap();
        let (_, from) = far.recv_from(&mut [0; 200]).unwrap();
        far.connect(from).unwrap();
        let mut data = [0x5a; 1424];
        data[..16].copy_from_slice(&[4, 0, 0, 0, 9, 8, 7, 6, 1, 0, 0, 0, 0, 0, 0, 0]);
        for (tos, datagrams) in [(0, 10), (1, 20), (2, 30), (3, 40)] {
            setsockopt(&far.as_fd(), sockopt::Ipv4Tos, &tos).unwrap();
            for _ in 0..datagrams {
                far.send(&data).unwrap();
                assert_eq!(near.recv(&mut [0; 2000]).unwrap(), data.len());
            }
        }
        let expected = Marks {
            not_ect: 10,
            ect_1: 20,
            ect_0: 30,
            ce: 40,
        };
        wait_for("all of them", || {
            way(&agent, Kind::Wireguard, Direction::Down).packets == expected
        });
        let way = way(&agent, Kind::Wireguard, Direction::Down);
        assert_eq!(way.bytes, 100 * data.len() as u64);
        let carried = carried(&agent, Kind::Wireguard, Direction::Down);
        let packets: Vec<_> = carried.iter().map(|c| (c.ecn, c.packets)).collect();
        let expected = [
            (Ecn::NotEct, 10),
            (Ecn::Ect1, 20),
            (Ecn::Ect0, 30),
            (Ecn::Ce, 40),
        ];
        assert_eq!(packets, expected);
    });
}
