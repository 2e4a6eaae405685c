//! The round-trip time at the receiver.

mod agrees;

use std::collections::HashMap;

/// With timestamps: now minus the time at which the echoed TSval first left (DRWA report,
/// section 4.1). Every TSval is remembered for ever. One sample a TSval, and none from an echo
/// older than one that was seen.
#[derive(Default)]
pub struct TimestampRtt {
    first_departure_us: HashMap<u64, u64>,
    newest_echo: Option<u64>,
}

impl TimestampRtt {
    pub fn sent(&mut self, tsval: u64, now_us: u64) {
        self.first_departure_us.entry(tsval).or_insert(now_us);
    }

    pub fn echoed(&mut self, tsecr: u64, now_us: u64) -> Option<u64> {
        if self.newest_echo.is_some_and(|newest| tsecr <= newest) {
            return None;
        }
        self.newest_echo = Some(tsecr);
        let sample_us = now_us - self.first_departure_us.get(&tsecr)?;
        // Two events within one tick of the clock are not simultaneous.
        Some(sample_us.max(1))
    }
}

/// Without timestamps: "the time between when a byte is first acknowledged and the receipt of data that is at least one
/// window beyond the sequence number that was acknowledged" (Algorithm 1), for every byte that an acknowledgement makes
/// room for.
#[derive(Default)]
pub struct EdgeRtt {
    /// Right edges before each acknowledgement that moved them, and when it left.
    promised: Vec<(u64, u64)>,
    edge: Option<u64>,
}

impl EdgeRtt {
    /// Returns the edge before and after, if it moved.
    pub fn acknowledged(&mut self, ack: u64, window: u64, now_us: u64) -> Option<(u64, u64)> {
        let edge = ack + window;
        let was = self.edge.replace(edge.max(self.edge.unwrap_or(edge)))?;
        if edge > was {
            self.promised.push((was, now_us));
        }
        Some((was, edge.max(was)))
    }

    /// The round trips of all edges that these data are the first to pass.
    pub fn received(&mut self, end: u64, now_us: u64) -> Vec<u64> {
        let used = self.promised.iter().filter(|(was, _)| end > *was);
        let samples = used.map(|(_, us)| (now_us - us).max(1)).collect();
        self.promised.retain(|(was, _)| end <= *was);
        samples
    }
}
