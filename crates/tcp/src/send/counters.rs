//! Counters for people (Linux's `TCP_INFO`), and for telling true DSACKs from false ones.

/// Segments and events; of the handshake only retransmissions.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counters {
    segments_sent: u64,
    retransmits: u64,
    /// Segments that DSACKs have reported.
    duplicates: u64,
    timeouts: u64,
    undos: u64,
}

impl Counters {
    /// `resent` SYNs, or SYN-ACKs, were sent again, which Linux counts as segments (`total_retrans`).
    pub(super) fn after_handshake(resent: u32) -> Self {
        Self {
            retransmits: resent.into(),
            ..Self::default()
        }
    }

    /// A segment leaves, new, once more or as a probe.
    pub(super) fn sent(&mut self) {
        self.segments_sent += 1;
    }

    /// The segment carries data that were sent before.
    pub(super) fn retransmitted(&mut self) {
        self.retransmits += 1;
    }

    /// The retransmission timer has run out.
    pub(super) fn timed_out(&mut self) {
        self.timeouts += 1;
    }

    /// A reduction was undone.
    pub(super) fn undone(&mut self) {
        self.undos += 1;
    }

    /// A DSACK reports `segments`: whether that can be true, since not more arrive twice than were
    /// retransmitted (`tcp_dsack_seen`).
    pub(super) fn duplicated(&mut self, segments: u32) -> bool {
        self.duplicates += u64::from(segments);
        self.duplicates <= self.retransmits
    }

    /// Segments sent so far, those sent again included.
    pub(super) fn segments_sent(&self) -> u64 {
        self.segments_sent
    }

    /// Segments sent again so far.
    pub(super) fn retransmits(&self) -> u64 {
        self.retransmits
    }

    /// Retransmission timeouts so far.
    pub(super) fn timeouts(&self) -> u64 {
        self.timeouts
    }

    /// Reductions undone so far.
    pub(super) fn undos(&self) -> u64 {
        self.undos
    }
}
