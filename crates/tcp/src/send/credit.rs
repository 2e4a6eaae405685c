//! The sender's side of adaptive flow control (AFC §4.2.3, Algorithm 4): a window beyond what the
//! peer has room for, and what to do when that was too much.
//!
//! ```text
//!            no room for a segment            room again, and something is out
//!   Open ─────────────────────────▶ Shut ─────────────────────────────────────▶ Refilling
//!    ▲ ▲                            │  ▲             no room for a segment          │ │
//!    │ └── room again, nothing out ─┘  └────────────────────────────────────────────┘ │
//!    └─ all that was out at the opening is acknowledged, or congestion is sure ───────┘
//! ```
//!
//! Shut and Refilling hide losses from congestion control (§4.1.2), unless it was at work already
//! (lines 10 and 23). Where the pseudocode leaves a choice:
//!
//! * "Zero window" is one that has no room for a whole segment: NS-2 counts segments, and a peer that
//!   does not shrink its window (RFC 9293 §3.8.6) may keep the rest of one on offer.
//! * While it is shut, what `W` allows may still be sent (line 34): a full buffer that is read from is
//!   the steady state of equation 33, and freezing there would stall the flow. With no rate `W` is
//!   the window, and nothing is sent.
//! * `snd_nxt` returns to `una` (line 15) by taking for lost what SACK has not reported, so that what
//!   has arrived is not sent again (line 16) and round trips are not confused (Karn).
//! * Only what was sent a round trip ago, or earlier: it came before the peer had room. The rest may
//!   yet be taken; without this every blink of a full window would send everything twice.
//! * Nothing is read while the head is missing, and the window does not tell how the buffer fills with
//!   what comes out of order: what is lost beyond the window then is made good in the same way.
//! * Losses are hidden until all that was out at the opening is acknowledged, not only until the
//!   first answer to something later than `ts_recover` (line 28): those dropped last would come to
//!   light after it. On the other hand the loss of what was sent again since is the network's.

use super::Sender;
use super::ack::Progress;
use super::clock::micros;
use super::rtt::RTO_MAX;
use super::scoreboard::Tags;
use super::timer::Timer;
use tidegate_laws::afc;
use tidegate_time::Instant;

/// A window that opens by more segments than that is no longer sent in one go (AFC §4.1.4: "a
/// threshold", which is not given). As many as may begin a connection (RFC 6928).
const BURST: u32 = 10;

/// What the peer has said of its application, and what came of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Credit {
    /// Its read rate, AR.
    kbps: u32,
    phase: Phase,
}

/// See the chart above.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Open,
    Shut,
    Refilling {
        /// When the window opened (`ts_recover`).
        since: Instant,
        /// The end of what was out then, or was lost behind a hole since.
        high: u64,
    },
}

impl Sender {
    /// The peer, which acknowledges up to `offset`, tells its application's read rate in kbit/s.
    pub fn peer_reads(&mut self, offset: u64, kbps: u32) {
        if offset < self.una {
            return;
        }
        let fresh = Credit {
            kbps,
            phase: Phase::Open,
        };
        self.credit.get_or_insert(fresh).kbps = kbps;
    }

    /// The flow control window in bytes: the peer's, and with AFC what it will have read in a round
    /// trip (equation 36). No more than the send buffer holds for retransmission, whatever it says.
    pub fn flow_window(&self) -> u64 {
        match self.credit {
            Some(credit) => afc::window(
                self.peer_window,
                credit.kbps,
                self.rtt.srtt_us(),
                self.send_buffer.max(self.peer_window),
            ),
            None => self.peer_window,
        }
    }

    /// The peer's buffer is full, or was and has overflowed, as far as AFC can tell: and congestion
    /// control is not at work.
    pub(super) fn is_overflowing(&self) -> bool {
        let overflowing = self.credit.is_some_and(|c| c.phase != Phase::Open);
        overflowing && self.episode.is_before_recovery()
    }

    /// The peer's buffer is full.
    pub(super) fn is_shut(&self) -> bool {
        self.is_overflowing() && self.credit.is_some_and(|c| c.phase == Phase::Shut)
    }

    /// An ACK was taken: whether the peer has room (lines 6–19).
    pub(super) fn heed_window(&mut self) {
        let Some(credit) = self.credit else {
            return;
        };
        let room = self.peer_window >= self.current_mss().into();
        match credit.phase {
            Phase::Shut if room => self.reopen(),
            Phase::Refilling { high, .. } if room && self.una >= high => self.enter(Phase::Open),
            Phase::Open | Phase::Refilling { .. } if !room => {
                self.tlp = None;
                self.enter(Phase::Shut);
            }
            _ => {}
        }
    }

    fn enter(&mut self, phase: Phase) {
        if let Some(credit) = &mut self.credit {
            credit.phase = phase;
        }
    }

    fn reopen(&mut self) {
        self.rtt.backoff = 0;
        if self.board.is_empty() || !self.episode.is_before_recovery() {
            return self.enter(Phase::Open);
        }
        for number in self.board.numbers() {
            if self.is_overdue(number) {
                self.board.mark_lost(number, true);
            }
        }
        self.enter(Phase::Refilling {
            since: self.now,
            high: self.next(),
        });
        self.work.retransmit_lost();
        // Line 17.
        self.set_timer(Timer::Retransmission, self.rtt.rto_us().into());
    }

    /// When the window opened after an overflow, as long as that is made good (`ts_recover`).
    pub(super) fn refilling_since(&self) -> Option<Instant> {
        match self.credit?.phase {
            Phase::Refilling { since, .. } if self.is_overflowing() => Some(since),
            _ => None,
        }
    }

    /// Whether segment `number` must have arrived before the ACK in hand left, had there been room.
    fn is_overdue(&self, number: u32) -> bool {
        let sent = self.board.get(number);
        let round_trip = self.rtt.min_us().unwrap_or(0);
        !sent.tags.has(Tags::SACKED) && micros(sent.at, self.now) >= round_trip
    }

    /// Whether congestion control is to learn nothing from an ACK's duplicates and SACK blocks (lines
    /// 20–33).
    pub(super) fn hides_losses(&mut self, progress: &mut Progress) -> bool {
        if !self.is_overflowing() {
            return false;
        }
        if self.is_shut() {
            return true;
        }
        let (lost, resent) = (self.board.lost(), self.board.retrans());
        self.identify_losses(progress);
        if self.board.lost() > lost {
            self.excuse_losses();
        }
        let hidden = self.hides_losses_among(resent);
        if hidden {
            self.work.retransmit_lost();
        }
        hidden
    }

    /// The same of losses just found, where `resent` retransmissions were out before: those of what was
    /// sent again since the window opened are the network's.
    pub(super) fn hides_losses_among(&mut self, resent: u32) -> bool {
        let since = self.refilling_since();
        let lost_again = self.board.retrans() < resent;
        if since.is_some_and(|since| lost_again && self.has_lost_since(since)) {
            self.enter(Phase::Open);
        }
        self.is_overflowing()
    }

    /// What was lost beyond the peer's room had none: while the head is missing, the peer reads nothing,
    /// and its buffer fills with what comes out of order without its window telling.
    fn excuse_losses(&mut self) {
        let room = self.una + self.peer_window;
        let beyond = |number: &u32| {
            self.board.get(*number).tags.has(Tags::LOST) && self.board.end_of(*number) > room
        };
        let last = self.board.numbers().filter(beyond).last();
        let end = last.map(|number| self.board.end_of(number));
        if let Some(Credit {
            phase: Phase::Refilling { high, .. },
            ..
        }) = &mut self.credit
        {
            *high = (*high).max(end.unwrap_or(0));
        }
    }

    fn has_lost_since(&self, since: Instant) -> bool {
        self.board.numbers().any(|number| {
            let sent = self.board.get(number);
            sent.tags.has(Tags::LOST) && !sent.tags.has(Tags::RETRANS) && sent.at >= since
        })
    }

    /// Nothing was heard for a whole timeout while the window is shut (line 21): what is missing was
    /// dropped for want of room, and an empty segment will tell when there is some.
    pub(super) fn probe_shut_window(&mut self) {
        self.given_up = micros(self.heard_at, self.now) > 2 * RTO_MAX;
        if self.given_up {
            return;
        }
        self.work.outbox = Some(self.bare_probe());
        self.rtt.back_off();
        self.set_timer(Timer::Retransmission, self.rtt.rto_us().into());
    }

    /// Bytes a second at which a burst leaves: the window in a round trip (§4.1.4).
    pub(super) fn burst_rate(&self) -> Option<u64> {
        let srtt = u64::from(self.rtt.srtt_us());
        self.credit.filter(|_| srtt > 0)?;
        let segments = (self.flow_window() / u64::from(self.mss)).min(self.window.cwnd.into());
        let room = segments.saturating_sub(self.in_flight().into());
        (room > BURST.into()).then(|| segments * u64::from(self.mss) * 1_000_000 / srtt)
    }
}
