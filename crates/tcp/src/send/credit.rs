//! The sender's side of adaptive flow control (AFC §4.2.3, Algorithm 4): a window beyond the peer's room, and the
//! repair when that was too much.
//!
//! The peer drops segments for which it has no room, counts them and reports the count. The sender takes as many
//! segments, those that were sent first, for lost and sends them again as far as the window goes; congestion control
//! does not learn of it (§4.1.2). That is the paper's alternative to Algorithm 4's lines 6–33, which guess: they freeze
//! with a zero window, hide all losses until a segment is answered that was sent after `ts_recover`, and send
//! everything from `una` again. The count keeps simultaneous losses of a congested path apart, needs no window to
//! close, and lets refused segments leave again a round trip later, so that they arrive when a reader comes back that
//! had paused for no longer, and not a round trip after that.
//!
//! The window decides how long the sender goes on while the reader stays away: the last reported rate is forgotten
//! gradually ([`afc::held`]), and the window shrinks to what fits.
//!
//! RTT is the smallest recent one, not the smoothed one: data that wait in the network's queues are of no use to a
//! reader, and a window that grows with the queue that it fills would grow without end.

use super::Sender;
use super::clock::micros;
use super::scoreboard::{Sent, Tags};
use super::timer::Timer;
use crate::ReadReport;
use tidegate_basics::time::Instant;
use tidegate_laws::afc;

/// A larger window, in segments, is not sent in one burst (AFC §4.1.4: "a threshold", which is not given). As many
/// segments as may begin a connection (RFC 6928).
const BURST: u32 = 10;

/// Counts of refused segments are modulo 256: a larger step is one backwards, from an ACK that was overtaken.
const NEWS: u8 = 127;

/// This many refusals may prove untrue, and of many refusals one in this many.
const SLIPS: u32 = 4;

/// What the peer has reported about its application.
#[derive(Clone, Copy, Debug)]
pub(super) struct Credit {
    /// The read rate in kbit/s, AR, as far as it is remembered, and the time of that.
    kbps: u32,
    at: Instant,
    /// Segments that it has refused, and how many of these are new.
    refused: u8,
    fresh: u8,
    /// Refusals that were believed, and how many of these proved untrue.
    believed: u32,
    refuted: u32,
}

impl Credit {
    /// Nothing is known yet.
    fn new(now: Instant) -> Self {
        Self {
            kbps: 0,
            at: now,
            refused: 0,
            fresh: 0,
            believed: 0,
            refuted: 0,
        }
    }

    /// The peer reports how its application reads, over a path of `rtt` microseconds.
    fn hear(&mut self, now: Instant, report: ReadReport, rtt: u32) {
        let held = afc::held(self.kbps, micros(self.at, now), rtt);
        self.kbps = report.kbps.max(held);
        self.at = now;
        let more = report.refused.wrapping_sub(self.refused);
        if more <= NEWS {
            self.refused = report.refused;
            self.fresh = self.fresh.saturating_add(more);
        }
    }

    /// One of the new refusals is believed.
    fn believe(&mut self) {
        self.fresh -= 1;
        self.believed += 1;
    }

    /// Refusals are counted, not named, so an honest peer's may be attributed to the wrong segments when packets
    /// overtake each other.
    fn is_a_lie(&self) -> bool {
        self.refuted > SLIPS.max(self.believed / SLIPS)
    }
}

impl Sender {
    /// The peer, which acknowledges up to `offset`, reports how its application reads.
    pub fn peer_reads(&mut self, now: Instant, offset: u64, report: ReadReport) {
        if offset < self.board.una() {
            return;
        }
        let rtt = self.rtt.min_us().unwrap_or(0);
        let credit = self.credit.get_or_insert(Credit::new(now));
        credit.hear(now, report, rtt);
    }

    /// The flow control window in bytes: the peer's, and with AFC what it will have read in a round trip (equation 36).
    /// Whatever the peer reports, no more than the send buffer holds for retransmission.
    pub fn flow_window(&self) -> u64 {
        let Some(credit) = self.trusted() else {
            return self.peer.size();
        };
        let rtt = self.rtt.min_us().unwrap_or(0);
        let most = self.outbox.capacity().max(self.peer.size());
        afc::window(self.peer.size(), credit.kbps, rtt, most)
    }

    /// The peer's report, unless it was caught lying.
    fn trusted(&self) -> Option<Credit> {
        self.credit.filter(|credit| !credit.is_a_lie())
    }

    /// Segment `number` has just been sent: tags whether the peer has room for it, or must read first.
    pub(super) fn tag_credit(&mut self, number: u32) {
        let Some(_) = self.credit else { return };
        let tags = self.board.get(number).tags;
        let promised = self.board.una() + self.peer.size();
        let tags = match self.board.end_of(number) > promised {
            true => tags.with(Tags::ON_CREDIT),
            false => tags.without(Tags::ON_CREDIT),
        };
        self.board.retag(number, tags);
    }

    /// The peer's buffer is full, as far as AFC can tell, and congestion control is not at work. NS-2
    /// counts segments, and a peer that does not shrink its window (RFC 9293 §3.8.6) may keep the rest
    /// of one on offer.
    pub(super) fn is_shut(&self) -> bool {
        let full = self.peer.size() < self.mss.current().into();
        full && self.credit.is_some() && self.episode.is_before_recovery()
    }

    /// An ACK was taken: segments that it reports as refused leave again as soon as they may. Returns whether there
    /// were any.
    pub(super) fn heed_refusals(&mut self) -> bool {
        let refused = self.trusted().map_or(0, |credit| credit.fresh);
        for number in self.refusable(refused) {
            self.refused_has_arrived(number);
            self.board.mark_refused(number);
            if let Some(credit) = &mut self.credit {
                credit.believe();
            }
        }
        if self.board.refused() > 0 && self.episode.is_before_recovery() {
            self.work.retransmit_lost();
            self.await_nothing_refused();
        }
        refused > 0
    }

    /// Line 17: the sender awaits no answer to refused segments. Others were lost on the way, if nothing is heard of
    /// them.
    fn await_nothing_refused(&mut self) {
        let head = self.board.head();
        if head.is_some_and(|head| head.tags.has(Tags::REFUSED)) {
            self.rtt.end_backoff();
            self.set_timer(Timer::Retransmission, self.rtt.rto_us().into());
        }
    }

    /// A refused segment has reached the peer, so segments that were sent before it and are not there are lost.
    fn refused_has_arrived(&mut self, number: u32) {
        let Sent { at, tags, .. } = *self.board.get(number);
        let end = self.board.end_of(number);
        let ever = tags.has(Tags::EVER_RETRANS);
        self.rack
            .advance(self.now, (at, end), ever, self.rtt.min_us());
    }

    /// A segment has arrived at the peer. If the peer had refused it, and acknowledges it sooner than the
    /// retransmission can have arrived, it had it all along. A peer that does so often gets nothing on credit any more:
    /// it has the same data sent over and over, at the cost of others.
    pub(super) fn check_refusal(&mut self, sent: &Sent) {
        let Some(credit) = &mut self.credit else {
            return;
        };
        let resent = sent.tags.has(Tags::RETRANS);
        let soon = micros(sent.at, self.now) < self.rtt.srtt_us() / 2;
        if sent.tags.has(Tags::REFUSED) && (soon || !resent) {
            credit.refuted += 1;
        }
    }

    /// The segments, at most `most`, that a peer can have refused: whatever it claims, it has promised to take what
    /// fits its window, and segments that are still on their way cannot have reached it.
    fn refusable(&self, most: u8) -> Vec<u32> {
        std::iter::successors(self.board.oldest(), |&number| self.board.later(number))
            .take_while(|&number| self.is_overdue(number))
            .filter(|&number| self.board.get(number).tags.has(Tags::ON_CREDIT))
            .take(most.into())
            .collect()
    }

    /// Whether segment `number` may have arrived.
    fn is_overdue(&self, number: u32) -> bool {
        let sent = self.board.get(number).at;
        micros(sent, self.now) >= self.rtt.min_us().unwrap_or(0)
    }

    /// Nothing was heard for a whole timeout while the window is shut (line 21): the answer to an empty segment will
    /// tell when there is room.
    pub(super) fn probe_shut_window(&mut self) {
        self.retries.judge_silence(self.retries.silence(self.now));
        if self.retries.given_up() {
            return;
        }
        let probe = self.bare_probe();
        self.work.send(Some(probe));
        self.rtt.back_off();
        self.set_timer(Timer::Retransmission, self.rtt.rto_us().into());
    }

    /// Pacing rate in bytes a second of what the window allows, instead of one burst: the window in a round trip
    /// (§4.1.4: "every packet is delayed by RTT/sender's window").
    pub(super) fn burst_rate(&self) -> Option<u64> {
        self.credit?;
        let rtt = u64::from(self.rtt.min_us().filter(|&us| us > 0)?);
        let segments =
            (self.flow_window() / u64::from(self.mss.full())).min(self.congestion.cwnd().into());
        (segments > BURST.into()).then(|| segments * u64::from(self.mss.full()) * 1_000_000 / rtt)
    }
}
