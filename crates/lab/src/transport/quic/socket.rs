//! The UDP sockets of connections, and how many datagrams they lose.

use anyhow::{Context, Result};
use nix::sys::socket::{setsockopt, sockopt};
use std::io;
use std::net::{IpAddr, UdpSocket};
use std::os::fd::{AsFd, AsRawFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The receive buffer in bytes: large enough that a process waiting for a processor loses nothing.
const ROOM: usize = 8 << 20;

/// A socket. When dropped, it adds the datagrams that it lost to the count.
#[derive(Debug)]
pub struct Counted {
    socket: UdpSocket,
    lost: Arc<AtomicU64>,
}

impl Counted {
    /// Binds one to a port that the kernel chooses, in the calling thread's namespace.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn bind(at: IpAddr, lost: Arc<AtomicU64>) -> Result<Self> {
        let socket = UdpSocket::bind((at, 0)).context("cannot bind a UDP socket")?;
        setsockopt(&socket, sockopt::RcvBufForce, &ROOM).context("cannot set SO_RCVBUFFORCE")?;
        Ok(Self { socket, lost })
    }

    /// The same socket, for the endpoint.
    ///
    /// # Errors
    /// When the process has too many files open.
    pub fn open(&self) -> Result<UdpSocket> {
        self.socket.try_clone().context("cannot share a UDP socket")
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        let lost = dropped(&self.socket).unwrap_or(0);
        self.lost.fetch_add(lost.into(), Ordering::Relaxed);
    }
}

/// Datagrams that the socket had no room for: `SO_MEMINFO`, socket(7).
fn dropped(socket: &impl AsFd) -> io::Result<u32> {
    // `SK_MEMINFO_DROPS` is the last of `SK_MEMINFO_VARS` numbers, in linux/sock_diag.h.
    let mut numbers = [0u32; 9];
    let mut length = size_of_val(&numbers) as libc::socklen_t;
    // SAFETY: the kernel writes at most `length` bytes to `numbers`.
    let result = unsafe {
        libc::getsockopt(
            socket.as_fd().as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_MEMINFO,
            numbers.as_mut_ptr().cast(),
            &raw mut length,
        )
    };
    match result {
        0 => Ok(numbers[8]),
        _ => Err(io::Error::last_os_error()),
    }
}
