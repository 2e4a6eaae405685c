//! A UDP socket that knows when its packets came.

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::socket::{
    ControlMessageOwned, MsgFlags, SockaddrStorage, recvmsg, setsockopt, sockopt,
};
use nix::sys::time::TimeSpec;
use nix::time::{ClockId, clock_gettime};
use std::io::{self, IoSliceMut};
use std::net::{SocketAddr, SocketAddrV4, SocketAddrV6, UdpSocket};
use std::os::fd::{AsFd, AsRawFd};
use std::time::Duration;
use tidegate_time::Instant;

/// Room for what comes while the process is not scheduled: 4 MB are 27 ms at 1.2 Gbit/s.
const ROOM: usize = 4 << 20;

/// A socket that never blocks but in [`Self::wait`].
#[derive(Debug)]
pub struct Socket {
    socket: UdpSocket,
    buffer: Vec<u8>,
}

/// A packet that came.
#[derive(Debug)]
pub struct Received {
    /// What it holds.
    pub bytes: Vec<u8>,
    /// Where it is from.
    pub from: SocketAddr,
    /// When the kernel had it, by the wall clock.
    pub clock: Instant,
}

impl Socket {
    /// A socket at that address.
    pub fn bind(address: SocketAddr) -> io::Result<Self> {
        let socket = UdpSocket::bind(address)?;
        socket.set_nonblocking(true)?;
        setsockopt(&socket, sockopt::ReceiveTimestampns, &true)?;
        // The kernel gives what its limits allow.
        setsockopt(&socket, sockopt::RcvBuf, &ROOM)?;
        Ok(Self {
            socket,
            buffer: vec![0; 2048],
        })
    }

    /// Its own address.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.socket.local_addr()
    }

    /// Sends, or loses the packet if there is no room, as a link would.
    pub fn send(&self, packet: &[u8], to: SocketAddr) -> io::Result<()> {
        match self.socket.send_to(packet, to) {
            Ok(_) => Ok(()),
            Err(e) if e.kind() == io::ErrorKind::WouldBlock => Ok(()),
            // Told of an earlier packet; silence will tell as well.
            Err(e) if e.kind() == io::ErrorKind::ConnectionRefused => Ok(()),
            Err(e) if e.raw_os_error() == Some(nix::libc::ENOBUFS) => Ok(()),
            Err(e) => Err(e),
        }
    }

    /// The next packet, if one is there.
    pub fn receive(&mut self) -> io::Result<Option<Received>> {
        let mut control = nix::cmsg_space!(TimeSpec);
        let mut slices = [IoSliceMut::new(&mut self.buffer)];
        let fd = self.socket.as_raw_fd();
        let message = match recvmsg::<SockaddrStorage>(fd, &mut slices, Some(&mut control), MsgFlags::empty()) {
            Ok(message) => message,
            Err(nix::Error::EAGAIN | nix::Error::ECONNREFUSED) => return Ok(None),
            Err(e) => return Err(e.into()),
        };
        let stamp = message.cmsgs()?.find_map(|c| match c {
            ControlMessageOwned::ScmTimestampns(at) => Some(instant(at)),
            _ => None,
        });
        let (length, from) = (message.bytes, message.address.as_ref().and_then(socket_address));
        let Some(from) = from else {
            return Ok(None);
        };
        Ok(Some(Received {
            bytes: self.buffer[..length].to_vec(),
            from,
            clock: stamp.unwrap_or_else(wall),
        }))
    }

    /// Waits until something comes, at most so long.
    pub fn wait(&self, longest: Duration) -> io::Result<()> {
        // Whole milliseconds, rounded up, or a wait for less would be none.
        let ms = longest.as_micros().div_ceil(1000).min(1000) as u16;
        let mut fds = [PollFd::new(self.socket.as_fd(), PollFlags::POLLIN)];
        match poll(&mut fds, PollTimeout::from(ms)) {
            Ok(_) | Err(nix::Error::EINTR) => Ok(()),
            Err(e) => Err(e.into()),
        }
    }
}

fn socket_address(address: &SockaddrStorage) -> Option<SocketAddr> {
    let v4 = address.as_sockaddr_in().map(|a| SocketAddr::V4(SocketAddrV4::from(*a)));
    v4.or_else(|| address.as_sockaddr_in6().map(|a| SocketAddr::V6(SocketAddrV6::from(*a))))
}

/// What the wall clock shows: packets are stamped with it, by the kernel as well.
pub fn wall() -> Instant {
    clock_gettime(ClockId::CLOCK_REALTIME).map_or(Instant::ZERO, instant)
}

/// The clock that paces, and never jumps.
pub fn now() -> Instant {
    clock_gettime(ClockId::CLOCK_MONOTONIC).map_or(Instant::ZERO, instant)
}

fn instant(at: TimeSpec) -> Instant {
    Instant::ZERO + Duration::from(at)
}
