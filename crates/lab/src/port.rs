//! An interface for whole packets: a TUN device, or a host with our own TCP.

use anyhow::{Context, Result};
use nix::errno::Errno;
use nix::sys::socket::{AddressFamily, SockFlag, SockType, setsockopt, socketpair, sockopt};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

/// The buffer between the two ends of a [`Port::pair`], in bytes: far more than either end leaves unread.
const ROOM: usize = 16 << 20;

/// A file descriptor on which every read and write is one packet, and none blocks.
#[derive(Debug)]
pub struct Port(OwnedFd);

impl Port {
    /// Takes `fd`, which must be non-blocking and keep packets apart.
    pub fn new(fd: OwnedFd) -> Self {
        Self(fd)
    }

    /// Two ports: packets written to one are read from the other.
    ///
    /// # Errors
    /// When the process has too many files open.
    pub fn pair() -> Result<(Self, Self)> {
        let flags = SockFlag::SOCK_NONBLOCK | SockFlag::SOCK_CLOEXEC;
        let (a, b) = socketpair(AddressFamily::Unix, SockType::SeqPacket, None, flags)
            .context("cannot make a pair of sockets")?;
        for end in [&a, &b] {
            // More than wmem_max needs a privilege; without it a smaller buffer is enough for most uses.
            if setsockopt(end, sockopt::SndBufForce, &ROOM).is_err() {
                setsockopt(end, sockopt::SndBuf, &ROOM)?;
            }
        }
        Ok((Self(a), Self(b)))
    }

    /// Takes the next packet into `packet`, whose capacity is its limit; `false` if there is none.
    ///
    /// # Errors
    /// When the other side is down or gone.
    pub fn read(&self, packet: &mut Vec<u8>) -> Result<bool, Errno> {
        packet.clear();
        let room = packet.spare_capacity_mut();
        // SAFETY: the kernel writes at most `room.len()` bytes to `room`.
        let result =
            unsafe { libc::read(self.0.as_raw_fd(), room.as_mut_ptr().cast(), room.len()) };
        match Errno::result(result) {
            Ok(length) => {
                // SAFETY: the kernel has just initialised `length` bytes of the capacity.
                unsafe { packet.set_len(length as usize) };
                Ok(true)
            }
            Err(Errno::EAGAIN | Errno::EINTR) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Hands `packet` over.
    ///
    /// # Errors
    /// When the other side refuses it or has no room.
    pub fn write(&self, packet: &[u8]) -> Result<(), Errno> {
        nix::unistd::write(&self.0, packet).map(drop)
    }
}

impl AsFd for Port {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}
