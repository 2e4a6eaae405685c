//! What an end of a connection knows about it.

use crate::tcp_info::TcpInfo;

/// The state of a connection, by its transport.
#[derive(Clone, Copy, Debug)]
pub enum Info {
    /// TCP, the kernel's or our own.
    Tcp(TcpInfo),
    /// QUIC.
    Quic {
        /// Smoothed RTT in microseconds, as the sender measures it.
        srtt_us: u32,
        /// Congestion window in packets of the path's MTU.
        cwnd_packets: u32,
        /// Packets lost. QUIC sends their data again in new packets.
        lost: u64,
        /// Packets that this end received.
        received: u64,
        /// Packets that it sent.
        sent: u64,
    },
}

impl Info {
    /// Smoothed RTT in microseconds, as the sender measures it.
    pub fn srtt_us(&self) -> u32 {
        match *self {
            Self::Tcp(TcpInfo { srtt_us, .. }) | Self::Quic { srtt_us, .. } => srtt_us,
        }
    }

    /// Congestion window in packets.
    pub fn cwnd_packets(&self) -> u32 {
        match *self {
            Self::Tcp(TcpInfo { cwnd_packets, .. }) | Self::Quic { cwnd_packets, .. } => {
                cwnd_packets
            }
        }
    }

    /// Packets whose data were sent again.
    pub fn retransmits(&self) -> u64 {
        match *self {
            Self::Tcp(TcpInfo { retransmits, .. }) => retransmits,
            Self::Quic { lost, .. } => lost,
        }
    }

    /// What only TCP tells: its windows.
    pub fn tcp(&self) -> Option<&TcpInfo> {
        match self {
            Self::Tcp(info) => Some(info),
            Self::Quic { .. } => None,
        }
    }
}
