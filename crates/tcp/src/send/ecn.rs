//! What the peer reports about marks, and the reduction that follows (RFC 3168 §6.1.2, RFC 9768 §3.2.2; Linux's
//! `tcp_ecn.h` and `tcp_enter_cwr`).

use super::Sender;
use super::progress::Progress;
use crate::cc::Recovery;
use crate::ecn::{CEP_INIT, Echo, EcnMode};

/// The modulus of the ACE field.
const ACE_MODULUS: u32 = 8;

/// Bits behind the point of [`Marks::share`], and the weight of an ACK in it, as shifts.
const SHARE_BITS: u32 = 16;
const SHARE_WEIGHT: u32 = 3;

/// The sender's view of marks.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Marks {
    mode: EcnMode,
    /// Segments that the peer has reported as marked (`delivered_ce`).
    delivered: u64,
    /// The recent share of marks, by which we judge whether the counter has cycled.
    share: u32,
    /// The next new data tell the peer that the window has been reduced (`TCP_ECN_QUEUE_CWR`).
    queue_cwr: bool,
}

impl Marks {
    /// The number of segments that an ACK newly reports as marked, which has delivered `delivered` segments;
    /// `progress`: it is not a late one.
    fn heed(&mut self, echo: Echo, delivered: u32, progress: bool) -> u32 {
        let marked = match (self.mode, echo) {
            (EcnMode::Classic, Echo::Congestion) => delivered,
            (EcnMode::Accurate, Echo::Count(ace)) if progress => self.count(ace, delivered),
            _ => 0,
        };
        self.delivered += u64::from(marked);
        let share = (marked.min(delivered) << SHARE_BITS) / delivered.max(1);
        self.share = self.share - (self.share >> SHARE_WEIGHT) + (share >> SHARE_WEIGHT);
        marked
    }

    /// RFC 9768 §3.2.2.5.2: for many segments three bits leave open how many were marked; the recent share decides.
    /// Linux, which also has the option with the byte counters, assumes the most without it.
    fn count(&self, ace: u8, delivered: u32) -> u32 {
        let known = self.delivered as u32;
        let sent = u32::from(ace).wrapping_sub(CEP_INIT.into());
        let least = sent.wrapping_sub(known) % ACE_MODULUS;
        let likely = (u64::from(self.share) * u64::from(delivered)) >> SHARE_BITS;
        let cycles = (likely as u32 + ACE_MODULUS / 2).saturating_sub(least) / ACE_MODULUS;
        let most = delivered.saturating_sub(least) / ACE_MODULUS;
        least + ACE_MODULUS * cycles.min(most)
    }

    /// Segments that the peer has reported as marked (`delivered_ce`).
    pub(super) fn delivered(&self) -> u64 {
        self.delivered
    }

    /// A reduction has begun (`tcp_ecn_queue_cwr`).
    pub(super) fn queue_cwr(&mut self) {
        self.queue_cwr = self.mode == EcnMode::Classic;
    }

    /// The reduction was needless (`tcp_ecn_withdraw_cwr`).
    pub(super) fn withdraw_cwr(&mut self) {
        self.queue_cwr = false;
    }
}

impl Sender {
    /// Both ends have agreed on `mode`; `marked`: the number of the handshake's segments that were marked.
    pub fn use_ecn(&mut self, mode: EcnMode, marked: u64) {
        self.marks = Marks {
            mode,
            delivered: marked,
            ..Marks::default()
        };
    }

    /// Segments that the peer has reported as marked, as far as is known (`delivered_ce`).
    pub fn marked(&self) -> u64 {
        self.marks.delivered
    }

    /// Whether the new data in hand are to say that the window has been reduced.
    pub fn take_cwr(&mut self) -> bool {
        std::mem::take(&mut self.marks.queue_cwr)
    }

    /// Processes what an ACK reports about marks that has delivered `delivered` segments.
    pub(super) fn heed_marks(&mut self, echo: Echo, delivered: u32, progress: &mut Progress) {
        let forward = progress.acked() || progress.sacked();
        let marked = self.marks.heed(echo, delivered, forward);
        let ece = match echo {
            Echo::Congestion => self.marks.mode == EcnMode::Classic,
            _ => marked > 0,
        };
        progress.marks(marked, ece);
    }

    /// Congestion was marked: the window is reduced, once for all that is in flight, and nothing undoes that
    /// (`tcp_enter_cwr`).
    pub(super) fn enter_cwr(&mut self) {
        self.undo.keep_ssthresh(None);
        if self.episode.state() < Recovery::Cwr {
            self.undo.disarm();
            self.begin_reduction();
            self.set_state(Recovery::Cwr);
        }
    }

    /// The data in flight, and something above them, are acknowledged, so CWR has reached the peer.
    pub(super) fn leave_cwr(&mut self) {
        if self.board.una() > self.episode.high() {
            self.end_reduction(false);
            self.set_state(Recovery::Open);
        }
    }
}

#[cfg(test)]
mod tests;
