//! Connections whose sockets are set up before they are connected.

use crate::transfer::Connection;
use nix::errno::Errno;
use nix::sys::socket::{Backlog, SockaddrStorage, bind, connect, listen};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsRawFd, OwnedFd};
use tidegate_lab::{IpVersion, Veth};

/// linux/in.h; nix has it on some platforms only.
pub const IPPROTO_MPTCP: libc::c_int = 262;

/// Which protocol an end speaks.
pub type Protocol = libc::c_int;

/// A connection over IPv4 whose ends speak those protocols, client's first, after `prepare` has seen
/// each socket and the address at the other end. None if the kernel has not got a protocol.
pub fn connect_with(
    hosts: &Veth,
    protocols: [Protocol; 2],
    prepare: impl Fn(&OwnedFd, Option<SocketAddr>) + Sync,
) -> Option<Connection> {
    let [speaks, listens] = protocols;
    let listener = hosts.server.run(|| {
        let Some(listening) = open(listens) else {
            return Ok(None);
        };
        prepare(&listening, None);
        let address = SocketAddr::new(Veth::server_address(IpVersion::V4), 0);
        bind(listening.as_raw_fd(), &SockaddrStorage::from(address))?;
        listen(&listening, Backlog::new(1)?)?;
        Ok(Some(TcpListener::from(listening)))
    });
    let listener = listener.unwrap()?;
    let to = listener.local_addr().unwrap();
    let client = hosts.client.run(|| {
        let Some(client) = open(speaks) else {
            return Ok(None);
        };
        prepare(&client, Some(to));
        connect(client.as_raw_fd(), &SockaddrStorage::from(to))?;
        Ok(Some(TcpStream::from(client)))
    });
    let client = client.unwrap()?;
    let (server, _) = listener.accept().unwrap();
    Some(Connection::of(client, server))
}

fn open(protocol: Protocol) -> Option<OwnedFd> {
    // SAFETY: plain numbers; the descriptor is owned right away.
    let fd = unsafe {
        libc::socket(
            libc::AF_INET,
            libc::SOCK_STREAM | libc::SOCK_CLOEXEC,
            protocol,
        )
    };
    // SAFETY: a new descriptor that nobody else owns.
    (fd >= 0).then(|| unsafe { std::os::fd::FromRawFd::from_raw_fd(fd) })
}

/// Sets an option of TCP's from its bytes; false if the kernel has not got it.
pub fn set_tcp_option<T>(socket: &OwnedFd, option: libc::c_int, value: &T) -> bool {
    // SAFETY: the option's value lives through the call and has the size that is given.
    let status = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::IPPROTO_TCP,
            option,
            (&raw const *value).cast(),
            size_of::<T>() as libc::socklen_t,
        )
    };
    match Errno::result(status) {
        Ok(_) => true,
        Err(Errno::ENOPROTOOPT) => false,
        Err(error) => panic!("option {option}: {error}"),
    }
}
