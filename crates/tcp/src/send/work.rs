//! The work left to do until the next call brings news.

use super::Transmission;

/// What to send before new data, after an ACK.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Resend {
    /// Nothing.
    #[default]
    Nothing,
    /// The lost segments.
    Lost,
    /// New data, for F-RTO; lost segments only if there are no new data.
    NewFirst,
}

/// While no work is left, [`Sender::transmit`](super::Sender::transmit) changes nothing.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Work {
    /// The segment that a timer has decided on.
    timed: Option<Transmission>,
    resend: Resend,
    /// New data may be sent.
    push: bool,
    /// The application has written after a pause, perhaps.
    check_idle: bool,
    /// The retransmission timer takes over from the reordering timer.
    rearm: bool,
}

impl Work {
    /// A timer has decided on a segment, or on none.
    pub(super) fn send(&mut self, segment: Option<Transmission>) {
        self.timed = segment;
    }

    /// The segment that a timer has decided on.
    pub(super) fn take_timed(&mut self) -> Option<Transmission> {
        self.timed.take()
    }

    /// There may be new data to send, or room for them.
    pub(super) fn push(&mut self) {
        self.push = true;
    }

    /// Whether new data may be sent.
    pub(super) fn may_push(&self) -> bool {
        self.push
    }

    /// All new data that may leave have left.
    pub(super) fn pushed(&mut self) {
        self.push = false;
    }

    /// The application has written, after a pause perhaps.
    pub(super) fn written(&mut self) {
        self.push = true;
        self.check_idle = true;
    }

    /// Whether it has written since the last question.
    pub(super) fn take_written(&mut self) -> bool {
        std::mem::take(&mut self.check_idle)
    }

    /// Lost segments have to be sent again.
    pub(super) fn retransmit_lost(&mut self) {
        self.resend = Resend::Lost;
    }

    /// New data are to be sent first, to tell whether anything is lost (RFC 5682, step 2.b).
    pub(super) fn send_new_first(&mut self) {
        self.resend = Resend::NewFirst;
    }

    /// What to send before new data.
    pub(super) fn resend(&self) -> Resend {
        self.resend
    }

    /// That was sent.
    pub(super) fn resent(&mut self) {
        self.resend = Resend::Nothing;
    }

    /// The retransmission timer has to be set, unless that happens anyway.
    pub(super) fn rearm(&mut self) {
        self.rearm = true;
    }

    /// Whether it has to be.
    pub(super) fn take_rearm(&mut self) -> bool {
        std::mem::take(&mut self.rearm)
    }

    /// Whether no work is left.
    pub(super) fn is_all_done(&self) -> bool {
        self.timed.is_none() && self.is_done()
    }

    /// Whether no work is left, apart from a timer's segment.
    pub(super) fn is_done(&self) -> bool {
        !self.push && !self.rearm && self.resend == Resend::Nothing
    }
}
