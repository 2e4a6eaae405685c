//! A path's round trip, and how long to wait for it (RFC 6298).

use std::time::Duration;

/// Timeout before there is a measurement (RFC 6298 §2.1).
const INITIAL: Duration = Duration::from_secs(1);

/// Least time that the timeout leaves above the smoothed round trip (Linux's `TCP_RTO_MIN`): the
/// receiver's 10 ms are small beside it.
const LEAST_MARGIN: Duration = Duration::from_millis(200);

/// Largest timeout (RFC 6298 §2.5).
const LARGEST: Duration = Duration::from_secs(60);

/// Estimates.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rtt {
    smoothed: Option<Duration>,
    deviation: Duration,
    /// Doublings of the timeout.
    backoff: u32,
}

impl Rtt {
    /// A measurement (RFC 6298 §2.2, §2.3).
    pub fn sample(&mut self, sample: Duration) {
        match self.smoothed {
            None => {
                self.smoothed = Some(sample);
                self.deviation = sample / 2;
            }
            Some(smoothed) => {
                self.deviation = (self.deviation * 3 + smoothed.abs_diff(sample)) / 4;
                self.smoothed = Some((smoothed * 7 + sample) / 8);
            }
        }
        self.backoff = 0;
    }

    /// The smoothed round trip.
    pub fn smoothed(&self) -> Option<Duration> {
        self.smoothed
    }

    /// How long nothing may be heard about a packet that was sent.
    pub fn timeout(&self) -> Duration {
        let once = match self.smoothed {
            None => INITIAL,
            Some(smoothed) => smoothed + (self.deviation * 4).max(LEAST_MARGIN),
        };
        (once * (1 << self.backoff.min(6))).min(LARGEST)
    }

    /// The timeout has passed: the next is twice as long (RFC 6298 §5.5).
    pub fn back_off(&mut self) {
        self.backoff += 1;
    }
}
