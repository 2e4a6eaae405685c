//! Uploads of a machine behind a router, steered on the router's way out. The hosts are made with ip(8) and tc(8).

use crate::downloads::{check_counts, flow_of};
use crate::features;
use crate::lifecycle::steering;
use crate::testbed::{check_hosts, count, start, turn, wait_for};
use crate::transfer::{Connection, FILE};
use crate::uploads::UPLINK;
use std::net::{IpAddr, Ipv4Addr, UdpSocket};
use std::os::fd::{AsFd, AsRawFd};
use std::process::Command;
use tidegate_agent::{Agent, Direction, Hook, Origin, Reason};
use tidegate_lab::{Masquerade, Namespace, Veth};
use tidegate_laws::Params;
use tidegate_testing::skipped;

const INSIDE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(198, 18, 1, 1));
const FAR: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(198, 18, 2, 1));

/// A machine, its router, and the rest of the world behind a slow uplink.
struct Hosts {
    inside: Namespace,
    router: Namespace,
    far: Namespace,
}

impl Hosts {
    /// None where the tools are missing, or too old.
    fn new() -> Option<Self> {
        let hosts = Self {
            inside: Namespace::new().unwrap(),
            router: Namespace::new().unwrap(),
            far: Namespace::new().unwrap(),
        };
        let wan = Veth::INTERFACE;
        let joined = sh(&hosts.router, &hosts.link("lan", &hosts.inside, 1))
            && sh(&hosts.router, &hosts.link(wan, &hosts.far, 2))
            && sh(&hosts.inside, &end(1))
            && sh(&hosts.far, &end(2))
            && sh(
                &hosts.router,
                &format!("tc qdisc add dev {wan} root {UPLINK}"),
            )
            && sh(&hosts.router, "echo 1 > /proc/sys/net/ipv4/ip_forward");
        if !joined {
            skipped("no router without ip and tc");
        }
        joined.then_some(hosts)
    }

    /// A device of the router's, joined to "up0" of that host.
    fn link(&self, name: &str, to: &Namespace, net: u8) -> String {
        let pid = std::process::id();
        let fd = to.as_fd().as_raw_fd();
        format!(
            "ip link add {name} type veth peer name up0 netns /proc/{pid}/fd/{fd} && \
             ip address add 198.18.{net}.254/24 dev {name} && ip link set {name} up"
        )
    }

    /// An agent on the router's way out.
    fn agent(&self) -> Agent {
        let start = || Ok(start(Params::default(), Hook::Tcx));
        self.router.run(start).unwrap()
    }
}

fn end(net: u8) -> String {
    format!(
        "ip address add 198.18.{net}.1/24 dev up0 && ip link set up0 up && \
         ip route add default via 198.18.{net}.254"
    )
}

fn sh(host: &Namespace, script: &str) -> bool {
    let run = || Ok(Command::new("sh").args(["-c", script]).status()?.success());
    host.run(run).unwrap()
}

fn behind_a_router(act: impl FnOnce(&Hosts)) {
    let Some(_turn) = turn() else { return };
    let Some(hosts) = Hosts::new() else { return };
    act(&hosts);
    check_hosts([&hosts.inside, &hosts.far]);
}

fn assert_steered(agent: &Agent, connection: &Connection) {
    let flow = flow_of(agent, Direction::Up, connection);
    assert!(flow.received_bytes > FILE / 2, "{flow:?}");
    assert!(flow.rewritten > 0, "never steered, {flow:?}");
    check_counts(agent, "forwarded");
}

#[test]
fn a_forwarded_upload_is_steered() {
    behind_a_router(|hosts| {
        let agent = hosts.agent();
        let connection = Connection::between(&hosts.inside, &hosts.far, FAR);
        connection.upload();
        assert_steered(&agent, &connection);
    });
}

/// The machine inside accepts the connection; the scale is in the caller's SYN.
#[test]
fn so_is_what_a_server_inside_sends() {
    behind_a_router(|hosts| {
        let agent = hosts.agent();
        let called = Connection::between(&hosts.far, &hosts.inside, INSIDE);
        let connection = Connection {
            client: called.server,
            server: called.client,
        };
        connection.upload();
        assert_steered(&agent, &connection);
    });
}

/// Packets are masqueraded: the agent sees them with the router's address.
#[test]
fn masqueraded_data_are_steered_both_ways() {
    behind_a_router(|hosts| {
        let masquerade = || Masquerade::new(INSIDE, "tidegate-test");
        let _masquerade = hosts.router.run(masquerade).unwrap();
        let agent = hosts.agent();
        let connection = Connection::between(&hosts.inside, &hosts.far, FAR);
        let seen = connection.server.peer_addr().unwrap();
        assert_ne!(seen.ip(), INSIDE, "not masqueraded");
        connection.upload();
        assert_steered(&agent, &connection);
        let connection = Connection::between(&hosts.inside, &hosts.far, FAR);
        connection.exchange();
        let flow = flow_of(&agent, Direction::Down, &connection);
        assert!(flow.received_bytes >= FILE && flow.samples > 0, "{flow:?}");
        check_counts(&agent, "masqueraded");
    });
}

/// Downloads of the machine inside; DRS's limit is far below its kernel's window.
#[test]
fn a_forwarded_download_is_steered() {
    behind_a_router(|hosts| {
        let start = || Ok(start(steering(), Hook::Tcx));
        let agent = hosts.router.run(start).unwrap();
        let connection = Connection::between(&hosts.inside, &hosts.far, FAR);
        connection.download();
        let flow = flow_of(&agent, Direction::Down, &connection);
        assert!(
            flow.received_bytes >= FILE && flow.rewritten > 0,
            "{flow:?}"
        );
        check_counts(&agent, "forwarded");
    });
}

/// Some routers' devices chain segments instead of merging them: only the first header is in reach, so no segment is
/// changed.
#[test]
fn chained_segments_are_left_alone() {
    behind_a_router(|hosts| {
        let chain = || Ok(["rx-gro", "rx-gro-list"].map(|f| features::switch("lan", f, true)));
        let chains = hosts.router.run(chain).unwrap() == [true; 2] && kernel_is_at_least(6, 10);
        if !chains {
            return skipped("a kernel that does not chain TCP's segments");
        }
        // Packets of the wire's size, to be chained.
        let whole = || Ok(features::switch("up0", "tx-checksum-ip-generic", false));
        assert!(hosts.inside.run(whole).unwrap());
        let start = || Ok(start(steering(), Hook::Tcx));
        let agent = hosts.router.run(start).unwrap();
        let connection = Connection::between(&hosts.inside, &hosts.far, FAR);
        // Leaving data that acknowledge arriving data.
        connection.exchange();
        assert!(count(&agent, Direction::Down, Reason::Chained) > 0);
        check_counts(&agent, "chained");
    });
}

fn kernel_is_at_least(major: u32, minor: u32) -> bool {
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap();
    let mut numbers = release.split(|c: char| !c.is_ascii_digit());
    let mut number = || numbers.next().and_then(|n| n.parse().ok()).unwrap_or(0);
    (number(), number()) >= (major, minor)
}

/// A flow without a window is shown as forwarded, or as the router's own.
#[test]
fn forwarded_datagrams_are_told_from_the_routers_own() {
    behind_a_router(|hosts| {
        let agent = hosts.agent();
        for (host, expected) in [
            (&hosts.inside, Origin::Forwarded),
            (&hosts.router, Origin::Own),
        ] {
            let send = || {
                let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0))?;
                socket.connect((FAR, 9))?;
                socket.send(&[1; 200])?;
                Ok(socket.local_addr()?)
            };
            let from = host.run(send).unwrap();
            let way = || {
                let mut ways = agent.windowless().into_iter();
                ways.find(|w| w.local.port == from.port() && w.direction == Direction::Up)
            };
            wait_for("the datagram", || way().is_some());
            let way = way().unwrap();
            assert_eq!(way.local.address, from.ip());
            assert_eq!((way.origin, way.bytes), (expected, 200), "{way:?}");
        }
    });
}

/// There is no socket here to ask for the scale.
#[test]
fn in_mid_stream_a_forwarded_upload_is_left_alone() {
    behind_a_router(|hosts| {
        let connection = Connection::between(&hosts.inside, &hosts.far, FAR);
        let agent = hosts.agent();
        connection.upload();
        assert!(count(&agent, Direction::Up, Reason::NoScale) > 0);
        assert_eq!(count(&agent, Direction::Up, Reason::Rewritten), 0);
    });
}
