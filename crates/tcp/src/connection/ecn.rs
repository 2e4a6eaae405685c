//! ECN in the handshake (RFC 3168 §6.1.1, RFC 9768 §3.1), and what each segment carries of it.
//!
//! The ECN flags, AE CWR ECE, of a SYN and of its answer:
//!
//! | asks | SYN | a SYN-ACK that agrees |
//! | --- | --- | --- |
//! | for nothing | 000 | – |
//! | for classic ECN | 011 | 001 |
//! | for accurate ECN | 111 | 010, 011, 100 or 110: how the SYN came, [`reflect`]; or 001, classic |

use super::{Connection, State};
use crate::ecn::{Echo, EcnMode};
use crate::receive::EcnFeedback;
use crate::{Ecn, Flags, Segment};

/// What the ends have told each other.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Negotiation {
    agreed: EcnMode,
    /// The ECN field with which the peer's SYN came.
    syn: Ecn,
    /// The handshake's last ACK still has to report that (RFC 9768 §3.2.2.1).
    reflects: bool,
    /// The peer's SYN or last ACK has reported that ours was marked.
    ours_marked: bool,
}

/// The three flags by which accurate ECN says how the peer's SYN came (RFC 9768 Table 2).
const fn reflect(ecn: Ecn) -> u8 {
    match ecn {
        Ecn::NotEct => 0b010,
        Ecn::Ect1 => 0b011,
        Ecn::Ect0 => 0b100,
        Ecn::Ce => 0b110,
    }
}

/// Flags of a SYN that asks for `mode`.
const fn request(mode: EcnMode) -> u8 {
    match mode {
        EcnMode::Off => 0b000,
        EcnMode::Classic => 0b011,
        EcnMode::Accurate => 0b111,
    }
}

impl Negotiation {
    /// The peer's SYN asks for ECN: chooses what to agree to, at most `wanted` (RFC 9768 §3.1.2).
    fn asked(&mut self, wanted: EcnMode, syn: &Segment) {
        let classic = syn.flags.has(Flags::ECE.with(Flags::CWR));
        self.agreed = match syn.flags.ace() {
            0b000 => EcnMode::Off,
            0b011 => wanted.min(EcnMode::Classic),
            _ if wanted == EcnMode::Accurate => EcnMode::Accurate,
            _ if classic => wanted,
            _ => EcnMode::Off,
        };
    }

    /// The peer's SYN-ACK answers our request for `wanted`.
    fn answered(&mut self, wanted: EcnMode, answer: &Segment) {
        let ace = answer.flags.ace();
        self.agreed = match (wanted, ace) {
            (EcnMode::Off, _) | (_, 0b000 | 0b111) => EcnMode::Off,
            (EcnMode::Classic, 0b001) | (EcnMode::Accurate, 0b001 | 0b101) => EcnMode::Classic,
            (EcnMode::Classic, _) => EcnMode::Off,
            (EcnMode::Accurate, _) => EcnMode::Accurate,
        };
        if self.agreed == EcnMode::Accurate {
            self.reflects = true;
            self.ours_marked = ace == reflect(Ecn::Ce);
        }
    }
}

impl Connection {
    /// Notes what the peer's SYN says about ECN; `answers`: it answers ours.
    pub(super) fn negotiate_ecn(&mut self, syn: &Segment, answers: bool) {
        let wanted = self.config.ecn();
        self.ecn.syn = syn.ecn;
        if answers {
            self.ecn.answered(wanted, syn);
        } else {
            self.ecn.asked(wanted, syn);
        }
    }

    /// The handshake's last ACK reports the ECN field with which our SYN-ACK came.
    pub(super) fn hear_reflection(&mut self, segment: &Segment) {
        let reflected = self.state == State::SynReceived
            && self.ecn.agreed == EcnMode::Accurate
            && segment.seq_len() == 0;
        self.ecn.ours_marked |= reflected && segment.flags.ace() == reflect(Ecn::Ce);
    }

    /// Both halves learn what has been agreed on.
    pub(super) fn establish_ecn(&mut self) {
        let Negotiation {
            agreed,
            syn,
            ours_marked,
            ..
        } = self.ecn;
        if agreed == EcnMode::Off {
            return;
        }
        self.sender.use_ecn(agreed, ours_marked.into());
        // As in Linux, where the host's congestion control also decides how the host reports marks.
        let dctcp = self.config.congestion_control.needs_ecn() == EcnMode::Classic;
        let feedback = match agreed {
            EcnMode::Accurate => EcnFeedback::Accurate,
            _ if dctcp => EcnFeedback::Dctcp,
            _ => EcnFeedback::Classic,
        };
        self.receiver.tell_marks(feedback, syn);
    }

    /// What both ends have agreed on.
    pub fn ecn(&self) -> EcnMode {
        self.ecn.agreed
    }

    /// The ECN flags of our SYN, or SYN-ACK, added to its other flags. A SYN that is sent again because nothing came
    /// asks for nothing, since a middlebox may have dropped the first for its flags (RFC 3168 §6.1.1.1,
    /// `tcp_ecn_fallback`).
    pub(super) fn syn_ecn_flags(&self, flags: Flags) -> Flags {
        let answers = self.state == State::SynReceived;
        let ace = match (answers, self.ecn.agreed) {
            (false, _) if self.handshake.retransmits() > 0 => 0b000,
            (false, _) => request(self.config.ecn()),
            (true, EcnMode::Off) => 0b000,
            (true, EcnMode::Classic) => 0b001,
            (true, EcnMode::Accurate) => reflect(self.ecn.syn),
        };
        flags.with_ace(ace)
    }

    /// The IP header's field of a SYN or SYN-ACK: only algorithms that need ECN mark their SYNs ECN-capable, too.
    pub(super) fn syn_ecn(&self) -> Ecn {
        let answers = self.state == State::SynReceived;
        let asks = self.handshake.retransmits() == 0;
        let uses = if answers {
            self.ecn.agreed > EcnMode::Off
        } else {
            asks
        };
        match self.config.congestion_control.needs_ecn() {
            EcnMode::Off => Ecn::NotEct,
            _ if uses => self.config.congestion_control.ect(),
            _ => Ecn::NotEct,
        }
    }

    /// Sets a segment's ECN field and flags; `new`: it has data that are sent for the first time (`tcp_ecn_send`).
    pub(super) fn label(&mut self, segment: &mut Segment, new: bool) {
        let algorithm = &self.config.congestion_control;
        let capable = match self.ecn.agreed {
            EcnMode::Off => return,
            EcnMode::Classic => new || algorithm.needs_ecn() > EcnMode::Off,
            // Any segment (RFC 9768 §3.2.2.5.2 has pure ACKs' marks counted, too).
            EcnMode::Accurate => true,
        };
        if capable {
            segment.ecn = algorithm.ect();
        }
        if new && self.sender.take_cwr() {
            segment.flags = segment.flags.with(Flags::CWR);
        }
        let reflects = std::mem::take(&mut self.ecn.reflects);
        if reflects && segment.len == 0 {
            segment.flags = segment.flags.with_ace(reflect(self.ecn.syn));
        }
    }

    /// What a segment says about marks.
    pub(super) fn echo_of(&self, segment: &Segment) -> Echo {
        let syn = segment.flags.has(Flags::SYN);
        match self.ecn.agreed {
            EcnMode::Classic if segment.flags.has(Flags::ECE) && !syn => Echo::Congestion,
            EcnMode::Accurate if !syn => Echo::Count(segment.flags.ace()),
            _ => Echo::Nothing,
        }
    }
}
