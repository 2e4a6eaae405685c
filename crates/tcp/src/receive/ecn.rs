//! Marks that arrive, and how they are reported to the peer (RFC 3168 §6.1.3, RFC 9768 §3.2, RFC 8257 §3.2; Linux's
//! `tcp_data_ecn_check`, `tcp_ecn_received_counters`, `dctcp_ece_ack_update`).

use crate::Flags;
use crate::ecn::CEP_INIT;
use tidegate_basics::ecn::Ecn;

/// How the receiver reports marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feedback {
    /// Not at all.
    Off,
    /// ECE on every ACK until CWR comes (RFC 3168).
    Classic,
    /// ECE on the ACKs of marked data alone (RFC 8257).
    Dctcp,
    /// A counter of three bits (RFC 9768).
    Accurate,
}

/// What marks on data demand of the ACKs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Haste {
    /// Nothing.
    None,
    /// The next ACKs are not delayed: the sender may have a small window, or has just retransmitted.
    Quick,
    /// The ACK of the segment in hand is not delayed.
    Now,
}

/// A separate ACK for the data before a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Early {
    /// It acknowledges up to this offset.
    pub(super) ack: u64,
    echo: bool,
}

/// Marks so far.
#[derive(Clone, Copy, Debug)]
pub(super) struct Marks {
    feedback: Feedback,
    /// ACKs carry ECE: until CWR comes, or for DCTCP as long as data arrive marked.
    echo: bool,
    /// ECN-capable data have come (`TCP_ECN_SEEN`).
    seen: bool,
    /// Segments marked (r.cep without its initial value).
    received: u32,
    /// The ECN field of the last segment.
    last: Ecn,
    /// DCTCP: the offset that was expected after the last data.
    next: u64,
    early: Option<Early>,
}

impl Marks {
    pub(super) fn new(feedback: Feedback) -> Self {
        Self {
            feedback,
            echo: false,
            seen: false,
            received: 0,
            last: Ecn::NotEct,
            next: 1,
            early: None,
        }
    }

    /// The handshake's segment was `ecn`.
    pub(super) fn shook_hands(&mut self, ecn: Ecn) {
        self.received = u32::from(ecn == Ecn::Ce);
        self.last = ecn;
    }

    /// A segment arrives, with data or without. Returns whether its ACK must not be delayed: a change is reported at
    /// once (RFC 9768 §3.2.2.5.1).
    pub(super) fn segment(&mut self, ecn: Ecn) -> bool {
        self.received += u32::from(ecn == Ecn::Ce);
        let changed = std::mem::replace(&mut self.last, ecn) != ecn;
        changed && self.feedback == Feedback::Accurate
    }

    /// New data arrive, after which `next` is expected; `owed`: earlier data still wait for their ACK.
    pub(super) fn data(&mut self, ecn: Ecn, next: u64, owed: bool) -> Haste {
        let seen = self.seen;
        self.seen |= ecn.is_capable();
        match (self.feedback, ecn) {
            (Feedback::Off, _) => Haste::None,
            // Probably a retransmission.
            (_, Ecn::NotEct) if seen => Haste::Quick,
            (Feedback::Classic, Ecn::Ce) if !self.echo => {
                self.echo = true;
                Haste::Quick
            }
            (Feedback::Dctcp, Ecn::Ce | Ecn::Ect0 | Ecn::Ect1) => {
                self.data_for_dctcp(ecn == Ecn::Ce, next, owed)
            }
            _ => Haste::None,
        }
    }

    /// RFC 8257 §3.2: a change of CE is reported at once, after an ACK of the data before it.
    fn data_for_dctcp(&mut self, ce: bool, next: u64, owed: bool) -> Haste {
        let ack = std::mem::replace(&mut self.next, next);
        let echo = std::mem::replace(&mut self.echo, ce);
        if echo == ce {
            return Haste::None;
        }
        self.early = owed.then_some(Early { ack, echo });
        Haste::Now
    }

    /// The peer has reduced its window (`tcp_ecn_accept_cwr`). Whether that concerns us: it may now be so small
    /// that the ACK of its data must not wait.
    pub(super) fn reduced(&mut self) -> bool {
        if self.feedback == Feedback::Classic {
            self.echo = false;
        }
        matches!(self.feedback, Feedback::Classic | Feedback::Dctcp)
    }

    /// Whether an ACK is to leave before all others.
    pub(super) fn has_early(&self) -> bool {
        self.early.is_some()
    }

    /// The ACK that is to leave before all others.
    pub(super) fn take_early(&mut self) -> Option<Early> {
        self.early.take()
    }

    /// What an ACK reports about marks, as flags; `early`: which ACK, if it does not cover everything.
    pub(super) fn tell(&self, early: Option<Early>) -> Flags {
        let none = Flags::default();
        match self.feedback {
            Feedback::Accurate => none.with_ace(CEP_INIT.wrapping_add(self.received as u8)),
            _ if early.map_or(self.echo, |early| early.echo) => Flags::ECE,
            _ => none,
        }
    }
}

#[cfg(test)]
mod tests;
