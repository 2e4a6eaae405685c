//! Packets of more than 64 KB ("BIG TCP"): over IPv6 jumbograms with a hop-by-hop header (RFC 2675), over IPv4 packets
//! without a length in their header.

use crate::downloads::{check_counts, flow_of};
use crate::testbed::{count, on_testbed, start};
use crate::transfer::{Connection, FILE};
use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::thread;
use tidegate_agent::{Direction, Hook, Reason};
use tidegate_lab::{IpVersion, Pattern};
use tidegate_laws::{Law, Params};
use tidegate_testing::skipped;

/// What the kernel may merge, in bytes.
const LARGEST: u32 = 180_000;

/// The most that 16 bits can say: the largest length of other packets.
const USUAL: u64 = u16::MAX as u64;

/// A window of several such packets, and less than the kernel's own.
fn law() -> Params {
    Params {
        law: Law::Drs,
        limit: Some(4 << 20),
        ..Params::default()
    }
}

/// A file in a single write: data that are written in pieces leave in pieces, however much may be merged.
fn send_as_one(mut from: &TcpStream, mut to: &TcpStream) {
    const DATA: Pattern = Pattern::new(1);
    let mut file = vec![0; FILE as usize];
    DATA.fill(&mut file, 0);
    thread::scope(|scope| {
        scope.spawn(|| {
            from.write_all(&file).unwrap();
            from.shutdown(Shutdown::Write).unwrap();
        });
        let mut came = Vec::new();
        to.read_to_end(&mut came).unwrap();
        assert_eq!(came.len() as u64, FILE);
        DATA.check(&came, 0).unwrap();
    });
}

#[test]
fn over_ipv4() {
    files_arrive_intact(IpVersion::V4);
}

#[test]
fn over_ipv6() {
    files_arrive_intact(IpVersion::V6);
}

/// Checks that every byte of the file is counted, in too few packets for all to be of the usual size.
fn files_arrive_intact(version: IpVersion) {
    on_testbed(|hosts| {
        if let Err(error) = hosts.set_largest_packet(LARGEST) {
            return skipped(format!("no packets of more than 64 KB: {error:#}"));
        }
        let agent = start(law(), Hook::Tcx);
        let connection = Connection::new(hosts, version);
        send_as_one(&connection.server, &connection.client);
        let flow = flow_of(&agent, Direction::Down, &connection);
        let packets = count(&agent, Direction::Down, Reason::Measured);
        let case = format!("{packets} packets, {flow:?}");
        assert!(flow.received_bytes >= FILE, "{case}");
        assert!(packets * USUAL < FILE, "none of more than 64 KB: {case}");
        assert!(flow.rewritten > 0, "never steered: {case}");
        check_counts(&agent, &case);
    });
}

#[test]
fn uploads() {
    for version in [IpVersion::V4, IpVersion::V6] {
        on_testbed(|hosts| {
            if let Err(error) = hosts.set_largest_packet(LARGEST) {
                return skipped(format!("no packets of more than 64 KB: {error:#}"));
            }
            let agent = start(Params::default(), Hook::Tcx);
            let connection = Connection::new(hosts, version);
            send_as_one(&connection.client, &connection.server);
            let flow = flow_of(&agent, Direction::Up, &connection);
            let packets = count(&agent, Direction::Up, Reason::Measured);
            let case = format!("{packets} packets, {flow:?}");
            assert!(packets > 0 && flow.samples > 0, "not measured: {case}");
            assert!(packets * USUAL < FILE, "none of more than 64 KB: {case}");
            check_counts(&agent, &case);
        });
    }
}
