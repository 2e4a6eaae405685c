//! Results of a study's runs.

use crate::Case;
use std::collections::BTreeMap;
use tidegate_scenario::{Direction, FetchResult, FlowResult, RunResult, Series};

/// The runs of a study, by case and seed.
#[derive(Debug, Default)]
pub struct Results {
    runs: BTreeMap<String, Vec<RunResult>>,
}

impl Results {
    /// Adds the result of a case's next seed.
    pub fn add(&mut self, case: &str, result: RunResult) {
        self.runs.entry(case.to_owned()).or_default().push(result);
    }

    /// All seeds together.
    pub fn all(&self) -> Sample<'_> {
        Sample {
            results: self,
            without: None,
        }
    }

    /// All seeds but one.
    pub fn without(&self, seed: usize) -> Sample<'_> {
        Sample {
            results: self,
            without: Some(seed),
        }
    }

    /// Number of seeds, for cases that are run with all of them.
    pub fn seeds(&self) -> usize {
        self.runs.values().map(Vec::len).max().unwrap_or(0)
    }

    /// Number of seeds with which all of those cases were run.
    pub fn seeds_of(&self, cases: &[Case]) -> usize {
        let runs = |case: &Case| self.runs.get(&case.name).map_or(0, Vec::len);
        cases.iter().map(runs).min().unwrap_or(0)
    }
}

/// Some of the seeds of every case. Numbers read from it are means over these seeds.
///
/// A case, flow or fetch that does not exist is a mistake in a figure, and panics.
#[derive(Clone, Copy, Debug)]
pub struct Sample<'a> {
    results: &'a Results,
    without: Option<usize>,
}

impl<'a> Sample<'a> {
    /// The runs of a case.
    pub fn runs(&self, case: &str) -> impl Iterator<Item = &'a RunResult> + use<'a> {
        let runs = self.results.runs.get(case);
        let runs = runs.unwrap_or_else(|| panic!("there is no case \"{case}\""));
        let without = self.without;
        runs.iter()
            .enumerate()
            .filter(move |(seed, _)| Some(*seed) != without)
            .map(|(_, run)| run)
    }

    /// The mean of what `read` finds in each run of a case.
    pub fn mean(&self, case: &str, read: impl Fn(&RunResult) -> f64) -> f64 {
        let (mut sum, mut count) = (0.0, 0.0);
        for run in self.runs(case) {
            sum += read(run);
            count += 1.0;
        }
        sum / count
    }

    /// Goodput of all flows, downloads and uploads, in Mbit/s.
    pub fn goodput(&self, case: &str) -> f64 {
        let ways = [Direction::Down, Direction::Up];
        self.mean(case, |run| {
            let parts = ways.iter().filter_map(|&way| run.goodput_bps(way));
            parts.sum::<f64>() / 1e6
        })
    }

    /// The first flow's mean smoothed RTT, in ms.
    pub fn rtt(&self, case: &str) -> f64 {
        self.mean(case, |run| first(run).rtt_ms.mean)
    }

    /// Fetches of objects of that size: their mean time in ms.
    pub fn fetch(&self, case: &str, bytes: u64) -> f64 {
        self.mean(case, |run| fetched(run, bytes).time_ms.mean)
    }

    /// A curve of each seed, as seconds and values; without those seeds that do not have it.
    pub fn curves(
        &self,
        case: &str,
        quantity: &'static str,
    ) -> impl Iterator<Item = Vec<(f64, f64)>> + use<'a> {
        let find = move |run: &'a RunResult| run.series.iter().find(|s| s.quantity == quantity);
        self.runs(case).filter_map(find).map(points)
    }

    /// A flow's curve of each seed; empty for those seeds that do not have it.
    pub fn flow_curves(
        &self,
        case: &str,
        flow: &str,
        quantity: &str,
    ) -> impl Iterator<Item = Vec<(f64, f64)>> {
        self.runs(case).map(move |run| {
            let mut series = run.series.iter();
            let found = series.find(|s| s.flow == flow && s.quantity == quantity);
            found.map(points).unwrap_or_default()
        })
    }

    /// The mean over the seeds of what `read` makes of the smallest and the largest value of a curve
    /// after `from_s` seconds.
    pub fn extremes(
        &self,
        case: &str,
        quantity: &'static str,
        from_s: f64,
        read: impl Fn(f64, f64) -> f64,
    ) -> f64 {
        let (mut sum, mut count) = (0.0, 0.0);
        for curve in self.curves(case, quantity) {
            let settled = curve.iter().filter(|p| p.0 > from_s).map(|p| p.1);
            let low = settled.clone().fold(f64::INFINITY, f64::min);
            sum += read(low, settled.fold(f64::NEG_INFINITY, f64::max));
            count += 1.0;
        }
        sum / count
    }

    /// A curve of the first seed; empty if that run has none.
    pub fn curve(&self, case: &str, quantity: &'static str) -> Vec<(f64, f64)> {
        self.curves(case, quantity).next().unwrap_or_default()
    }
}

fn first(run: &RunResult) -> &FlowResult {
    run.flows.first().expect("a flow")
}

fn fetched(run: &RunResult, bytes: u64) -> &FetchResult {
    let mut fetches = run.fetches.iter();
    fetches
        .find(|f| f.bytes == bytes)
        .expect("a fetch of that size")
}

fn points(series: &Series) -> Vec<(f64, f64)> {
    let values = series.value.iter().copied();
    series.t_s.iter().copied().zip(values).collect()
}
