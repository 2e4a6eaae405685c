//! How far segments are reordered on the way (RFC 6675 §5's DupThresh; Linux's `tcp_reordering`).

/// Default of `tcp_reordering`: duplicate ACKs that mean a loss (RFC 5681 §3.2).
pub(super) const DUP_THRESH: u32 = 3;

/// Largest reordering, in segments, that is reckoned with (`tcp_max_reordering`).
const MAX: u32 = 300;

/// What has been seen of it.
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

    /// Whether there has been any.
    pub(super) fn seen(&self) -> bool {
        self.seen
    }

    /// A segment was late by so many.
    pub(super) fn observe(&mut self, segments: u32) {
        if segments > self.degree {
            self.degree = segments.min(MAX);
        }
        self.seen = true;
    }

    /// One may have been late by so many (`tcp_check_reno_reordering`).
    pub(super) fn assume(&mut self, segments: u32) {
        self.degree = segments.min(MAX);
        self.seen = true;
    }

    /// There were as many duplicate ACKs as mean a loss, and still a timeout (`tcp_enter_loss`).
    pub(super) fn overestimated(&mut self) {
        self.degree = self.degree.min(DUP_THRESH);
    }
}
