//! The sender's side of adaptive flow control (AFC §4.2.3, Algorithm 4): a window beyond what the
//! peer has room for, and what to do when that was too much.
//!
//! What finds no room is dropped by the peer, which counts it and tells the count: as many segments, of
//! those that were sent first, are taken for lost and are sent again as far as the window goes, and
//! congestion control learns nothing of it (§4.1.2). That is the paper's alternative to Algorithm 4's
//! lines 6–33, which guess: they freeze with a zero window, hide all losses until something is answered
//! that was sent after `ts_recover`, and send everything from `una` again. The count keeps the losses of
//! a path that is congested at the same time apart, needs no window to close, and lets what was refused
//! leave again a round trip later, so that it arrives when a reader that had paused for no longer comes
//! back, not a round trip after that.
//!
//! How long it goes on being sent to one that stays away is the window's business: the rate that was told
//! last is forgotten by and by ([`afc::held`]), and the window shrinks onto what fits.
//!
//! RTT is the smallest of late, not the smoothed one: a reader has no use for what waits in the network's
//! queues, and a window that grows with the queue that it fills would know no end.

use super::Sender;
use super::clock::micros;
use super::scoreboard::{Sent, Tags};
use super::timer::Timer;
use crate::ReadReport;
use tidegate_laws::afc;
use tidegate_time::Instant;

/// A window of more segments than that is not sent in one go (AFC §4.1.4: "a threshold", which is not
/// given). As many as may begin a connection (RFC 6928).
const BURST: u32 = 10;

/// Counts of segments refused are modulo 256: a larger step is one back, of an ACK that was overtaken.
const NEWS: u8 = 127;

/// So many refusals may turn out to be untrue, and of many one in so many.
const SLIPS: u32 = 4;

/// What the peer has said of its application.
#[derive(Clone, Copy, Debug)]
pub(super) struct Credit {
    /// Its read rate in kbit/s, AR, as far as it is remembered, and as of when.
    kbps: u32,
    at: Instant,
    /// Segments that it has refused, and how many of these are news.
    refused: u8,
    fresh: u8,
    /// Refusals that were believed, and how many of these turned out to be untrue.
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

    /// The peer tells how its application reads, over a path of `rtt` microseconds.
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

    /// One of the refusals that are news is taken for true.
    fn believe(&mut self) {
        self.fresh -= 1;
        self.believed += 1;
    }

    /// Refusals are counted, not named, so that an honest peer's may fall on others when packets overtake
    /// each other.
    fn is_a_lie(&self) -> bool {
        self.refuted > SLIPS.max(self.believed / SLIPS)
    }
}

impl Sender {
    /// The peer, which acknowledges up to `offset`, tells how its application reads.
    pub fn peer_reads(&mut self, now: Instant, offset: u64, report: ReadReport) {
        if offset < self.board.una() {
            return;
        }
        let rtt = self.rtt.min_us().unwrap_or(0);
        let credit = self.credit.get_or_insert(Credit::new(now));
        credit.hear(now, report, rtt);
    }

    /// The flow control window in bytes: the peer's, and with AFC what it will have read in a round
    /// trip (equation 36). No more than the send buffer holds for retransmission, whatever it says.
    pub fn flow_window(&self) -> u64 {
        let Some(credit) = self.trusted() else {
            return self.peer.size();
        };
        let rtt = self.rtt.min_us().unwrap_or(0);
        let most = self.outbox.capacity().max(self.peer.size());
        afc::window(self.peer.size(), credit.kbps, rtt, most)
    }

    /// What the peer has said, unless it was caught lying.
    fn trusted(&self) -> Option<Credit> {
        self.credit.filter(|credit| !credit.is_a_lie())
    }

    /// Segment `number` has just been sent: whether the peer has room for it, or must first read.
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

    /// An ACK was taken: what it says was refused leaves again, as soon as it may; whether that was any.
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

    /// Line 17: nothing is awaited of what the peer has refused. What it has not is lost on the way, if
    /// nothing is heard of it.
    fn await_nothing_refused(&mut self) {
        let head = self.board.head();
        if head.is_some_and(|head| head.tags.has(Tags::REFUSED)) {
            self.rtt.end_backoff();
            self.set_timer(Timer::Retransmission, self.rtt.rto_us().into());
        }
    }

    /// What was refused has come to the peer, so that what was sent before it and is not there is lost.
    fn refused_has_arrived(&mut self, number: u32) {
        let Sent { at, tags, .. } = *self.board.get(number);
        let end = self.board.end_of(number);
        let ever = tags.has(Tags::EVER_RETRANS);
        self.rack
            .advance(self.now, (at, end), ever, self.rtt.min_us());
    }

    /// A segment has arrived at the peer. If that had refused it, and acknowledges it sooner than what was
    /// sent again can have come, it had it all along: one that does so often is told nothing on credit any
    /// more, since it has the same sent to it over and over, at the cost of others.
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

    /// The segments, `most` of them, that a peer can have refused: whatever it claims, it has promised to
    /// take what fits its window, and what is on its way cannot have reached it.
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

    /// Nothing was heard for a whole timeout while the window is shut (line 21): an empty segment will
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

    /// Bytes a second at which what the window allows leaves, instead of in one burst: the window in a
    /// round trip (§4.1.4: "every packet is delayed by RTT/sender's window").
    pub(super) fn burst_rate(&self) -> Option<u64> {
        self.credit?;
        let rtt = u64::from(self.rtt.min_us().filter(|&us| us > 0)?);
        let segments =
            (self.flow_window() / u64::from(self.mss.full())).min(self.congestion.cwnd().into());
        (segments > BURST.into()).then(|| segments * u64::from(self.mss.full()) * 1_000_000 / rtt)
    }
}
