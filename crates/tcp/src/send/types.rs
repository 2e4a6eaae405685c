//! The inputs and outputs of the sending half, as plain values.

use crate::cc::Recovery;
use crate::ecn::Echo;
use std::time::Duration;

/// What the handshake agreed on, as the sender needs it.
#[derive(Clone, Copy, Debug)]
pub struct Terms {
    /// Payload of a full segment in bytes, options of every segment deducted.
    pub mss: u32,
    /// Whether SACK was permitted.
    pub sack: bool,
    /// Whether timestamps are in use.
    pub timestamps: bool,
    /// The peer's window in bytes.
    pub window: u64,
    /// Round trip of the handshake; None if it was ambiguous.
    pub rtt: Option<Duration>,
    /// SYNs, or SYN-ACKs, that were sent again.
    pub resent_syns: u32,
    /// Whether several of them were lost.
    pub lost_syns: bool,
}

/// An acknowledgement that arrived.
#[derive(Clone, Copy, Debug)]
pub struct Ack<'a> {
    /// Offset of the next byte that the peer expects.
    pub offset: u64,
    /// The window in bytes, scaled.
    pub window: u64,
    /// Blocks of the SACK option as offsets, [left, right), as they stood in it.
    pub sack: &'a [(u64, u64)],
    /// The timestamps option.
    pub timestamps: Option<crate::Timestamps>,
    /// What it reports about marks.
    pub echo: Echo,
    /// Whether the segment carried data, SYN or FIN: then it is no duplicate ACK.
    pub data: bool,
    /// Offset in the peer's stream at which the segment stands, for RFC 9293's rule for window updates (SND.WL1).
    pub peer_offset: u64,
}

/// A segment to be sent now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transmission {
    /// Offset of its first byte.
    pub offset: u64,
    /// Bytes of payload; 0 for a bare FIN or a window probe.
    pub len: u32,
    /// Whether the FIN follows the payload.
    pub fin: bool,
    /// Whether to set PSH: at the end of what was written and of each train.
    pub push: bool,
    /// Whether its data are sent for the first time: only these may be ECN-capable (RFC 3168 §6.1.5).
    pub new: bool,
}

/// The sender in numbers (Linux's `TCP_INFO`).
#[derive(Clone, Copy, Debug, Default)]
pub struct Info {
    /// Congestion window in segments.
    pub cwnd: u32,
    /// Slow-start threshold in segments.
    pub ssthresh: u32,
    /// Segments in flight.
    pub in_flight: u32,
    /// Smoothed RTT.
    pub srtt: Option<Duration>,
    /// Its mean deviation.
    pub rttvar: Duration,
    /// Smallest RTT of late.
    pub min_rtt: Option<Duration>,
    /// The last RTT sample.
    pub last_rtt: Option<Duration>,
    /// Retransmission timeout.
    pub rto: Duration,
    /// Segments sent again so far.
    pub retransmits: u64,
    /// Segments sent so far, those sent again included.
    pub segments_sent: u64,
    /// Retransmission timeouts so far.
    pub timeouts: u64,
    /// Reductions undone so far.
    pub undos: u64,
    /// Pacing rate in bytes a second.
    pub pacing_rate: Option<u64>,
    /// The peer's window in bytes.
    pub peer_window: u64,
    /// State of loss recovery.
    pub recovery: Recovery,
}
