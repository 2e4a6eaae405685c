//! Round trips counted in packets instead of time: a round ends when a segment is acknowledged that
//! was sent after it began (draft-ietf-ccwg-bbr §5.5.1).

/// Counts round trips.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::cc) struct Rounds {
    /// Rounds so far.
    pub count: u32,
    /// Whether the latest ACK began a round.
    pub start: bool,
    /// Segments delivered when this round began: one sent later ends it.
    next: u64,
}

impl Rounds {
    /// An ACK of a segment that was sent when `prior` segments had been delivered; now `delivered`
    /// have. Returns whether it began a round.
    pub fn acked(&mut self, prior: u64, delivered: u64) -> bool {
        self.start = prior >= self.next;
        if self.start {
            self.begin(delivered);
            self.count = self.count.wrapping_add(1);
        }
        self.start
    }

    /// A round begins now, uncounted.
    pub fn begin(&mut self, delivered: u64) {
        self.next = delivered;
    }
}
