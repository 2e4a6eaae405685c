//! A walk through a cell: signal over time, and the rate that it gives.

use super::tti::{Cursor, Intervals, Replay};
use super::{Meter, Model, Rate, Service};
use crate::Instant;
use rand::SeedableRng;
use rand_pcg::Pcg64Mcg;
use std::sync::Arc;
use std::time::Duration;
use tidegate_basics::random::normal;

/// LTE's transmission time interval.
const TTI: Duration = Duration::from_millis(1);

/// LTE's modulation and coding schemes, worst first: from which signal-to-noise ratio on, in dB,
/// less than a tenth of the blocks are lost (C. Mehlführer et al., "Simulating the Long Term
/// Evolution physical layer", EUSIPCO 2009), and the bits per symbol in ten-thousandths (3GPP TS
/// 36.213, Table 7.2.3-1: CQI 1 to 15).
const SCHEMES: [(f64, u64); 15] = [
    (-6.936, 1_523),
    (-5.147, 2_344),
    (-3.180, 3_770),
    (-1.253, 6_016),
    (0.761, 8_770),
    (2.699, 11_758),
    (4.694, 14_766),
    (6.525, 19_141),
    (8.573, 24_063),
    (10.366, 27_305),
    (12.289, 33_223),
    (14.173, 39_023),
    (15.888, 45_234),
    (17.814, 51_152),
    (19.829, 55_547),
];

/// A user's way through a cell, looped: a signal-to-noise ratio that is piecewise linear in time,
/// with fading on top, and the rate that LTE's modulation and coding schemes make of it. Below
/// −6.9 dB there is no connection.
#[derive(Clone, Debug, PartialEq)]
pub struct SignalWalk {
    /// Nanoseconds and dB; the first at 0, in order, not empty.
    points: Vec<(u64, f64)>,
    /// Rate of the best scheme, in bit/s.
    peak_bps: u64,
    fading: Option<Fading>,
    seed: u64,
}

/// Fast fading: a mean-reverting (Ornstein-Uhlenbeck) walk in dB.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fading {
    /// Its standard deviation, in dB.
    pub deviation_db: f64,
    /// Correlation time, at least 2 ms.
    pub coherence: Duration,
}

/// Why points do not make a walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WalkError {
    /// The points are not what they should be.
    #[error("expected at least one point, the first at 0 s, in order of time, finite dB")]
    Points,
    /// There is never a connection.
    #[error("no point of the walk has a signal, expected -6.9 dB or more for some milliseconds")]
    Silence,
}

impl SignalWalk {
    /// A walk through `points` of time and signal-to-noise ratio in dB. It starts anew at the last
    /// point; a single point stands still. The best scheme carries `peak_bps`.
    ///
    /// # Errors
    /// When the points are out of order, or nothing could ever be carried.
    pub fn new(
        points: &[(Duration, f64)],
        peak_bps: f64,
        fading: Option<Fading>,
        seed: u64,
    ) -> Result<Self, WalkError> {
        let in_order = points.windows(2).all(|w| w[0].0 < w[1].0);
        let starts = points.first().is_some_and(|p| p.0.is_zero());
        if !starts || !in_order || points.iter().any(|p| !p.1.is_finite()) {
            return Err(WalkError::Points);
        }
        let walk = Self {
            points: points
                .iter()
                .map(|&(at, db)| (at.as_nanos() as u64, db))
                .collect(),
            peak_bps: super::whole_bps(peak_bps),
            fading,
            seed,
        };
        if walk.mean_bps() >= 1.0 {
            Ok(walk)
        } else {
            Err(WalkError::Silence)
        }
    }

    /// How long the walk is before it starts anew.
    pub fn period(&self) -> Duration {
        let last = self.points.last().map_or(0, |p| p.0);
        Duration::from_nanos(last).max(TTI)
    }

    /// Mean rate in bit/s, fading apart.
    pub fn mean_bps(&self) -> f64 {
        let intervals = self.period().as_nanos().div_ceil(TTI.as_nanos()) as u64;
        let sum: u128 = (0..intervals)
            .map(|n| u128::from(self.bps(self.signal_at(start(n)))))
            .sum();
        sum as f64 / intervals as f64
    }

    /// The signal-to-noise ratio at `t` in dB, fading apart.
    pub fn signal_at(&self, t: Instant) -> f64 {
        let within = t.as_nanos() % self.period().as_nanos() as u64;
        let next = self.points.partition_point(|p| p.0 <= within);
        let (from, db) = self.points[next - 1];
        self.points.get(next).map_or(db, |&(to, to_db)| {
            db + (to_db - db) * (within - from) as f64 / (to - from) as f64
        })
    }

    /// The rate of the best scheme that the signal allows.
    fn bps(&self, db: f64) -> u64 {
        let best = SCHEMES.partition_point(|&(from, _)| from <= db);
        let (_, top) = SCHEMES[SCHEMES.len() - 1];
        best.checked_sub(1).map_or(0, |i| {
            (u128::from(self.peak_bps) * u128::from(SCHEMES[i].1) / u128::from(top)) as u64
        })
    }

    /// Its opportunities from the start of the run.
    fn cursor(walk: &Arc<Self>) -> Cursor<Signal> {
        Cursor::new(Signal::new(walk.clone()))
    }
}

impl Model for SignalWalk {
    fn mean_bps(&self) -> f64 {
        self.mean_bps()
    }

    fn period(&self) -> Option<Duration> {
        Some(self.period())
    }

    /// Another user on the same kind of walk, with his own fading.
    fn neighbour(&self, index: u64) -> Option<Rate> {
        let other = Self {
            seed: self.seed.wrapping_add(index << 32),
            ..self.clone()
        };
        Some(other.into())
    }

    fn walk(self: Arc<Self>) -> Option<Arc<SignalWalk>> {
        Some(self)
    }

    fn service(self: Arc<Self>) -> Service {
        Service::Opportunities(Box::new(Self::cursor(&self)))
    }

    fn meter(self: Arc<Self>) -> Box<dyn Meter> {
        Box::new(Replay::new(Self::cursor(&self)))
    }
}

/// When the `n`th interval starts.
fn start(n: u64) -> Instant {
    Instant::from_nanos(n * TTI.as_nanos() as u64)
}

/// A walk under way. The same walk always gives the same signal, however often it is asked.
#[derive(Clone, Debug)]
pub(crate) struct Signal {
    walk: Arc<SignalWalk>,
    rng: Pcg64Mcg,
    /// Intervals begun.
    begun: u64,
    /// The fading in the last one begun, in dB.
    fading: f64,
}

impl Signal {
    pub(crate) fn new(walk: Arc<SignalWalk>) -> Self {
        let mut rng = Pcg64Mcg::seed_from_u64(walk.seed);
        let fading = walk
            .fading
            .map_or(0.0, |f| f.deviation_db * normal(&mut rng));
        Self {
            walk,
            rng,
            begun: 0,
            fading,
        }
    }

    /// The signal in dB in the interval that ends at or contains `t`; `t` never decreases.
    pub(crate) fn at(&mut self, t: Instant) -> f64 {
        let interval = t.as_nanos().saturating_sub(1) / TTI.as_nanos() as u64;
        while self.begun <= interval {
            self.begin();
        }
        self.db()
    }

    /// The signal in the last interval begun.
    fn db(&self) -> f64 {
        self.walk.signal_at(start(self.begun.saturating_sub(1))) + self.fading
    }

    /// Begins the next interval. The fading is a first-order autoregression, whose memory is
    /// 1 − TTI/coherence and not e^(−TTI/coherence): no rounding differs between machines.
    fn begin(&mut self) {
        self.begun += 1;
        if let Some(Fading {
            deviation_db,
            coherence,
        }) = self.walk.fading
        {
            let forgotten = (TTI.as_nanos() as f64 / coherence.as_nanos() as f64).min(0.5);
            let memory = 1.0 - forgotten;
            let step = deviation_db * (1.0 - memory * memory).sqrt();
            self.fading = memory * self.fading + step * normal(&mut self.rng);
        }
    }
}

impl Intervals for Signal {
    fn tti(&self) -> Duration {
        TTI
    }

    fn next_nanobits(&mut self) -> u64 {
        self.begin();
        self.walk.bps(self.db()) * TTI.as_nanos() as u64
    }
}

#[cfg(test)]
mod tests;
