//! Measures of a download without a window, and their bounds relative to untouched Linux.

use super::super::contenders::Contender;
use super::super::trials::Trial;
use crate::means::{geometric_mean, least, mean, most};
use tidegate_scenario::RunResult;
use tidegate_study::{Claim, Sample};

/// Lower bound for delays, in milliseconds.
const FLOOR_MS: f64 = 0.5;

/// A number read from a run, and its bound as a multiple of untouched Linux's.
#[derive(Clone, Copy)]
pub struct Measure {
    pub name: &'static str,
    pub read: fn(&RunResult) -> f64,
    pub bound: Bound,
    /// Why a held CUBIC download misses it on some paths, if that is known.
    pub reason: &'static str,
}

/// A lower bound, an upper bound, or an upper bound that chance alone can exceed.
#[derive(Clone, Copy)]
pub enum Bound {
    Least(f64),
    Most(f64),
    About(f64),
}

/// Ratio by which two runs can differ by chance alone.
pub const CHANCE: f64 = 1.05;

/// Why a queue is not much shorter.
const SHALLOW: &str = "where a round trip is long or the link fast, untouched Linux's queue in 2000 packets is little more than what \
                       the link's swings need, and a download with a window misses it as well; on the other paths a sender that \
                       nothing is known of is only watched for the first 5 s";

const GOODPUT: Measure = Measure {
    name: "goodput",
    read: |run| {
        run.flows
            .first()
            .map_or(0.0, |flow| flow.goodput_bps)
            .max(1.0)
    },
    bound: Bound::Least(0.95),
    reason: "on links of a few hundred kbit/s each signal is a loss in a window of a dozen packets; on 5G it costs CUBIC a third of the \
             window for ten seconds, (0.75 w)^(1/3), in which the rate has risen again; most of the others are as far below with a window",
};
pub const MEAN_DELAY: Measure = Measure {
    name: "mean queueing delay",
    read: |run| run.link.queue_delay_ms.mean.max(FLOOR_MS),
    bound: Bound::Most(1.0 / 12.0),
    reason: SHALLOW,
};
const P95_DELAY: Measure = Measure {
    name: "95th percentile of the queueing delay",
    read: |run| run.link.queue_delay_ms.p95.max(FLOOR_MS),
    bound: Bound::Most(0.1),
    reason: SHALLOW,
};
const OWN_RTT: Measure = Measure {
    name: "95th percentile of its own round trip",
    read: |run| {
        run.flows
            .first()
            .map_or(0.0, |flow| flow.rtt_ms.p95)
            .max(FLOOR_MS)
    },
    bound: Bound::Most(0.25),
    reason: "where the base RTT alone is more than a quarter of untouched Linux's round trip nothing could be; and what the sender \
             has beyond the window waits here, for as long as it would have in the queue, until it is signalled",
};

/// Bounds for a held download.
pub const HELD: [Measure; 4] = [GOODPUT, MEAN_DELAY, P95_DELAY, OWN_RTT];

/// Bounds for a download that is let go: nothing waits longer than without us.
pub const LET_GO: [Measure; 3] = [
    Measure {
        reason: "",
        ..GOODPUT
    },
    MEAN_DELAY.about(1.0),
    P95_DELAY.about(1.0),
];

impl Measure {
    const fn about(self, ratio: f64) -> Self {
        Self {
            bound: Bound::About(ratio),
            reason: "",
            ..self
        }
    }

    /// As a multiple of untouched Linux's.
    pub fn ratio(&self, sample: &Sample, trial: &Trial, contender: Contender) -> f64 {
        let linux = contender.untouched();
        let [ours, theirs] = [contender, linux].map(|c| sample.mean(&trial.by(c), self.read));
        ours / theirs
    }

    pub fn misses(&self, ratio: f64) -> bool {
        match self.bound {
            Bound::Least(bound) => ratio < bound,
            Bound::Most(bound) => ratio > bound,
            Bound::About(bound) => ratio > bound * CHANCE,
        }
    }

    pub fn claim(&self) -> Claim {
        match self.bound {
            Bound::Least(bound) => Claim::at_least(bound, 0.0),
            // No gain means the same as untouched Linux.
            Bound::Most(bound) => Claim::at_most(bound, 1.0),
            Bound::About(bound) => Claim::at_most(bound, 2.0 * bound),
        }
    }

    /// The mean of several ratios, and the worst of them.
    pub fn mean(&self, ratios: impl Iterator<Item = f64>) -> f64 {
        match self.bound {
            Bound::Least(_) => mean(ratios),
            Bound::Most(_) | Bound::About(_) => geometric_mean(ratios),
        }
    }

    pub fn worst(&self, ratios: impl Iterator<Item = f64>) -> f64 {
        match self.bound {
            Bound::Least(_) => least(ratios),
            Bound::Most(_) | Bound::About(_) => most(ratios),
        }
    }
}
