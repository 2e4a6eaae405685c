//! Two clocks that were never set: how far apart they are, and how fast that changes, from pings and pongs.
//!
//! In each direction the packets with the shortest delay met no queue. If the client's clock is ahead by θ(t) = o +
//! s·t, the way up seems shorter by θ and the way down longer: their lower envelopes lean opposite ways. s is the slope
//! at which the two envelopes together lie highest, a linear programme in one unknown (after S. Moon, P. Skelly and D.
//! Towsley, "Estimation and removal of clock skew", INFOCOM 1999, here for both directions at once, so that one of them
//! may stand in a queue for long).
//!
//! **Limit.** If the empty path takes longer in one direction than in the other, no exchange of packets can show that.
//! Both are assumed to be equal; o is wrong by half of the difference, at most by half of the least round trip.
//! Queueing delays do not depend on it.

use crate::Echo;
use serde::{Deserialize, Serialize};
use tidegate_basics::time::Instant;

/// The client's clock against the server's.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
pub struct ClockEstimate {
    /// How far it is ahead in the middle of the measurement, in milliseconds.
    pub ahead_ms: f64,
    /// The largest error of that: half of the least round trip.
    pub ahead_within_ms: f64,
    /// How much faster it runs, in parts per million.
    pub skew_ppm: f64,
    /// The largest error of that: the slope that blurs the envelopes by [`BLUR_MS`] over the measurement.
    pub skew_within_ppm: f64,
    /// The middle of the measurement, in seconds by the client's clock.
    middle_s: f64,
}

/// By how much delays through hosts vary, however empty the queues are.
pub const BLUR_MS: f64 = 0.2;

/// A clock that runs faster or slower by more is broken.
const FASTEST: f64 = 1e-3;

/// The estimate; none without a pong.
pub fn clock(echoes: &[Echo]) -> Option<ClockEstimate> {
    let (first, last) = (echoes.first()?, echoes.last()?);
    let middle_s = (first.asked.as_secs_f64() + last.asked.as_secs_f64()) / 2.0;
    let points: Vec<[f64; 3]> = echoes.iter().map(|echo| point(echo, middle_s)).collect();
    let envelopes = |skew: f64| {
        let least = |side: usize, sign: f64| {
            let value = |p: &[f64; 3]| p[side] + sign * skew * p[0];
            points.iter().map(value).fold(f64::INFINITY, f64::min)
        };
        [least(1, 1.0), least(2, -1.0)]
    };
    let height = |skew: f64| envelopes(skew).iter().sum::<f64>();
    let skew = highest(height, -FASTEST, FASTEST);
    let [up, down] = envelopes(skew);
    let blurred = |edge: f64| boundary(|s| height(s) > height(skew) - BLUR_MS / 1e3, skew, edge);
    Some(ClockEstimate {
        ahead_ms: (down - up) / 2.0 * 1e3,
        ahead_within_ms: (down + up) / 2.0 * 1e3,
        skew_ppm: skew * 1e6,
        skew_within_ppm: (blurred(FASTEST) - blurred(-FASTEST)) / 2.0 * 1e6,
        middle_s,
    })
}

impl ClockEstimate {
    /// Corrects for an empty path that takes `seconds` longer up than down, for example because of the time to send a
    /// ping at a slow uplink's rate.
    #[must_use]
    pub fn longer_up(self, seconds: f64) -> Self {
        Self {
            ahead_ms: self.ahead_ms + seconds / 2.0 * 1e3,
            ..self
        }
    }

    /// One-way delays of a ping and its pong, up and down, in seconds.
    pub fn one_way_s(&self, echo: &Echo) -> [f64; 2] {
        let [t, up, down] = point(echo, self.middle_s);
        let ahead = self.ahead_ms / 1e3 + self.skew_ppm / 1e6 * t;
        [up + ahead, down - ahead]
    }

    /// How long a packet to the client was on its way, in seconds.
    pub fn down_s(&self, sent: Instant, arrived: Instant) -> f64 {
        let t = arrived.as_secs_f64() - self.middle_s;
        difference_s(arrived, sent) - self.ahead_ms / 1e3 - self.skew_ppm / 1e6 * t
    }
}

/// Seconds from the middle, and the delays up and down by the two clocks.
fn point(echo: &Echo, middle_s: f64) -> [f64; 3] {
    [
        echo.asked.as_secs_f64() - middle_s,
        difference_s(echo.answered, echo.asked),
        difference_s(echo.heard, echo.answered),
    ]
}

fn difference_s(later: Instant, earlier: Instant) -> f64 {
    (later.as_nanos() as i64 - earlier.as_nanos() as i64) as f64 / 1e9
}

/// The place where a concave function is highest.
fn highest(f: impl Fn(f64) -> f64, mut low: f64, mut high: f64) -> f64 {
    // A third less each time: 10⁻³ becomes 10⁻¹² after 52.
    for _ in 0..52 {
        let third = (high - low) / 3.0;
        let (left, right) = (low + third, high - third);
        match f(left) < f(right) {
            true => low = left,
            false => high = right,
        }
    }
    (low + high) / 2.0
}

/// How far from `inside` towards `edge` the condition holds.
fn boundary(holds: impl Fn(f64) -> bool, inside: f64, edge: f64) -> f64 {
    let (mut good, mut bad) = (inside, edge);
    for _ in 0..40 {
        let middle = (good + bad) / 2.0;
        match holds(middle) {
            true => good = middle,
            false => bad = middle,
        }
    }
    good
}
