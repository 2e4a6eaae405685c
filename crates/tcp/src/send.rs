//! The sending half: what is in flight, what is lost, when to send.

mod ack;
mod clock;
mod credit;
mod ecn;
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
mod train;
mod types;
mod undo;
mod validation;

use crate::cc::{CongestionControl, Event, Manual, Window};
pub use crate::cc::{Flight, RateSample};
use credit::Credit;
use ecn::Marks;
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
pub use types::{Ack, Info, Terms, Transmission};
use validation::Usage;

/// The sending half of a connection. Offsets are of our stream; 0 is our SYN, data start at 1.
#[derive(Debug)]
pub struct Sender {
    /// The time of the current call.
    now: Instant,
    /// Payload of a full segment; 0 before the handshake is over.
    mss: u32,
    /// Bytes of a new segment that SACK blocks and a read rate take from its payload.
    reserved: u32,
    sack: bool,
    timestamps: bool,
    timestamp_offset: u32,
    initial_window: u32,
    slow_start_after_idle: bool,
    paced: bool,

    /// Offset after what the application has written, and of its FIN.
    written: u64,
    finishing: bool,
    fin_sent: bool,
    send_buffer: u64,
    nodelay: bool,
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
    /// Adaptive flow control, once the peer has told its read rate.
    credit: Option<Credit>,

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
    marks: Marks,
    prr: Prr,
    tlp: Option<LossProbe>,

    cc: Box<dyn CongestionControl>,
    /// When the congestion control wants to be called, whatever happens.
    step_at: Option<Instant>,
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
            reserved: 0,
            sack: false,
            timestamps: false,
            timestamp_offset: config.timestamp_offset,
            initial_window: config.initial_window,
            slow_start_after_idle: config.slow_start_after_idle,
            paced: config.paced,
            written: 1,
            finishing: false,
            fin_sent: false,
            send_buffer: config.send_buffer,
            nodelay: config.nodelay,
            buffer_was_full: false,
            small_end: 0,
            una: 0,
            peer_window: 0,
            max_window: 0,
            window_from: 0,
            credit: None,
            board: Scoreboard::new(1),
            duplicate_acks: 0,
            known: Blocks::default(),
            heard: None,
            heard_at: start,
            rtt: Rtt::new(start, None, 0, 1),
            rack: Rack::new(),
            rate: Rate::new(start),
            episode: Episode::new(),
            marks: Marks::default(),
            prr: Prr::default(),
            tlp: None,
            cc: config.congestion_control.build(config.seed()),
            step_at: None,
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
        self.step_at = self.cc.next_step();
    }

    fn is_established(&self) -> bool {
        self.mss > 0
    }

    /// The application writes `bytes`; returns how many the send buffer took.
    pub fn write(&mut self, bytes: u64) -> u64 {
        if bytes == 0 {
            return 0;
        }
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

    /// Payload of a full segment in bytes, options of every segment deducted; 0 before the
    /// handshake is over.
    pub fn mss(&self) -> u32 {
        self.mss
    }

    /// New segments are to leave so many bytes for SACK blocks and a read rate (`tcp_current_mss`).
    pub fn reserve(&mut self, bytes: u32) {
        self.reserved = bytes;
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
            delivered_ce: self.marks.delivered,
            lost: self.rate.lost,
            srtt: self.rtt.srtt(),
            min_rtt: self.rtt.min(),
            recovery: self.episode.state,
            last_sent: self.usage.sent_at,
            cwnd_limited: self.is_window_limited(),
            app_limited: self.rate.is_app_limited(),
        }
    }

    /// Has window and rate be what is told from now on, in place of the congestion control.
    pub fn tell(&mut self, manual: Manual) {
        self.cc = Box::new(manual);
        self.step_at = None;
        manual.apply(&mut self.window);
        self.work.push = true;
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
            rto: Duration::from_micros(self.rtt.rto_us().into()),
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
