//! Traffic that must not wait, beside a download or an upload without a window.

use super::super::contenders::{Contender, LINUX, Shown};
use super::super::links::{self, Link};
use super::super::paths::{self, Path};
use super::super::trials::Trial;
use super::{HOLD, contenders, kernel, windowless};
use crate::means::{geometric_mean, most};
use crate::workloads::ping;
use anyhow::Result;
use std::sync::Arc;
use tidegate_report::colour::Pen;
use tidegate_report::plot::{self, Axis, Curve, Mark, Scale};
use tidegate_scenario::{HeldResult, RunResult, Workload, WorkloadKind};
use tidegate_study::{Case, Claim, Extent, Quantity, Sample};

const RTT_MS: u32 = 50;

/// Stride over the recordings, and with `--quick`.
const STRIDE: usize = 3;
const QUICK_STRIDE: usize = 10;

const STEADY_MBPS: [f64; 2] = [5.0, 20.0];

/// Slowest link in Mbit/s: on these, talk is a small part of the traffic.
pub const LEAST_MBPS: f64 = 1.0;

/// When talk begins, in seconds: a queue stands by then.
const BEGIN_S: f64 = 10.0;
const WARMUP_S: f64 = 15.0;
const COUNTED_S: f64 = 60.0;

/// Round trips of an exchange: the handshake, then the request.
const EXCHANGE: f64 = 2.0;
const EXCHANGE_BYTES: u64 = 200;
const PAUSE_S: f64 = 1.0;

/// Talkers, with milliseconds between packets, and lengths of packets.
const ECHOES: [(&str, f64, u64); 3] = [
    ("call", 20.0, 250),
    ("game", 1e3 / 30.0, 100),
    ("ping", 20.0, 84),
];
const ASKING: &str = "exchanges";

/// 99th percentile of their delay as a multiple of untouched Linux's.
const DELAY: f64 = 0.1;

/// Lower bound for delays, in milliseconds.
const FLOOR_MS: f64 = 0.5;

pub fn trials(extent: &Extent) -> Result<Arc<[Trial]>> {
    if extent.lab {
        let paths = kernel::paths_of_one_rtt(extent)?;
        let trial = |path| trial(path, kernel::COUNTED_S);
        return Ok(paths.iter().map(trial).collect());
    }
    let stride = if extent.quick { QUICK_STRIDE } else { STRIDE };
    let steady = STEADY_MBPS.map(Link::constant).into_iter();
    let paths = paths::over(steady.chain(links::all(extent, stride)?), &[RTT_MS])?;
    let fast = paths.iter().filter(|path| path.mean_mbps >= LEAST_MBPS);
    Ok(fast.map(|path| trial(path, COUNTED_S)).collect())
}

fn trial(path: &Path, counted_s: f64) -> Trial {
    let all = std::iter::once(windowless()).chain(workloads()).collect();
    let subject = "talk beside one without a window";
    Trial::new(subject, path, WARMUP_S + counted_s, all).warmed_up(WARMUP_S)
}

/// All talkers.
pub fn workloads() -> Vec<Workload> {
    let echoes = ECHOES.map(|(name, interval_ms, bytes)| talk(name, ping(interval_ms, bytes)));
    let asking = WorkloadKind::Web {
        object_bytes: vec![EXCHANGE_BYTES],
        pause_s: PAUSE_S,
    };
    echoes.into_iter().chain([talk(ASKING, asking)]).collect()
}

fn talk(name: &str, does: WorkloadKind) -> Workload {
    Workload {
        start_s: BEGIN_S,
        windowless: true,
        ..Workload::new(name, does)
    }
}

pub fn cases(trials: &[Trial], extent: &Extent) -> Vec<Case> {
    let shown = contenders(extent);
    let of = |trial: &Trial| {
        let cases = shown.iter().map(|&(_, contender, _)| trial.case(contender));
        cases.collect::<Vec<_>>()
    };
    trials.iter().flat_map(of).collect()
}

/// Quantities beside that flow. The laboratory does not see which packets waited; a packet that waited comes late
/// there.
pub fn quantities(beside: &str, trials: &Arc<[Trial]>, extent: &Extent) -> Vec<Quantity> {
    let touched = |what: &str, read: fn(&HeldResult) -> u64| {
        let trials = trials.clone();
        let name = format!("talk beside {beside}: packets {what}, all paths");
        Quantity::new(name, "packets", Claim::at_most(0.0, 1.0), move |s| {
            trials.iter().map(|trial| packets(s, trial, read)).sum()
        })
    };
    let mut quantities = Vec::new();
    if !extent.lab {
        quantities.extend([
            touched("of theirs that waited", |held| held.held),
            touched("of theirs that were signalled", |held| held.signalled),
        ]);
    }
    for name in names() {
        quantities.extend(delayed(name, beside, trials));
    }
    quantities
}

fn names() -> impl Iterator<Item = &'static str> {
    ECHOES.into_iter().map(|(name, ..)| name).chain([ASKING])
}

/// Counts of the talkers' packets.
fn packets(sample: &Sample, trial: &Trial, read: fn(&HeldResult) -> u64) -> f64 {
    sample.mean(&trial.by(HOLD), |run| {
        let theirs = run
            .held
            .iter()
            .filter(|held| names().any(|name| name == held.name));
        theirs.map(read).sum::<u64>() as f64
    })
}

fn delayed(name: &'static str, beside: &str, trials: &Arc<[Trial]>) -> [Quantity; 2] {
    let quantity = |words: &str, read: fn(&mut dyn Iterator<Item = f64>) -> f64| {
        let trials = trials.clone();
        let words =
            format!("{name} beside {beside}: p99 of its delay ÷ untouched Linux's, {words}");
        Quantity::new(words, "", Claim::at_most(DELAY, 1.0), move |s| {
            let mut ratios = trials
                .iter()
                .map(|trial| delay_ms(s, trial, HOLD, name) / delay_ms(s, trial, LINUX, name));
            read(&mut ratios)
        })
    };
    [
        quantity("geometric mean", |ratios| geometric_mean(ratios)),
        quantity("worst", |ratios| most(ratios)),
    ]
}

/// The 99th percentile of a talker's delay in the queue, in ms.
fn delay_ms(sample: &Sample, trial: &Trial, contender: Contender, name: &str) -> f64 {
    let rtt_ms = f64::from(trial.path.rtt_ms);
    sample.mean(&trial.by(contender), |run| {
        let without = if name == ASKING { EXCHANGE } else { 1.0 };
        (round_trip_ms(run, name) - without * rtt_ms).max(FLOOR_MS)
    })
}

/// The length of the run, if nothing ever came back.
fn round_trip_ms(run: &RunResult, name: &str) -> f64 {
    let echo = run.flows.iter().find(|flow| flow.name == name);
    let asked = run.fetches.iter().find(|fetch| fetch.name == name);
    let p99 = echo.map(|echo| echo.rtt_ms.p99);
    let p99 = p99.or(asked.map(|asked| asked.time_ms.p99));
    p99.filter(|&ms| ms > 0.0)
        .unwrap_or((WARMUP_S + COUNTED_S) * 1e3)
}

/// A bar for each talker: the delay of its slowest percent, geometric mean over the paths.
pub fn pictures(sample: &Sample, trials: &[Trial], shown: &[Shown]) -> Vec<plot::Figure> {
    let curves = shown.iter().map(|&(label, contender, nth)| {
        let delay =
            |name| geometric_mean(trials.iter().map(|t| delay_ms(sample, t, contender, name)));
        let points = (0..).map(f64::from).zip(names().map(delay));
        Curve::new(label, Pen::nth(nth), Mark::Bars, points.collect())
    });
    vec![plot::Figure {
        title: "Talk beside a download without a window: 99th percentile of the delay, all paths"
            .into(),
        x: Axis::categories(names().collect::<Vec<_>>()),
        y: Axis::new("ms", Scale::Log),
        curves: curves.collect(),
        size: plot::Figure::WIDE,
    }]
}
