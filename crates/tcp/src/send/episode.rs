//! The memory of loss recovery about the current episode. Its states are in [`super::recovery`].

use crate::cc::Recovery;
use tidegate_basics::time::Instant;

/// State and extent of an episode.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Episode {
    state: Recovery,
    /// The end of what was sent when the state was entered (`high_seq`, RFC 6675's RecoveryPoint).
    high: u64,
    /// When the first retransmission of the episode was sent (`retrans_stamp`).
    first_resent: Option<Instant>,
    /// F-RTO is under way.
    frto: bool,
    /// The peer has gone back on its SACKs; no delivery rate is measured until that is over.
    reneging: bool,
}

impl Episode {
    pub(super) fn state(&self) -> Recovery {
        self.state
    }

    pub(super) fn set_state(&mut self, state: Recovery) {
        self.state = state;
    }

    pub(super) fn is_before_recovery(&self) -> bool {
        self.state < Recovery::Recovery
    }

    /// Whether no reduction is under way, nor a timeout's aftermath.
    pub(super) fn is_unreduced(&self) -> bool {
        self.state <= Recovery::Disorder
    }

    /// Whether PRR steers the window (`tcp_in_cwnd_reduction`).
    pub(super) fn is_reducing(&self) -> bool {
        matches!(self.state, Recovery::Cwr | Recovery::Recovery)
    }

    /// The end of what was sent when the state was entered.
    pub(super) fn high(&self) -> u64 {
        self.high
    }

    /// The episode is over when all that ends at `nxt` is acknowledged.
    pub(super) fn extend(&mut self, nxt: u64) {
        self.high = nxt;
    }

    /// A segment was retransmitted at `at`.
    pub(super) fn resent(&mut self, at: Instant) {
        self.first_resent.get_or_insert(at);
    }

    /// When the first retransmission of the episode was sent.
    pub(super) fn first_resent(&self) -> Option<Instant> {
        self.first_resent
    }

    /// No retransmission is out.
    pub(super) fn forget_resent(&mut self) {
        self.first_resent = None;
    }

    /// Whether F-RTO is under way (RFC 5682).
    pub(super) fn in_frto(&self) -> bool {
        self.frto
    }

    /// F-RTO begins, or does not.
    pub(super) fn set_frto(&mut self, frto: bool) {
        self.frto = frto;
    }

    /// Whether the peer has gone back on its SACKs (RFC 2018 §8).
    pub(super) fn is_reneging(&self) -> bool {
        self.reneging
    }

    /// The peer has gone back on its SACKs.
    pub(super) fn reneged(&mut self) {
        self.reneging = true;
    }

    /// The data that had to be sent to the peer again have arrived.
    pub(super) fn end_reneging(&mut self) {
        self.reneging = false;
    }
}
