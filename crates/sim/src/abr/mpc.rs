//! Model-predictive control: robustMPC of Yin et al., "A control-theoretic approach for dynamic adaptive video streaming over
//! HTTP", SIGCOMM 2015, section 5.
//!
//! It tries all plans of steps for the next segments, takes the one with the best quality of experience if every
//! segment comes at the predicted throughput, and requests that plan's first step. The prediction is the harmonic mean
//! of the last segments' throughputs, divided by 1 plus the largest recent relative error of predictions.

use super::PAST;
use std::collections::VecDeque;
use tidegate_scenario::{AdaptiveVideoSpec, QoeSpec};

/// Number of segments in a plan (section 7.1).
const HORIZON: usize = 5;

/// The controller, with the errors of its predictions.
#[derive(Debug)]
pub struct RobustMpc {
    segment_s: f64,
    buffer_s: f64,
    weights: QoeSpec,
    predicted: Option<f64>,
    errors: VecDeque<f64>,
}

impl RobustMpc {
    /// The controller of a video.
    pub fn new(spec: &AdaptiveVideoSpec) -> Self {
        Self {
            segment_s: spec.segment_s,
            buffer_s: spec.buffer_s,
            weights: spec.qoe,
            predicted: None,
            errors: VecDeque::new(),
        }
    }

    /// A segment has arrived at that many Mbit/s.
    pub fn observe(&mut self, mbps: f64) {
        let error = self
            .predicted
            .map_or(0.0, |predicted| (predicted - mbps).abs() / mbps);
        self.errors.push_back(error);
        if self.errors.len() > PAST {
            self.errors.pop_front();
        }
    }

    /// The step after `last`, if the harmonic mean is `predicted` Mbit/s.
    pub fn choose(
        &mut self,
        ladder: &[f64],
        predicted: f64,
        buffered_s: f64,
        last: usize,
    ) -> usize {
        self.predicted = Some(predicted);
        let error = self.errors.iter().copied().fold(0.0, f64::max);
        let mut search = Search {
            mpc: self,
            ladder,
            mbps: predicted / (1.0 + error),
            best: (f64::NEG_INFINITY, last),
        };
        search.extend(0, None, last, (buffered_s, 0.0));
        search.best.1
    }
}

/// A search through all plans.
struct Search<'a> {
    mpc: &'a RobustMpc,
    ladder: &'a [f64],
    /// Throughput of every segment.
    mbps: f64,
    /// The best plan's quality, and its first step.
    best: (f64, usize),
}

impl Search<'_> {
    /// Tries everything that can follow `planned` segments. The first of them has step `first`, the last has step
    /// `last`; after them the buffer holds that many seconds and their quality is that much. Of equally good plans the
    /// higher one wins.
    fn extend(
        &mut self,
        planned: usize,
        first: Option<usize>,
        last: usize,
        (buffered_s, quality): (f64, f64),
    ) {
        if let (HORIZON, Some(first)) = (planned, first) {
            if quality > self.best.0 {
                self.best = (quality, first);
            }
            return;
        }
        let highest = self.ladder[self.ladder.len() - 1];
        if quality + (HORIZON - planned) as f64 * highest <= self.best.0 {
            return;
        }
        for step in (0..self.ladder.len()).rev() {
            let (buffered_s, of_step) = self.segment(step, last, buffered_s);
            let first = first.or(Some(step));
            self.extend(planned + 1, first, step, (buffered_s, quality + of_step));
        }
    }

    /// The buffer after a segment, and the quality that the segment adds.
    fn segment(&self, step: usize, last: usize, buffered_s: f64) -> (f64, f64) {
        let RobustMpc {
            segment_s,
            buffer_s,
            weights,
            ..
        } = self.mpc;
        let takes_s = self.ladder[step] * segment_s / self.mbps;
        let stalled_s = (takes_s - buffered_s).max(0.0);
        let left_s = (buffered_s - takes_s).max(0.0) + segment_s;
        let change = (self.ladder[step] - self.ladder[last]).abs();
        let quality = self.ladder[step] - weights.switch * change - weights.stall_per_s * stalled_s;
        (left_s.min(*buffer_s), quality)
    }
}
