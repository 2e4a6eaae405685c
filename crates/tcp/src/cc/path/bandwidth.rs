//! A rate of delivery, and the gains it is multiplied with.

use std::time::Duration;

/// Bits of fraction in a [`Bandwidth`] (Linux's `BW_SCALE`).
const SHIFT: u32 = 24;

/// Bits of fraction in a [`Gain`] (Linux's `BBR_SCALE`).
const GAIN_SHIFT: u32 = 8;

/// Pacing stays this far below the estimate, in percent, so that queues shrink on average.
const PACING_MARGIN: u64 = 1;

/// Segments per microsecond, in fixed point: one unit is about 700 bit/s.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::cc) struct Bandwidth(u64);

impl Bandwidth {
    /// Nothing is known yet.
    pub const ZERO: Self = Self(0);

    /// No bound.
    pub const INFINITE: Self = Self(u64::MAX);

    /// The rate of `segments` in the time `over`, which is taken in whole microseconds, at least one.
    pub fn new(segments: u64, over: Duration) -> Self {
        Self((segments << SHIFT) / micros(over).max(1))
    }

    /// Segments that it carries in the time `over`, rounded down.
    pub fn segments(self, over: Duration) -> u64 {
        self.0.saturating_mul(micros(over)) >> SHIFT
    }

    /// Segments in flight that make it with the round trip `rtt`, times `gain`: rounded up, lest the
    /// rate sink by rounding alone (Linux's `bbr_bdp`).
    pub fn bdp(self, rtt: Duration, gain: Gain) -> u32 {
        let volume = gain.times(self.0.saturating_mul(micros(rtt)));
        u32::try_from(volume.div_ceil(1 << SHIFT)).unwrap_or(u32::MAX)
    }

    /// Bytes a second at which to pace segments of `mss` bytes, the margin deducted (Linux's
    /// `bbr_rate_bytes_per_sec`, in its order of operations).
    pub fn pacing_rate(self, mss: u32, gain: Gain) -> u64 {
        let scaled = gain.times(self.0.saturating_mul(mss.into()));
        scaled.saturating_mul(1_000_000 / 100 * (100 - PACING_MARGIN)) >> SHIFT
    }

    /// This rate times `gain`.
    pub fn scaled(self, gain: Gain) -> Self {
        Self(gain.times(self.0))
    }

    /// How far apart two rates are.
    pub fn abs_diff(self, other: Self) -> Self {
        Self(self.0.abs_diff(other.0))
    }

    /// The mean of two rates.
    pub fn mean(self, other: Self) -> Self {
        Self((self.0 + other.0) >> 1)
    }
}

/// A factor, in 1/256.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::cc) struct Gain(u32);

impl Gain {
    /// Neither more nor less.
    pub const ONE: Self = Self(1 << GAIN_SHIFT);

    /// The fraction `numerator / denominator`, rounded down.
    pub const fn ratio(numerator: u32, denominator: u32) -> Self {
        Self((numerator << GAIN_SHIFT) / denominator)
    }

    /// The smallest gain that is larger than the fraction `numerator / denominator`.
    pub const fn above(numerator: u32, denominator: u32) -> Self {
        Self(Self::ratio(numerator, denominator).0 + 1)
    }

    /// `value` times this, rounded down.
    pub fn times(self, value: u64) -> u64 {
        value.saturating_mul(self.0.into()) >> GAIN_SHIFT
    }
}

fn micros(d: Duration) -> u64 {
    u64::try_from(d.as_micros()).unwrap_or(u64::MAX)
}
