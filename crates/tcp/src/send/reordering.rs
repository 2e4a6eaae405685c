//! How far segments are reordered on the way (RFC 6675 §5's DupThresh; Linux's `tcp_reordering`).

/// Default of `tcp_reordering`: duplicate ACKs that mean a loss (RFC 5681 §3.2).
pub(super) const DUP_THRESH: u32 = 3;

/// The largest reordering that is assumed, in segments (`tcp_max_reordering`).
const MAX: u32 = 300;

/// The reordering seen so far.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reordering {
    /// Segments by which one may be late without being lost.
    degree: u32,
    seen: bool,
}

impl Reordering {
    pub(super) fn new() -> Self {
        Self {
            degree: DUP_THRESH,
            seen: false,
        }
    }

    /// Segments by which one may be late without being lost.
    pub(super) fn degree(&self) -> u32 {
        self.degree
    }

    /// Whether any has been seen.
    pub(super) fn seen(&self) -> bool {
        self.seen
    }

    /// A segment was late by `segments` others.
    pub(super) fn observe(&mut self, segments: u32) {
        if segments > self.degree {
            self.degree = segments.min(MAX);
        }
        self.seen = true;
    }

    /// A segment may have been late by `segments` others (`tcp_check_reno_reordering`).
    pub(super) fn assume(&mut self, segments: u32) {
        self.degree = segments.min(MAX);
        self.seen = true;
    }

    /// There were enough duplicate ACKs for a fast retransmit, and still a timeout (`tcp_enter_loss`).
    pub(super) fn overestimated(&mut self) {
        self.degree = self.degree.min(DUP_THRESH);
    }
}
