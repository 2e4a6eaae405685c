//! The sending half: what is in flight, what is lost, when to send.
//!
//! ```text
//!   write ─▶ outbox ─▶ output ─▶ scoreboard ◀─ ack ◀─ segment
//!                       ▲  ▲                    └▶ sack, cleaning ─▶ rack, recovery ─┐
//!  peer, congestion ────┘  └── train, pacing                                         │
//!        └────◀── cc ◀── Flight, RateSample ◀────────────────────────────────────────┘
//! ```
//!
//! | question | state |
//! | --- | --- |
//! | What is to be sent, and what does the peer take? | `outbox`, `mss`, `peer`, `credit` |
//! | What is in flight, and how long is it on its way? | `scoreboard`, `rtt`, `timestamps`, `rate` |
//! | What is lost, and was that true? | `reordering`, `rack`, `tlp`, `episode`, `undo` |
//! | How much may be in flight? | `congestion`, `prr`, `ecn`, `usage` |
//! | When? | `pacing`, `timer`, `retries`, `work` |
//!
//! A part's state is private to its file. A matter of several parts is a method of [`Sender`], in the file of the
//! subject that decides; meanwhile `progress` holds what an ACK has brought.

mod ack;
mod cleaning;
mod clock;
mod congestion;
mod counters;
mod credit;
mod ecn;
mod episode;
mod loss;
mod mss;
mod newreno;
mod outbox;
mod output;
mod pacing;
mod peer;
mod probe;
mod progress;
mod prr;
mod rack;
mod rate;
mod recovery;
mod reordering;
mod retries;
mod rtt;
mod sack;
mod scoreboard;
#[cfg(test)]
mod tests;
mod timer;
mod timestamps;
mod tlp;
mod train;
mod types;
mod undo;
mod usage;
mod validation;
mod work;

use crate::cc::{Event, Flight, Manual};
use congestion::Congestion;
use counters::Counters;
use credit::Credit;
use ecn::Marks;
use episode::Episode;
use mss::Mss;
use outbox::Outbox;
use output::Burst;
use pacing::Pacing;
use peer::PeerWindow;
use prr::Prr;
use rack::Rack;
use rate::Rate;
use reordering::Reordering;
use retries::Retries;
use rtt::Rtt;
use sack::Blocks;
use scoreboard::Scoreboard;
use std::time::Duration;
use tidegate_basics::time::Instant;
use timer::Timers;
use timestamps::Echoes;
use tlp::LossProbe;
pub use types::{Ack, Info, Terms, Transmission};
use undo::Undo;
use usage::Usage;
use validation::Validation;
use work::Work;

/// The sending half of a connection. Offsets are of our stream; 0 is our SYN, data start at 1.
///
/// Each part keeps its state private; the methods of the sender, in the files of their subjects, join them.
#[derive(Debug)]
pub struct Sender {
    /// The time of the current call.
    now: Instant,
    /// Whether the peer reports by SACK what has arrived.
    sack: bool,
    mss: Mss,

    outbox: Outbox,
    peer: PeerWindow,
    /// Adaptive flow control, once the peer has told its read rate.
    credit: Option<Credit>,
    echoes: Echoes,

    board: Scoreboard,
    /// SACK blocks of the last ACK.
    known: Blocks,
    reordering: Reordering,
    rtt: Rtt,
    rate: Rate,

    rack: Rack,
    /// Until it is answered.
    loss_probe: Option<LossProbe>,
    episode: Episode,
    prr: Prr,
    undo: Undo,

    congestion: Congestion,
    marks: Marks,
    usage: Usage,
    validation: Validation,
    pacing: Pacing,

    timers: Timers,
    retries: Retries,
    work: Work,
    burst: Burst,
    counters: Counters,
}

impl Sender {
    /// Before the handshake.
    pub fn new(config: &crate::Config) -> Self {
        let start = Instant::ZERO;
        let algorithm = config.congestion_control.build(config.seed());
        Self {
            now: start,
            sack: false,
            mss: Mss::default(),
            outbox: Outbox::new(config.send_buffer, config.nodelay),
            peer: PeerWindow::default(),
            credit: None,
            echoes: Echoes::new(config.timestamp_offset),
            board: Scoreboard::new(1),
            known: Blocks::default(),
            reordering: Reordering::new(),
            rtt: Rtt::new(start, None, 0, 1),
            rate: Rate::new(start),
            rack: Rack::new(),
            loss_probe: None,
            episode: Episode::default(),
            prr: Prr::default(),
            undo: Undo::default(),
            congestion: Congestion::new(algorithm, config.initial_window),
            marks: Marks::default(),
            usage: Usage::new(start),
            validation: Validation::new(config.slow_start_after_idle, config.initial_window),
            pacing: Pacing::new(config.paced),
            timers: Timers::new(config.ticks),
            retries: Retries::new(start),
            work: Work::default(),
            burst: Burst::default(),
            counters: Counters::default(),
        }
    }

    /// The handshake is over.
    pub fn establish(&mut self, now: Instant, terms: Terms) {
        self.now = now;
        self.sack = terms.sack;
        self.mss = Mss::new(terms.mss);
        self.echoes.agree(terms.timestamps);
        self.peer = PeerWindow::new(terms.window);
        self.board.acknowledge(1);
        let rtt = terms
            .rtt
            .map(|rtt| u32::try_from(rtt.as_micros()).unwrap_or(u32::MAX));
        self.rtt = Rtt::new(now, rtt, self.una(), self.next());
        self.rate = Rate::new(now);
        self.usage = Usage::new(now);
        self.retries = Retries::new(now);
        self.counters = Counters::after_handshake(terms.resent_syns);
        // RFC 6928 §2.
        if terms.lost_syns {
            self.congestion.lose_syn();
        }
        self.work.push();
        let flight = self.flight();
        self.congestion.establish(&flight);
    }

    fn is_established(&self) -> bool {
        self.mss.full() > 0
    }

    /// The application writes `bytes`; returns how many the send buffer took.
    pub fn write(&mut self, bytes: u64) -> u64 {
        if bytes == 0 {
            return 0;
        }
        let unsent = self.outbox.unsent_bytes(self.next());
        // Everything lost has been sent again, and the window has room: only data were missing.
        if unsent < self.mss.full().into() && self.window_has_room() && !self.board.any_to_resend()
        {
            self.rate.limited_by_application(self.board.in_flight());
        }
        self.work.written();
        self.outbox.write(bytes, self.una())
    }

    /// Bytes that the send buffer would take.
    pub fn writable(&self) -> u64 {
        self.outbox.room(self.una())
    }

    /// FIN after what was written.
    pub fn finish(&mut self) {
        self.outbox.finish();
        self.work.push();
    }

    /// Offset of the oldest unacknowledged byte (`snd_una`).
    pub fn una(&self) -> u64 {
        self.board.una()
    }

    /// Payload of a full segment in bytes, options of every segment deducted; 0 before the
    /// handshake is over.
    pub fn mss(&self) -> u32 {
        self.mss.full()
    }

    /// New segments have to leave `bytes` for SACK blocks and a read rate (`tcp_current_mss`).
    pub fn reserve(&mut self, bytes: u32) {
        self.mss.reserve(bytes);
    }

    /// Offset of the next byte to be sent for the first time (`snd_nxt`).
    pub fn next(&self) -> u64 {
        self.board.end()
    }

    /// Whether the FIN has been sent.
    pub fn fin_sent(&self) -> bool {
        self.outbox.fin_sent()
    }

    /// Whether the FIN has been acknowledged.
    pub fn finished(&self) -> bool {
        self.fin_sent() && self.una() == self.next()
    }

    /// Whether it has given up (`tcp_retries2` timeouts in a row).
    pub fn gave_up(&self) -> bool {
        self.retries.given_up()
    }

    /// The view of the sender that a congestion control gets.
    fn flight(&self) -> Flight {
        Flight {
            now: self.now,
            mss: self.mss.full(),
            in_flight: self.board.in_flight(),
            outstanding: self.board.len(),
            snd_una: self.una(),
            snd_nxt: self.next(),
            delivered: self.rate.delivered(),
            delivered_ce: self.marks.delivered(),
            lost: self.rate.lost(),
            srtt: self.rtt.srtt(),
            min_rtt: self.rtt.min(),
            recovery: self.episode.state(),
            last_sent: self.usage.sent_at(),
            cwnd_limited: self.is_window_limited(),
            app_limited: self.rate.is_app_limited(),
        }
    }

    /// Sets window and rate from now on, in place of the congestion control.
    pub fn tell(&mut self, manual: Manual) {
        self.congestion.tell(manual);
        self.work.push();
    }

    /// Tells the congestion control what happened.
    fn tell_congestion(&mut self, event: Event) {
        let flight = self.flight();
        self.congestion.event(&flight, event);
    }

    /// The numbers for people (Linux's `TCP_INFO`).
    pub fn info(&self) -> Info {
        Info {
            cwnd: self.congestion.cwnd(),
            ssthresh: self.congestion.ssthresh(),
            in_flight: self.board.in_flight(),
            srtt: self.rtt.srtt(),
            rttvar: self.rtt.var(),
            min_rtt: self.rtt.min(),
            last_rtt: self.rtt.last(),
            rto: Duration::from_micros(self.rtt.rto_us().into()),
            retransmits: self.counters.retransmits(),
            segments_sent: self.counters.segments_sent(),
            timeouts: self.counters.timeouts(),
            undos: self.counters.undos(),
            pacing_rate: self.congestion.pacing_rate(),
            peer_window: self.peer.size(),
            recovery: self.episode.state(),
        }
    }
}
