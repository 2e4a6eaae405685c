//! Opens a TCP connection, as long as it is wanted. Behind a long queue a handshake takes as long as the queue; the
//! kernel gives up by itself after some two minutes (`net.ipv4.tcp_syn_retries`).

use super::TIMEOUT;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::socket::{
    AddressFamily, SockFlag, SockType, SockaddrStorage, connect, getsockopt, socket, sockopt,
};
use std::io::{self, ErrorKind};
use std::net::{SocketAddr, TcpStream};
use std::os::fd::{AsFd, AsRawFd};

/// A blocking connection to `to`.
pub fn connect_while(to: SocketAddr, wanted: impl Fn() -> bool) -> io::Result<TcpStream> {
    let family = match to {
        SocketAddr::V4(_) => AddressFamily::Inet,
        SocketAddr::V6(_) => AddressFamily::Inet6,
    };
    let flags = SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK;
    let socket = socket(family, SockType::Stream, flags, None)?;
    match connect(socket.as_raw_fd(), &SockaddrStorage::from(to)) {
        Ok(()) | Err(Errno::EINPROGRESS) => {}
        Err(e) => return Err(e.into()),
    }
    let timeout = PollTimeout::from(TIMEOUT.as_millis() as u16);
    while wanted() {
        let mut fds = [PollFd::new(socket.as_fd(), PollFlags::POLLOUT)];
        match poll(&mut fds, timeout) {
            Ok(0) | Err(Errno::EINTR) => continue,
            ready => ready?,
        };
        let error = getsockopt(&socket, sockopt::SocketError)?;
        if error != 0 {
            return Err(io::Error::from_raw_os_error(error));
        }
        let stream = TcpStream::from(socket);
        stream.set_nonblocking(false)?;
        return Ok(stream);
    }
    Err(ErrorKind::Interrupted.into())
}
