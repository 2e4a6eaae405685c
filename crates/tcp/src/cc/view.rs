//! What a congestion control sees of its connection: how the sender stands, and how fast it delivers.

use super::Recovery;
use std::time::Duration;
use tidegate_basics::time::Instant;

/// The sender as a congestion control sees it.
#[derive(Clone, Copy, Debug)]
pub struct Flight {
    /// Now.
    pub now: Instant,
    /// Payload of a full segment in bytes, options deducted.
    pub mss: u32,
    /// Segments in flight (RFC 6675's pipe).
    pub in_flight: u32,
    /// Segments sent and not acknowledged cumulatively.
    pub outstanding: u32,
    /// Offset of the oldest unacknowledged byte.
    pub snd_una: u64,
    /// Offset of the next byte to be sent for the first time.
    pub snd_nxt: u64,
    /// Segments delivered since the start.
    pub delivered: u64,
    /// How many of the delivered segments, and acknowledgements, the peer has reported as marked, as far as is known.
    pub delivered_ce: u64,
    /// Segments lost since the start.
    pub lost: u64,
    /// Smoothed RTT (RFC 6298).
    pub srtt: Option<Duration>,
    /// Smallest RTT of the last 300 s (Linux's `tcp_min_rtt`).
    pub min_rtt: Option<Duration>,
    /// State of loss recovery.
    pub recovery: Recovery,
    /// When data were last sent, before what is being sent now (`lsndtime`).
    pub last_sent: Instant,
    /// Whether the window has limited what was sent in the last round trip, or, in slow start, is
    /// less than twice the most that was in flight (`tcp_is_cwnd_limited`).
    pub cwnd_limited: bool,
    /// Whether the application had nothing more to send.
    pub app_limited: bool,
}

/// The delivery rate over the last round trip (draft-cheng-iccrg-delivery-rate-estimation, Linux's
/// `struct rate_sample`).
#[derive(Clone, Copy, Debug)]
pub struct RateSample {
    /// `delivered` when the latest acknowledged segment was sent.
    pub prior_delivered: u64,
    /// Segments delivered since, and the time that took; None: no valid sample.
    pub delivered: Option<(u64, Duration)>,
    /// Segments marked lost over the same interval.
    pub lost: u64,
    /// Segments that this ACK newly acknowledged, cumulatively or by SACK.
    pub acked_sacked: u32,
    /// Segments that this ACK newly reported as marked.
    pub marked: u32,
    /// Segments that this ACK showed to be lost.
    pub losses: u32,
    /// Segments in flight before this ACK.
    pub prior_in_flight: u32,
    /// Segments in flight when the latest acknowledged segment was sent.
    pub tx_in_flight: u32,
    /// The latest round trip.
    pub rtt: Option<Duration>,
    /// Whether the segment was sent while the application limited the rate.
    pub app_limited: bool,
    /// Whether the ACK may have been delayed by the receiver.
    pub ack_delayed: bool,
}
