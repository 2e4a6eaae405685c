//! Many pairs of hosts of the overlay, one at a time.

use super::network::TCP;
use super::overlay::{Overlay, Terms, mpath_name};
use std::sync::Arc;
use tidegate_scenario::TransferResult;
use tidegate_study::{Case, Extent, Sample};

/// The runs, in words.
pub const METHOD: &str = "A generated overlay (reproductions/mpath/overlay.rs states its assumptions): 60 systems, core links between each two, 450 \
     proxies. How many pairs have their bottleneck in the core is an assumption, so the shares of pairs that gain say how mPath \
     fares on such an overlay, not how the Internet is. Nothing else happens on a link: its rate is what others leave.";

/// The pairs, and the length of their runs.
#[derive(Clone)]
pub struct Pairs {
    overlay: Arc<Overlay>,
    seconds: f64,
}

impl Pairs {
    /// 500 pairs for ten minutes each, where the thesis has 30; a sample with `--quick`.
    pub fn new(extent: &Extent) -> Self {
        let (pairs, seconds) = if extent.quick || extent.lab {
            (40, 240.0)
        } else {
            (500, 600.0)
        };
        Self {
            overlay: Arc::new(Overlay::new(pairs)),
            seconds,
        }
    }

    /// The overlay of the pairs.
    pub fn overlay(&self) -> &Overlay {
        &self.overlay
    }

    /// Length of each run.
    pub fn seconds(&self) -> f64 {
        self.seconds
    }

    /// mPath between a pair.
    pub fn mpath(&self, pair: usize, terms: Terms) -> Case {
        self.overlay.mpath(pair, self.seconds, terms)
    }

    /// TCP between a pair.
    pub fn tcp(&self, pair: usize) -> Case {
        self.overlay.tcp(pair, self.seconds)
    }

    /// Every pair.
    pub fn all(&self) -> std::ops::Range<usize> {
        0..self.overlay.pairs()
    }

    /// The pairs for parameter sweeps: every fifth.
    pub fn some(&self) -> impl Iterator<Item = usize> {
        self.all().step_by(5)
    }

    /// mPath's goodput ÷ TCP's.
    pub fn ratio(&self, sample: &Sample, pair: usize) -> f64 {
        self.ratio_of(sample, pair, &mpath_name(pair, Terms::THESIS))
    }

    /// The same ratio for another case of mPath.
    pub fn ratio_of(&self, sample: &Sample, pair: usize, case: &str) -> f64 {
        sample.goodput(case) / sample.goodput(&format!("pair {pair}, {TCP}"))
    }

    /// mPath's goodput ÷ TCP's, of every pair.
    pub fn ratios(&self, sample: &Sample) -> Vec<f64> {
        self.all().map(|pair| self.ratio(sample, pair)).collect()
    }

    /// mPath and TCP between every pair.
    pub fn cases(&self) -> Vec<Case> {
        let both = |pair| [self.mpath(pair, Terms::THESIS), self.tcp(pair)];
        self.all().flat_map(both).collect()
    }
}

/// Percentage of the values for which `test` holds.
pub fn share(values: &[f64], test: impl Fn(f64) -> bool) -> f64 {
    100.0 * values.iter().filter(|&&value| test(value)).count() as f64 / values.len() as f64
}

/// The result of a case's transfer.
pub fn transfer<'a>(sample: &Sample<'a>, case: &str) -> &'a TransferResult {
    let run = sample.runs(case).next().expect("a run");
    run.transfers.first().expect("a transfer")
}
