//! A cell's rate, one transmission time interval after another.
//!
//! The logarithm of the rate is the sum of two mean-reverting walks: a slow one for the distance, shadowing and load
//! that a moving user meets, and a fast one for multipath. Two kinds of dip modulate it: *fades* leave a fraction of
//! the rate for a second or more (a building, a crowded sector), *outages* leave nothing (the scheduler serves others,
//! a handover). Most recorded outages are short, with a long tail, which a Lomax (shifted Pareto) distribution fits.

use super::super::{tti::Intervals, whole_bps};
use super::profile::{Dips, Profile, Walk};
use rand::SeedableRng;
use rand_pcg::Pcg64Mcg;
use std::time::Duration;
use tidegate_basics::random::{exponential, normal, pareto};

/// No cell is faster than this many times its mean.
const PEAK: f64 = 10.0;

/// A cell's rate under way, seeded.
#[derive(Clone, Debug)]
pub(super) struct Radio {
    rng: Pcg64Mcg,
    tti: Duration,
    /// Rate while both walks are at 0, in bit/s.
    median_bps: f64,
    peak_bps: f64,
    slow: Walker,
    fast: Walker,
    fades: Dipper,
    outages: Dipper,
}

impl Radio {
    pub(super) fn new(profile: &Profile, mean_bps: f64, seed: u64) -> Self {
        let mut rng = Pcg64Mcg::seed_from_u64(seed);
        let tti = profile.tti;
        let square = |walk: &Walk| walk.deviation * walk.deviation;
        let variance = square(&profile.slow) + square(&profile.fast);
        let remainder = profile.fades.remainder() * profile.outages.remainder();
        Self {
            tti: Duration::from_secs_f64(tti),
            // A log-normal variable's mean is exp(variance/2) times its median.
            median_bps: mean_bps / remainder * libm::exp(-variance / 2.0),
            peak_bps: PEAK * mean_bps,
            slow: Walker::new(&profile.slow, tti, &mut rng),
            fast: Walker::new(&profile.fast, tti, &mut rng),
            fades: Dipper::new(&profile.fades, tti),
            outages: Dipper::new(&profile.outages, tti),
            rng,
        }
    }
}

impl Intervals for Radio {
    fn tti(&self) -> Duration {
        self.tti
    }

    /// Rates are rounded to whole bit/s.
    fn next_nanobits(&mut self) -> u64 {
        let Self { rng, .. } = self;
        let nepers = self.slow.step(rng) + self.fast.step(rng);
        let level = self.fades.step(rng) * self.outages.step(rng);
        if level == 0.0 {
            return 0;
        }
        let rate = whole_bps((self.median_bps * level * libm::exp(nepers)).min(self.peak_bps));
        rate * self.tti.as_nanos() as u64
    }
}

/// A [`Walk`] under way.
#[derive(Clone, Debug)]
struct Walker {
    /// Nepers from the median.
    at: f64,
    /// Share of the distance that is left after an interval.
    memory: f64,
    /// Standard deviation of an interval's step.
    step: f64,
}

impl Walker {
    /// Starts at a draw from the stationary distribution.
    fn new(walk: &Walk, tti: f64, rng: &mut Pcg64Mcg) -> Self {
        let memory = libm::exp(-tti / walk.time);
        Self {
            at: walk.deviation * normal(rng),
            memory,
            step: walk.deviation * (1.0 - memory * memory).sqrt(),
        }
    }

    fn step(&mut self, rng: &mut Pcg64Mcg) -> f64 {
        self.at = self.memory * self.at + self.step * normal(rng);
        self.at
    }
}

/// [`Dips`] under way. They and the times between them last whole intervals.
///
/// ```text
///        exponential
///  up ───────────────▶ down
///   ▲   Lomax, cut off  │
///   └───────────────────┘
/// ```
#[derive(Clone, Debug)]
struct Dipper {
    down: bool,
    /// Intervals left of this state.
    left: u64,
    tti: f64,
    /// Mean seconds between dips.
    mean_up: f64,
    scale: f64,
    shape: f64,
    longest: f64,
    depth: f64,
}

impl Dipper {
    /// Starts as if a dip had just ended.
    fn new(dips: &Dips, tti: f64) -> Self {
        Self {
            down: true,
            left: 0,
            tti,
            mean_up: dips.mean_between(),
            scale: dips.scale,
            shape: dips.shape,
            longest: dips.longest,
            depth: dips.depth,
        }
    }

    /// Share of the rate that is left in the next interval.
    fn step(&mut self, rng: &mut Pcg64Mcg) -> f64 {
        while self.left == 0 {
            self.down = !self.down;
            let intervals = |seconds: f64| (seconds / self.tti).round() as u64;
            self.left = match self.down {
                true => intervals(self.dip(rng)),
                // At least one interval: without a gap, two dips would be one longer dip.
                false => intervals(self.mean_up * exponential(rng)).max(1),
            };
        }
        self.left -= 1;
        if self.down { self.depth } else { 1.0 }
    }

    /// Seconds that a dip lasts: a Pareto distribution shifted to 0, cut off.
    fn dip(&self, rng: &mut Pcg64Mcg) -> f64 {
        (self.scale * pareto(rng, self.shape) - self.scale).min(self.longest)
    }
}
