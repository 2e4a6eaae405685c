//! A UDP socket that knows when its packets arrived.

use nix::libc;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::socket::{
    ControlMessage, ControlMessageOwned, MsgFlags, SockaddrStorage, recvmsg, sendmsg, setsockopt,
    sockopt,
};
use nix::sys::time::TimeSpec;
use nix::time::{ClockId, clock_gettime};
use std::io::{self, IoSlice, IoSliceMut};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6, UdpSocket};
use std::os::fd::{AsFd, AsRawFd};
use std::time::Duration;
use tidegate_basics::time::Instant;

/// The receive buffer for the time in which the process is not scheduled: 4 MB are 27 ms at 1.2 Gbit/s.
const ROOM: usize = 4 << 20;

/// A socket that blocks only in [`Self::wait`].
#[derive(Debug)]
pub struct Socket {
    socket: UdpSocket,
    buffer: Vec<u8>,
}

/// Where a packet came from, and to which of this machine's addresses: an answer has to leave from there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Way {
    /// The far end.
    pub far: SocketAddr,
    /// This end; the kernel chooses without.
    pub near: Option<IpAddr>,
}

impl Way {
    /// To `far`, from an address that the kernel chooses.
    pub fn to(far: SocketAddr) -> Self {
        Self { far, near: None }
    }
}

/// A packet that arrived.
#[derive(Debug)]
pub struct Received {
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// Both ends of its path.
    pub way: Way,
    /// When the kernel received it, by the wall clock.
    pub clock: Instant,
}

impl Socket {
    /// A socket at that address.
    pub fn bind(address: SocketAddr) -> io::Result<Self> {
        let socket = UdpSocket::bind(address)?;
        socket.set_nonblocking(true)?;
        setsockopt(&socket, sockopt::ReceiveTimestampns, &true)?;
        match address {
            SocketAddr::V4(_) => setsockopt(&socket, sockopt::Ipv4PacketInfo, &true)?,
            SocketAddr::V6(_) => setsockopt(&socket, sockopt::Ipv6RecvPacketInfo, &true)?,
        }
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
    pub fn send(&self, packet: &[u8], way: Way) -> io::Result<()> {
        let slices = [IoSlice::new(packet)];
        let (v4, v6) = way.near.map_or((None, None), info);
        let control: Vec<ControlMessage> = [
            v4.as_ref().map(ControlMessage::Ipv4PacketInfo),
            v6.as_ref().map(ControlMessage::Ipv6PacketInfo),
        ]
        .into_iter()
        .flatten()
        .collect();
        let to = SockaddrStorage::from(way.far);
        match sendmsg(
            self.socket.as_raw_fd(),
            &slices,
            &control,
            MsgFlags::empty(),
            Some(&to),
        ) {
            // Refused, because of an earlier packet; silence will show that as well.
            Ok(_) | Err(nix::Error::EAGAIN | nix::Error::ENOBUFS | nix::Error::ECONNREFUSED) => {
                Ok(())
            }
            Err(e) => Err(e.into()),
        }
    }

    /// The next packet, if one is there.
    pub fn receive(&mut self) -> io::Result<Option<Received>> {
        let mut control = nix::cmsg_space!(TimeSpec, libc::in6_pktinfo);
        let mut slices = [IoSliceMut::new(&mut self.buffer)];
        let fd = self.socket.as_raw_fd();
        let message = match recvmsg::<SockaddrStorage>(
            fd,
            &mut slices,
            Some(&mut control),
            MsgFlags::empty(),
        ) {
            Ok(message) => message,
            Err(nix::Error::EAGAIN | nix::Error::ECONNREFUSED) => return Ok(None),
            Err(e) => return Err(e.into()),
        };
        let (mut stamp, mut near) = (None, None);
        for control in message.cmsgs()? {
            match control {
                ControlMessageOwned::ScmTimestampns(at) => stamp = Some(instant(at)),
                ControlMessageOwned::Ipv4PacketInfo(info) => {
                    near = Some(Ipv4Addr::from(info.ipi_addr.s_addr.to_ne_bytes()).into());
                }
                ControlMessageOwned::Ipv6PacketInfo(info) => {
                    near = Some(Ipv6Addr::from(info.ipi6_addr.s6_addr).into());
                }
                _ => {}
            }
        }
        let (length, far) = (
            message.bytes,
            message.address.as_ref().and_then(socket_address),
        );
        let Some(far) = far else {
            return Ok(None);
        };
        Ok(Some(Received {
            bytes: self.buffer[..length].to_vec(),
            way: Way { far, near },
            clock: stamp.unwrap_or_else(wall),
        }))
    }

    /// Waits until a packet comes, at most for `longest`.
    pub fn wait(&self, longest: Duration) -> io::Result<()> {
        // Whole milliseconds, rounded up, or a shorter wait would be none.
        let ms = longest.as_micros().div_ceil(1000).min(1000) as u16;
        let mut fds = [PollFd::new(self.socket.as_fd(), PollFlags::POLLIN)];
        match poll(&mut fds, PollTimeout::from(ms)) {
            Ok(_) | Err(nix::Error::EINTR) => Ok(()),
            Err(e) => Err(e.into()),
        }
    }
}

/// This end's address in the kernel's form.
fn info(near: IpAddr) -> (Option<libc::in_pktinfo>, Option<libc::in6_pktinfo>) {
    match near {
        IpAddr::V4(address) => {
            let of = |address: Ipv4Addr| libc::in_addr {
                s_addr: u32::from_ne_bytes(address.octets()),
            };
            let info = libc::in_pktinfo {
                ipi_ifindex: 0,
                ipi_spec_dst: of(address),
                ipi_addr: of(Ipv4Addr::UNSPECIFIED),
            };
            (Some(info), None)
        }
        IpAddr::V6(address) => {
            let ipi6_addr = libc::in6_addr {
                s6_addr: address.octets(),
            };
            let info = libc::in6_pktinfo {
                ipi6_addr,
                ipi6_ifindex: 0,
            };
            (None, Some(info))
        }
    }
}

fn socket_address(address: &SockaddrStorage) -> Option<SocketAddr> {
    let v4 = address
        .as_sockaddr_in()
        .map(|a| SocketAddr::V4(SocketAddrV4::from(*a)));
    v4.or_else(|| {
        address
            .as_sockaddr_in6()
            .map(|a| SocketAddr::V6(SocketAddrV6::from(*a)))
    })
}

/// The wall clock: packets are stamped with it, also by the kernel.
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
