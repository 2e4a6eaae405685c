//! `TCP_INFO`, tcp(7).

use std::mem::{size_of, zeroed};
use std::os::fd::{AsFd, AsRawFd};

/// The kernel's view of a connection. Fields that an older kernel lacks are zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TcpInfo {
    /// Smoothed RTT in microseconds, as the sender measures it.
    pub srtt_us: u32,
    /// Congestion window in segments.
    pub cwnd_packets: u32,
    /// Receive window that the peer has advertised, in bytes (Linux 5.4).
    pub peer_window_bytes: u32,
    /// Segments sent again.
    pub retransmits: u64,
    /// The receiver's estimate of the RTT in microseconds (dynamic right-sizing).
    pub receiver_rtt_us: u32,
    /// The receiver's estimate of the bytes that arrive per RTT.
    pub receiver_space_bytes: u32,
    /// Receive window that this end advertises, in bytes, before the agent rewrites it (Linux 6.2).
    pub own_window_bytes: u32,
}

impl TcpInfo {
    /// Asks the kernel; none if it is not a TCP socket.
    pub fn of(socket: &impl AsFd) -> Option<Self> {
        // SAFETY: all zeroes are a valid tcp_info.
        let mut info: libc::tcp_info = unsafe { zeroed() };
        let mut length = size_of::<libc::tcp_info>() as libc::socklen_t;
        // SAFETY: the kernel writes at most `length` bytes to `info`; the rest stays zero.
        let result = unsafe {
            libc::getsockopt(
                socket.as_fd().as_raw_fd(),
                libc::IPPROTO_TCP,
                libc::TCP_INFO,
                (&raw mut info).cast(),
                &raw mut length,
            )
        };
        (result == 0).then(|| Self {
            srtt_us: info.tcpi_rtt,
            cwnd_packets: info.tcpi_snd_cwnd,
            peer_window_bytes: info.tcpi_snd_wnd,
            retransmits: info.tcpi_total_retrans.into(),
            receiver_rtt_us: info.tcpi_rcv_rtt,
            receiver_space_bytes: info.tcpi_rcv_space,
            own_window_bytes: info.tcpi_rcv_wnd,
        })
    }
}
