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

/// Without: "the time between when a byte is first acknowledged and the receipt of data that is at
/// least one window beyond the sequence number that was acknowledged" (Algorithm 1).
#[derive(Default)]
pub struct DrsRtt {
    /// The byte awaited, and since when.
    awaited: Option<(u64, u64)>,
}

impl DrsRtt {
    pub fn acknowledged(&mut self, ack: u64, window: u64, now_us: u64) {
        self.awaited.get_or_insert((ack + window, now_us));
    }

    pub fn received(&mut self, end_seq: u64, now_us: u64) -> Option<u64> {
        let (_, since_us) = self.awaited.take_if(|(seq, _)| end_seq >= *seq)?;
        Some((now_us - since_us).max(1))
    }
}
