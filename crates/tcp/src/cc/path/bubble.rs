//! A phase in which the algorithm itself sends less than the path would carry.

/// Marks segments sent in PROBE_RTT as limited by the application, so that the rate they are
/// delivered at is not taken for the path's. Linux writes `tcp_sock.app_limited` for it; here the
/// algorithm remembers what it would have written: a segment is marked that was sent since the first
/// mark, and before all that was in flight at the last one was delivered.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::cc) struct Bubble {
    /// Segments delivered at the first mark, and those that must be for the bubble to be gone.
    delivered: Option<(u64, u64)>,
}

impl Bubble {
    /// Marks all data sent from now on, until all data in flight now are delivered.
    pub fn mark(&mut self, delivered: u64, in_flight: u32) {
        let first = match self.delivered {
            Some((first, last)) if delivered <= last => first,
            _ => delivered,
        };
        self.delivered = Some((first, delivered + u64::from(in_flight)));
    }

    /// Whether a segment is marked that was sent when `prior` segments had been delivered.
    pub fn holds(&self, prior: u64) -> bool {
        self.delivered
            .is_some_and(|(first, last)| (first..=last).contains(&prior))
    }
}
