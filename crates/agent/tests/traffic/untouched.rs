//! Connections whose windows the agent may not change carry files as without the agent.

use crate::downloads::flow_of;
use crate::lifecycle::steering;
use crate::sockets::{IPPROTO_MPTCP, connect_with, set_tcp_option};
use crate::testbed::{count, on_testbed, start};
use crate::transfer::FILE;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use tidegate_agent::{Agent, Direction, Hook, Reason};
use tidegate_testing::skipped;

/// Checks that no window is lowered, and the packets are counted as `reason`.
fn assert_untouched(agent: &Agent, reason: Reason) {
    for direction in Direction::ALL {
        assert_eq!(
            count(agent, direction, Reason::Rewritten),
            0,
            "{direction:?}"
        );
    }
    assert!(count(agent, Direction::Down, reason) > 1_000, "{reason}");
}

#[test]
fn mptcp() {
    on_testbed(|hosts| {
        let agent = start(steering(), Hook::Tcx);
        let Some(connection) = connect_with(hosts, [IPPROTO_MPTCP; 2], |_, _| {}) else {
            return skipped("a kernel without MPTCP");
        };
        connection.exchange();
        assert_untouched(&agent, Reason::Mptcp);
    });
}

/// Without the handshake, the socket tells that it is a subflow's.
#[test]
fn mptcp_in_mid_stream() {
    on_testbed(|hosts| {
        let Some(connection) = connect_with(hosts, [IPPROTO_MPTCP; 2], |_, _| {}) else {
            return skipped("a kernel without MPTCP");
        };
        let agent = start(steering(), Hook::Tcx);
        connection.exchange();
        assert_untouched(&agent, Reason::Mptcp);
    });
}

/// A connection that falls back to plain TCP is steered.
#[test]
fn mptcp_that_the_server_does_not_know() {
    on_testbed(|hosts| {
        let agent = start(steering(), Hook::Tcx);
        let protocols = [IPPROTO_MPTCP, libc::IPPROTO_TCP];
        let Some(connection) = connect_with(hosts, protocols, |_, _| {}) else {
            return skipped("a kernel without MPTCP");
        };
        connection.download();
        let flow = flow_of(&agent, Direction::Down, &connection);
        assert!(
            flow.received_bytes >= FILE && flow.rewritten > 0,
            "{flow:?}"
        );
    });
}

/// linux/tcp.h.
#[repr(C)]
struct Md5Signature {
    address: libc::sockaddr_storage,
    flags: u8,
    prefix_length: u8,
    key_length: u16,
    interface: libc::c_int,
    key: [u8; 80],
}

const TCP_MD5SIG: libc::c_int = 14;

/// RFC 2385: a checksum that covers the window seals the segment.
#[test]
fn tcp_md5() {
    on_testbed(|hosts| {
        let agent = start(steering(), Hook::Tcx);
        let supported = std::sync::atomic::AtomicBool::new(true);
        let seal = |socket: &OwnedFd, peer: Option<SocketAddr>| {
            if !set_tcp_option(socket, TCP_MD5SIG, &signature(peer)) {
                supported.store(false, std::sync::atomic::Ordering::Relaxed);
            }
        };
        let connection = connect_with(hosts, [libc::IPPROTO_TCP; 2], seal).expect("TCP");
        if !supported.into_inner() {
            return skipped("a kernel without TCP-MD5");
        }
        connection.exchange();
        assert_untouched(&agent, Reason::Sealed);
    });
}

/// A key for `peer`; the listener's is for the client's network.
fn signature(peer: Option<SocketAddr>) -> Md5Signature {
    // SAFETY: all zeroes are a valid address and a valid key.
    let mut signature: Md5Signature = unsafe { std::mem::zeroed() };
    let SocketAddr::V4(peer) = peer.unwrap_or_else(|| ([198, 18, 0, 1], 0).into()) else {
        unreachable!("connections here are IPv4");
    };
    let address = libc::sockaddr_in {
        sin_family: libc::AF_INET as libc::sa_family_t,
        sin_port: 0,
        sin_addr: libc::in_addr {
            s_addr: u32::from_ne_bytes(peer.ip().octets()),
        },
        sin_zero: [0; 8],
    };
    // SAFETY: a sockaddr_storage has room for any address, and suits its alignment.
    unsafe {
        (&raw mut signature.address)
            .cast::<libc::sockaddr_in>()
            .write(address)
    };
    signature.key_length = 8;
    signature.key[..8].copy_from_slice(b"tidegate");
    signature
}
