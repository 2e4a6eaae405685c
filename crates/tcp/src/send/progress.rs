//! What an ACK has brought so far: Linux's ACK flags and `tcp_sacktag_state`.

use super::rate::Gathering;
use std::time::Duration;
use tidegate_basics::time::Instant;

/// Gathered while an ACK is taken in.
#[derive(Clone, Copy, Debug)]
pub(super) struct Progress {
    /// `una` has moved on (`FLAG_SND_UNA_ADVANCED`).
    advanced: bool,
    /// Whole segments were acknowledged cumulatively (`FLAG_DATA_ACKED`).
    acked: bool,
    /// Segments were reported by SACK for the first time (`FLAG_DATA_SACKED`).
    sacked: bool,
    /// It carries data, or the window changed: no duplicate ACK (`FLAG_DATA`, `FLAG_WIN_UPDATE`).
    not_duplicate: bool,
    /// Something arrived that was sent before the current episode and never again
    /// (`FLAG_ORIG_SACK_ACKED`).
    original_acked: bool,
    /// Some of the data acknowledged cumulatively had been retransmitted.
    retransmitted_acked: bool,
    /// It carries a DSACK (`FLAG_DSACKING_ACK`), for the loss probe (`FLAG_DSACK_TLP`).
    duplicated: bool,
    probe_duplicated: bool,
    /// The head of the queue had been reported by SACK, and is now missing (`FLAG_SACK_RENEGING`).
    reneging: bool,
    /// The timer is to be set anew (`FLAG_SET_XMIT_TIMER`).
    set_timer: bool,
    /// Retransmissions were found lost (`FLAG_LOST_RETRANS`).
    lost_retransmissions: bool,
    /// Perhaps the receiver delayed it (`FLAG_ACK_MAYBE_DELAYED`).
    delayed: bool,
    /// Segments newly reported as marked, and whether that asks for a reduction (`FLAG_ECE`).
    marked: u32,
    ece: bool,
    /// When the first and the last of the segments newly reported by SACK, and never
    /// retransmitted, were sent.
    first_sacked: Option<Instant>,
    last_sacked: Option<Instant>,
    /// The lowest offset that arrived after higher ones.
    lowest_reordered: u64,
    /// Segments newly reported by SACK, needless retransmissions included.
    sack_delivered: u32,
    gathering: Gathering,
    /// The round trip of the latest segment that was acknowledged, in microseconds.
    rtt_us: Option<u32>,
}

impl Progress {
    /// Nothing yet. `nxt`: SND.NXT; `data`: it carries some.
    pub(super) fn new(nxt: u64, data: bool) -> Self {
        Self {
            advanced: false,
            acked: false,
            sacked: false,
            not_duplicate: data,
            original_acked: false,
            retransmitted_acked: false,
            duplicated: false,
            probe_duplicated: false,
            reneging: false,
            set_timer: false,
            lost_retransmissions: false,
            delayed: false,
            marked: 0,
            ece: false,
            first_sacked: None,
            last_sacked: None,
            lowest_reordered: nxt,
            sack_delivered: 0,
            gathering: Gathering::default(),
            rtt_us: None,
        }
    }

    /// SND.UNA moves on.
    pub(super) fn advance(&mut self) {
        self.advanced = true;
    }

    /// Whether SND.UNA has moved on.
    pub(super) fn advanced(&self) -> bool {
        self.advanced
    }

    /// It is no duplicate ACK, since it `says` something else.
    pub(super) fn says_else(&mut self, says: bool) {
        self.not_duplicate |= says;
    }

    /// Whether it takes segments off the queue, or says something else than what has arrived.
    pub(super) fn is_plain(&self) -> bool {
        self.not_duplicate || self.acked
    }

    /// Whether it is a duplicate ACK (RFC 5681 §2).
    pub(super) fn is_duplicate_ack(&self) -> bool {
        !(self.advanced || self.is_plain() || self.duplicated)
    }

    /// Whether it says nothing, except perhaps that a segment has arrived twice.
    pub(super) fn brings_nothing(&self) -> bool {
        !(self.advanced || self.is_plain() || self.sacked)
    }

    /// `segments` segments were removed from the queue, if any; `head_sacked`: its head has been reported by SACK.
    pub(super) fn cleaned(&mut self, segments: u32, head_sacked: bool) {
        self.acked = segments > 0;
        self.reneging = head_sacked;
    }

    /// Whether segments were acknowledged cumulatively.
    pub(super) fn acked(&self) -> bool {
        self.acked
    }

    /// A segment was acknowledged that had been sent more than once.
    pub(super) fn retransmission_acked(&mut self) {
        self.retransmitted_acked = true;
    }

    /// Whether such a segment was acknowledged.
    pub(super) fn any_retransmission_acked(&self) -> bool {
        self.retransmitted_acked
    }

    /// A segment that was sent only once has arrived; `before`: the current episode.
    pub(super) fn original_arrived(&mut self, before: bool) {
        self.original_acked |= before;
    }

    /// Without SACK an advance over a retransmission proves nothing about the other segments.
    pub(super) fn doubt_originals(&mut self) {
        self.original_acked &= !self.retransmitted_acked;
    }

    /// Whether something arrived that was sent before the current episode and never again.
    pub(super) fn original_acked(&self) -> bool {
        self.original_acked
    }

    /// A segment is reported by SACK for the first time.
    pub(super) fn segment_sacked(&mut self) {
        self.sacked = true;
        self.sack_delivered += 1;
    }

    /// It had been sent once, at `at`.
    pub(super) fn original_sacked(&mut self, at: Instant) {
        self.first_sacked.get_or_insert(at);
        self.last_sacked = Some(at);
    }

    /// When the first and the last of these were sent.
    pub(super) fn originals_sacked(&self) -> Option<(Instant, Instant)> {
        self.first_sacked.zip(self.last_sacked)
    }

    /// Whether segments were reported by SACK for the first time.
    pub(super) fn sacked(&self) -> bool {
        self.sacked
    }

    /// A DSACK reports `segments` segments; `of_probe`: the loss probe.
    pub(super) fn segments_duplicated(&mut self, segments: u32, of_probe: bool) {
        self.duplicated = true;
        self.probe_duplicated |= of_probe;
        self.sack_delivered += segments;
    }

    /// Whether it carries a DSACK.
    pub(super) fn duplicated(&self) -> bool {
        self.duplicated
    }

    /// Whether the DSACK is of the loss probe.
    pub(super) fn probe_duplicated(&self) -> bool {
        self.probe_duplicated
    }

    /// Segments newly reported by SACK, needless retransmissions included.
    pub(super) fn sack_delivered(&self) -> u32 {
        self.sack_delivered
    }

    /// The segment at `start` has arrived after those that follow it.
    pub(super) fn reordered(&mut self, start: u64) {
        self.lowest_reordered = self.lowest_reordered.min(start);
    }

    /// The lowest offset that arrived after higher ones, or else SND.NXT.
    pub(super) fn lowest_reordered(&self) -> u64 {
        self.lowest_reordered
    }

    /// Whether the peer seems to have gone back on its SACKs.
    pub(super) fn is_reneging(&self) -> bool {
        self.reneging && self.advanced
    }

    /// The timer is to be set anew, if `anew`.
    pub(super) fn restart_timer(&mut self, anew: bool) {
        self.set_timer |= anew;
    }

    /// The timer is not to be set anew: it is set already.
    pub(super) fn keep_timer(&mut self) {
        self.set_timer = false;
    }

    /// Whether the timer is to be set anew.
    pub(super) fn restarts_timer(&self) -> bool {
        self.set_timer
    }

    /// Retransmissions were found lost, if `any`.
    pub(super) fn retransmissions_lost(&mut self, any: bool) {
        self.lost_retransmissions |= any;
    }

    /// Whether retransmissions were found lost.
    pub(super) fn any_retransmission_lost(&self) -> bool {
        self.lost_retransmissions
    }

    /// The receiver may have `delayed` it.
    pub(super) fn perhaps_delayed(&mut self, delayed: bool) {
        self.delayed = delayed;
    }

    /// Whether the receiver may have delayed it.
    pub(super) fn is_delayed(&self) -> bool {
        self.delayed
    }

    /// `marked` segments are newly reported as marked; `ece`: that asks for a reduction.
    pub(super) fn marks(&mut self, marked: u32, ece: bool) {
        self.marked = marked;
        self.ece = ece;
    }

    /// Segments newly reported as marked.
    pub(super) fn marked(&self) -> u32 {
        self.marked
    }

    /// Whether they ask for a reduction.
    pub(super) fn asks_for_reduction(&self) -> bool {
        self.ece
    }

    /// For the sample of the delivery rate.
    pub(super) fn gathering(&self) -> &Gathering {
        &self.gathering
    }

    pub(super) fn gathering_mut(&mut self) -> &mut Gathering {
        &mut self.gathering
    }

    /// The round trip of the latest segment acknowledged was `rtt_us`, if it is known.
    pub(super) fn took(&mut self, rtt_us: Option<u32>) {
        self.rtt_us = rtt_us;
    }

    /// The round trip of the latest segment that was acknowledged.
    pub(super) fn rtt(&self) -> Option<Duration> {
        self.rtt_us.map(|us| Duration::from_micros(us.into()))
    }
}
