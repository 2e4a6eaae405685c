//! Round-trip times: the smoothed one and the retransmission timeout after RFC 6298 as Linux has it, and the smallest
//! recent one.

use super::clock::micros;
use std::time::Duration;
use tidegate_basics::time::Instant;

/// Least retransmission timeout in microseconds (`TCP_RTO_MIN`; RFC 6298 §2.4 would have a second).
pub(super) const RTO_MIN: u32 = 200_000;

/// Largest retransmission timeout (`TCP_RTO_MAX`).
pub(super) const RTO_MAX: u32 = 120_000_000;

/// Timeout without any measurement because the SYN was sent twice (RFC 6298 §5.7,
/// `TCP_TIMEOUT_FALLBACK`).
const RTO_FALLBACK: u32 = 3_000_000;

/// For how many microseconds the smallest round trip counts (`tcp_min_rtt_wlen`).
const MIN_RTT_WINDOW: u32 = 300_000_000;

/// Linux takes a round trip of 0 for this, a tick, where it looks for the smallest.
const TICK: u32 = 1000;

/// Estimates, in microseconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rtt {
    /// Eight times the smoothed round trip; 0: not measured yet.
    srtt8: u32,
    /// Four times the mean deviation.
    mdev4: u32,
    /// The largest `mdev4` of the current window, at least [`RTO_MIN`].
    mdev_max: u32,
    /// The largest of the last windows, which the timeout adds to the smoothed round trip.
    var: u32,
    /// The window of deviations lasts until this offset is acknowledged.
    window_end: u64,
    /// Retransmission timeout, backoff included.
    rto: u32,
    /// Doublings of the timeout, or of the probe's interval (`icsk_backoff`).
    backoff: u32,
    last: Option<u32>,
    min: MinFilter,
}

impl Rtt {
    /// With the handshake's round trip, if that is known.
    pub(super) fn new(now: Instant, handshake: Option<u32>, una: u64, next: u64) -> Self {
        let mut rtt = Self {
            srtt8: 0,
            mdev4: RTO_FALLBACK,
            mdev_max: RTO_FALLBACK,
            var: RTO_FALLBACK,
            window_end: next,
            rto: RTO_FALLBACK,
            backoff: 0,
            last: None,
            min: MinFilter::new(now),
        };
        if let Some(sample) = handshake {
            rtt.sample_min(now, sample, false);
            rtt.sample(sample, una, next);
        }
        rtt
    }

    /// A measurement (`tcp_rtt_estimator`, `tcp_set_rto`).
    pub(super) fn sample(&mut self, sample: u32, una: u64, next: u64) {
        self.last = Some(sample);
        if self.srtt8 == 0 {
            self.srtt8 = sample.saturating_mul(8).max(1);
            self.mdev4 = sample.saturating_mul(2);
            self.var = self.mdev4.max(RTO_MIN);
            self.mdev_max = self.var;
            self.window_end = next;
        } else {
            self.smooth(sample);
            if una > self.window_end {
                if self.mdev_max < self.var {
                    self.var -= (self.var - self.mdev_max) / 4;
                }
                self.window_end = next;
                self.mdev_max = RTO_MIN;
            }
        }
        self.rto = (self.srtt8 / 8).saturating_add(self.var).min(RTO_MAX);
        self.backoff = 0;
    }

    fn smooth(&mut self, sample: u32) {
        let error = i64::from(sample) - i64::from(self.srtt8 / 8);
        self.srtt8 = (i64::from(self.srtt8) + error).clamp(1, u32::MAX.into()) as u32;
        let mut change = error.abs() - i64::from(self.mdev4 / 4);
        // Like Eifel's: a falling round trip must not raise the timeout.
        if error < 0 && change > 0 {
            change /= 8;
        }
        self.mdev4 = (i64::from(self.mdev4) + change).clamp(0, u32::MAX.into()) as u32;
        if self.mdev4 > self.mdev_max {
            self.mdev_max = self.mdev4;
            self.var = self.var.max(self.mdev_max);
        }
    }

    /// A measurement for the smallest recent round trip (`tcp_update_rtt_min`). One that the peer may have delayed does
    /// not raise it.
    pub(super) fn sample_min(&mut self, now: Instant, sample: u32, delayed: bool) {
        if !(delayed && self.min_us().is_some_and(|min| sample > min)) {
            self.min
                .update(now, if sample == 0 { TICK } else { sample });
        }
    }

    /// Doubles the timeout.
    pub(super) fn back_off(&mut self) {
        self.backoff += 1;
        self.rto = self.rto.saturating_mul(2).min(RTO_MAX);
    }

    /// The next probe of a closed window comes after twice the time, `most` doublings altogether.
    pub(super) fn back_off_probes(&mut self, most: u32) {
        self.backoff = (self.backoff + 1).min(most);
    }

    /// Doublings of the timeout, or of the probe's interval.
    pub(super) fn backoff(&self) -> u32 {
        self.backoff
    }

    /// The doublings are over, though nothing was measured.
    pub(super) fn end_backoff(&mut self) {
        self.backoff = 0;
    }

    /// Retransmission timeout.
    pub(super) fn rto_us(&self) -> u32 {
        self.rto
    }

    /// The smoothed round trip; 0: not measured yet.
    pub(super) fn srtt_us(&self) -> u32 {
        self.srtt8 / 8
    }

    /// The smallest recent round trip, in microseconds.
    pub(super) fn min_us(&self) -> Option<u32> {
        self.min.get()
    }

    /// The smallest recent round trip.
    pub(super) fn min(&self) -> Option<Duration> {
        self.min_us().map(|us| Duration::from_micros(us.into()))
    }

    /// The smoothed round trip.
    pub(super) fn srtt(&self) -> Option<Duration> {
        (self.srtt8 != 0).then(|| Duration::from_micros(u64::from(self.srtt8) / 8))
    }

    /// The mean deviation of round trips (`tcpi_rttvar`).
    pub(super) fn var(&self) -> Duration {
        Duration::from_micros(u64::from(self.mdev4) / 4)
    }

    /// The last measurement.
    pub(super) fn last(&self) -> Option<Duration> {
        self.last.map(|us| Duration::from_micros(us.into()))
    }
}

/// The smallest value of a sliding window from three of its values (Kathleen Nichols' algorithm,
/// Linux's `win_minmax.c`).
#[derive(Clone, Copy, Debug)]
struct MinFilter {
    /// Best, second and third best, in the order of their times.
    best: [(Instant, u32); 3],
}

impl MinFilter {
    const NONE: u32 = u32::MAX;

    fn new(now: Instant) -> Self {
        Self {
            best: [(now, Self::NONE); 3],
        }
    }

    fn get(&self) -> Option<u32> {
        Some(self.best[0].1).filter(|&min| min != Self::NONE)
    }

    fn update(&mut self, now: Instant, value: u32) {
        let new = (now, value);
        let b = &mut self.best;
        if value <= b[0].1 || micros(b[2].0, now) > MIN_RTT_WINDOW {
            *b = [new; 3];
            return;
        }
        if value <= b[1].1 {
            b[1] = new;
            b[2] = new;
        } else if value <= b[2].1 {
            b[2] = new;
        }
        self.slide(new);
    }

    /// Drops the best when it is too old, and keeps the others from separate parts of the window.
    fn slide(&mut self, new: (Instant, u32)) {
        let b = &mut self.best;
        let age = micros(b[0].0, new.0);
        if age > MIN_RTT_WINDOW {
            *b = [b[1], b[2], new];
            if micros(b[0].0, new.0) > MIN_RTT_WINDOW {
                *b = [b[1], b[2], new];
            }
        } else if b[1].0 == b[0].0 && age > MIN_RTT_WINDOW / 4 {
            b[1] = new;
            b[2] = new;
        } else if b[2].0 == b[1].0 && age > MIN_RTT_WINDOW / 2 {
            b[2] = new;
        }
    }
}
