//! The sending half: what is in flight, what is lost, when to send.

mod ack;
mod output;
mod pacing;
mod probe;
mod prr;
mod rack;
mod rate;
mod recovery;
mod rtt;
mod sack;
mod scoreboard;
#[cfg(test)]
mod tests;
mod timer;
mod tlp;
mod validation;

use crate::cc::{CongestionControl, Event, Recovery, Window};
use output::Work;
use pacing::Pacing;
use prr::Prr;
use rack::Rack;
use rate::Rate;
use recovery::Episode;
use rtt::Rtt;
use sack::Blocks;
use scoreboard::Scoreboard;
use std::time::Duration;
use tidegate_time::Instant;
use timer::Timer;
use tlp::LossProbe;
use validation::Usage;

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
    /// Segments that this ACK made believe lost.
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
    /// How often the SYN (or SYN-ACK) had to be sent again.
    pub retransmits: u32,
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
    /// Whether to set PSH.
    pub push: bool,
}

/// The sending half of a connection. Offsets are of our stream; 0 is our SYN, data start at 1.
#[derive(Debug)]
pub struct Sender {
    /// The time of the current call.
    now: Instant,
    /// Payload of a full segment; 0 before the handshake is over.
    mss: u32,
    sack: bool,
    timestamps: bool,
    timestamp_offset: u32,
    initial_window: u32,

    /// Offset after what the application has written, and of its FIN.
    written: u64,
    finishing: bool,
    fin_sent: bool,
    send_buffer: u64,
    /// The application wanted to write more than there was room for.
    buffer_was_full: bool,
    /// End of the last segment that was not full (`snd_sml`).
    small_end: u64,

    una: u64,
    /// The peer's window, the largest one ever, and where in the peer's stream it was announced
    /// (SND.WND, SND.WL1).
    peer_window: u64,
    max_window: u64,
    window_from: u64,

    board: Scoreboard,
    /// Segments that have arrived as far as duplicate ACKs tell, from a peer without SACK.
    duplicate_acks: u32,
    /// SACK blocks of the last ACK.
    known: Blocks,
    /// Timestamps of the last ACK, and when it came.
    heard: Option<crate::Timestamps>,
    heard_at: Instant,

    rtt: Rtt,
    rack: Rack,
    rate: Rate,
    episode: Episode,
    prr: Prr,
    tlp: Option<LossProbe>,

    cc: Box<dyn CongestionControl>,
    window: Window,
    usage: Usage,
    pacing: Pacing,

    timer: Option<(Timer, Instant)>,
    work: Work,
    timeouts_in_row: u32,
    probes_unanswered: u32,
    given_up: bool,

    retransmits: u64,
    /// Segments that DSACKs have reported.
    duplicates: u64,
    segments_sent: u64,
    timeouts: u64,
    undos: u64,
}

impl Sender {
    /// Before the handshake.
    pub fn new(config: &crate::Config) -> Self {
        let start = Instant::ZERO;
        Self {
            now: start,
            mss: 0,
            sack: false,
            timestamps: false,
            timestamp_offset: config.timestamp_offset,
            initial_window: config.initial_window,
            written: 1,
            finishing: false,
            fin_sent: false,
            send_buffer: config.send_buffer,
            buffer_was_full: false,
            small_end: 0,
            una: 0,
            peer_window: 0,
            max_window: 0,
            window_from: 0,
            board: Scoreboard::new(1),
            duplicate_acks: 0,
            known: Blocks::default(),
            heard: None,
            heard_at: start,
            rtt: Rtt::new(start, None, 0, 1),
            rack: Rack::new(),
            rate: Rate::new(start),
            episode: Episode::new(),
            prr: Prr::default(),
            tlp: None,
            cc: config.congestion_control.build(config.seed()),
            window: Window {
                cwnd: config.initial_window.max(1),
                ssthresh: Window::NO_SSTHRESH,
                count: 0,
                clamp: u32::MAX,
                prior_cwnd: 0,
                pacing_rate: None,
            },
            usage: Usage::new(start),
            pacing: Pacing::new(),
            timer: None,
            work: Work::default(),
            timeouts_in_row: 0,
            probes_unanswered: 0,
            given_up: false,
            retransmits: 0,
            duplicates: 0,
            segments_sent: 0,
            timeouts: 0,
            undos: 0,
        }
    }

    /// The handshake is over.
    pub fn establish(&mut self, now: Instant, terms: Terms) {
        self.now = now;
        self.una = 1;
        self.mss = terms.mss;
        self.sack = terms.sack;
        self.timestamps = terms.timestamps;
        self.peer_window = terms.window;
        self.max_window = terms.window;
        let rtt = terms
            .rtt
            .map(|rtt| u32::try_from(rtt.as_micros()).unwrap_or(u32::MAX));
        self.rtt = Rtt::new(now, rtt, self.una, self.next());
        self.rate = Rate::new(now);
        self.usage = Usage::new(now);
        self.heard_at = now;
        // RFC 6928 §2: a SYN that was lost leaves one segment. Linux lets one loss pass.
        if terms.retransmits > 1 {
            self.window.cwnd = 1;
        }
        self.work.push = true;
        let flight = self.flight();
        self.cc.init(&mut self.window, &flight);
    }

    fn is_established(&self) -> bool {
        self.mss > 0
    }

    /// The application writes `bytes`; returns how many the send buffer took.
    pub fn write(&mut self, bytes: u64) -> u64 {
        let taken = bytes.min(self.writable());
        self.buffer_was_full = taken < bytes;
        let unsent = self.written.saturating_sub(self.next());
        // What is lost is all sent again, the window has room: only data were wanting.
        if unsent < self.mss.into()
            && self.in_flight() < self.window.cwnd
            && self.board.lost() <= self.board.retrans()
        {
            self.rate.limited_by_application(self.in_flight());
        }
        self.written += taken;
        self.work.push = true;
        self.work.check_idle = true;
        taken
    }

    /// Bytes that the send buffer would take.
    pub fn writable(&self) -> u64 {
        let held = self.written - self.una.clamp(1, self.written);
        self.send_buffer.saturating_sub(held)
    }

    /// FIN after what was written.
    pub fn finish(&mut self) {
        self.finishing = true;
        self.work.push = true;
    }

    /// Offset of the oldest unacknowledged byte (`snd_una`).
    pub fn una(&self) -> u64 {
        self.una
    }

    /// Offset of the next byte to be sent for the first time (`snd_nxt`).
    pub fn next(&self) -> u64 {
        self.board.end()
    }

    /// Whether the FIN has been sent.
    pub fn fin_sent(&self) -> bool {
        self.fin_sent
    }

    /// Whether the FIN has been acknowledged.
    pub fn finished(&self) -> bool {
        self.fin_sent && self.una == self.next()
    }

    /// Whether it has given up (`tcp_retries2` timeouts in a row).
    pub fn gave_up(&self) -> bool {
        self.given_up
    }

    /// Segments that have arrived and are not acknowledged (`sacked_out`).
    fn left_by_sack(&self) -> u32 {
        self.board.sacked() + self.duplicate_acks
    }

    /// Segments in flight, RFC 6675's pipe (`tcp_packets_in_flight`).
    fn in_flight(&self) -> u32 {
        self.board.len() + self.board.retrans() - self.left_by_sack() - self.board.lost()
    }

    /// What a congestion control sees.
    fn flight(&self) -> Flight {
        Flight {
            now: self.now,
            mss: self.mss,
            in_flight: self.in_flight(),
            outstanding: self.board.len(),
            snd_una: self.una,
            snd_nxt: self.next(),
            delivered: self.rate.delivered,
            lost: self.rate.lost,
            srtt: self.rtt.srtt(),
            min_rtt: self.rtt.min(),
            recovery: self.episode.state,
            last_sent: self.usage.sent_at,
            cwnd_limited: self.is_window_limited(),
            app_limited: self.rate.is_app_limited(),
        }
    }

    fn cc_event(&mut self, event: Event) {
        let flight = self.flight();
        self.cc.event(&mut self.window, &flight, event);
    }

    /// The numbers that people look at (Linux's `TCP_INFO`).
    pub fn info(&self) -> Info {
        Info {
            cwnd: self.window.cwnd,
            ssthresh: self.window.ssthresh,
            in_flight: self.in_flight(),
            srtt: self.rtt.srtt(),
            rttvar: self.rtt.var(),
            min_rtt: self.rtt.min(),
            last_rtt: self.rtt.last(),
            rto: self.rtt.rto(),
            retransmits: self.retransmits,
            segments_sent: self.segments_sent,
            timeouts: self.timeouts,
            undos: self.undos,
            pacing_rate: self.window.pacing_rate,
            peer_window: self.peer_window,
            recovery: self.episode.state,
        }
    }
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
