//! A download without a window, alone.

use super::super::contenders::Contender;
use super::super::links::{self, Link};
use super::super::paths::{self, WARMUP_S};
use super::super::trials::Trial;
use super::{HOLD, QUARTET, QUEUE, windowless};
use crate::means::{geometric_mean, least, mean, most};
use anyhow::Result;
use std::sync::Arc;
use tidegate_report::colour::Pen;
use tidegate_report::plot::{self, Axis, Curve, Mark, Scale};
use tidegate_reproduce::{Case, Claim, Entry, Extent, Listing, Quantity, Sample};
use tidegate_scenario::{CellKind, RunResult, Udp};

/// Base RTTs in milliseconds; with `--quick` the second and the last.
const RTTS_MS: [u32; 4] = [20, 50, 100, 200];
const QUICK_RTTS_MS: [u32; 2] = [50, 200];

/// With `--quick`, every so many recordings.
const QUICK_STRIDE: usize = 5;

/// Mean rates of the links that never change, in Mbit/s.
const STEADY_MBPS: [f64; 3] = [5.0, 20.0, 100.0];

const DURATION_S: f64 = 120.0;

/// A shorter delay in milliseconds counts as this.
const FLOOR_MS: f64 = 0.5;

/// Of a thousand packets that arrive, so many are signalled at most.
const SIGNALLED: f64 = 1.0;

/// Senders that pace themselves.
const PACED: [&str; 2] = ["bbr", "bbr3"];

const RTT: &str = "rtt_ms";

/// What is read from a run, and what it may be as a multiple of untouched Linux's.
#[derive(Clone, Copy)]
struct Measure {
    name: &'static str,
    read: fn(&RunResult) -> f64,
    bound: Bound,
}

/// A ratio that is to be reached, or not to be exceeded.
#[derive(Clone, Copy)]
enum Bound {
    Least(f64),
    Most(f64),
}

const GOODPUT: Measure = Measure {
    name: "goodput",
    read: |run| run.flows[0].goodput_bps.max(1.0),
    bound: Bound::Least(0.95),
};
const MEAN_DELAY: Measure = Measure {
    name: "mean queueing delay",
    read: |run| run.link.queue_delay_ms.mean.max(FLOOR_MS),
    bound: Bound::Most(1.0 / 12.0),
};
const P95_DELAY: Measure = Measure {
    name: "95th percentile of the queueing delay",
    read: |run| run.link.queue_delay_ms.p95.max(FLOOR_MS),
    bound: Bound::Most(0.1),
};
const OWN_RTT: Measure = Measure {
    name: "95th percentile of its own round trip",
    read: |run| run.flows[0].rtt_ms.p95.max(FLOOR_MS),
    bound: Bound::Most(0.25),
};

const CUBIC: [Measure; 4] = [GOODPUT, MEAN_DELAY, P95_DELAY, OWN_RTT];

/// What one that is let go owes: nothing waits longer than without us.
const LET_GO: [Measure; 3] = [GOODPUT, MEAN_DELAY.at_most(1.0), P95_DELAY.at_most(1.0)];

impl Measure {
    const fn at_most(self, ratio: f64) -> Self {
        Self {
            bound: Bound::Most(ratio),
            ..self
        }
    }

    /// As a multiple of untouched Linux's.
    fn ratio(&self, sample: &Sample, trial: &Trial, contender: Contender) -> f64 {
        let linux = contender.untouched();
        let [ours, theirs] = [contender, linux].map(|c| sample.mean(&trial.by(c), self.read));
        ours / theirs
    }

    fn misses(&self, ratio: f64) -> bool {
        match self.bound {
            Bound::Least(bound) => ratio < bound,
            Bound::Most(bound) => ratio > bound,
        }
    }

    fn claim(&self) -> Claim {
        match self.bound {
            Bound::Least(bound) => Claim::at_least(bound, 0.0),
            // Nothing is gained at untouched Linux's.
            Bound::Most(bound) if bound < 1.0 => Claim::at_most(bound, 1.0),
            Bound::Most(bound) => Claim::at_most(bound, 2.0 * bound),
        }
    }

    /// The mean of several ratios, and the worst of them.
    fn mean(&self, ratios: impl Iterator<Item = f64>) -> f64 {
        match self.bound {
            Bound::Least(_) => mean(ratios),
            Bound::Most(_) => geometric_mean(ratios),
        }
    }

    fn worst(&self, ratios: impl Iterator<Item = f64>) -> f64 {
        match self.bound {
            Bound::Least(_) => least(ratios),
            Bound::Most(_) => most(ratios),
        }
    }
}

/// A trial a path.
pub fn trials(extent: &Extent) -> Result<Arc<[Trial]>> {
    let (stride, rtts): (_, &[u32]) = match extent.quick {
        true => (QUICK_STRIDE, &QUICK_RTTS_MS),
        false => (1, &RTTS_MS),
    };
    let steady = STEADY_MBPS.map(Link::constant).into_iter();
    let paths = paths::over(steady.chain(links::all(extent, stride)?), rtts)?;
    let trial = |path| {
        Trial::new("without a window", path, DURATION_S, vec![windowless()])
            .warmed_up(WARMUP_S)
            .curves(&[QUEUE, RTT])
    };
    Ok(paths.iter().map(trial).collect())
}

pub fn cases(trials: &[Trial]) -> Vec<Case> {
    let paced = PACED.map(held).into_iter();
    let paced = paced.flat_map(|held| [held.untouched(), held]);
    let contenders = QUARTET.map(|(_, contender, _)| contender).into_iter();
    let contenders: Vec<Contender> = contenders.chain(paced).collect();
    let of = |trial: &Trial| {
        let cases = contenders.iter().map(|&contender| trial.case(contender));
        cases.collect::<Vec<_>>()
    };
    trials.iter().flat_map(of).collect()
}

/// A sender of that congestion control, held.
const fn held(sender: &'static str) -> Contender {
    Contender::tide(sender).windowless(Udp::Hold)
}

pub fn quantities(trials: &Arc<[Trial]>) -> Vec<Quantity> {
    let mut quantities: Vec<_> = CUBIC
        .into_iter()
        .flat_map(|measure| judged("CUBIC", trials, HOLD, measure))
        .collect();
    quantities.extend(signalled(trials));
    for (words, contender, _) in &QUARTET[1..3] {
        quantities.extend(CUBIC.map(|measure| compared(words, trials, *contender, measure)));
    }
    for sender in PACED {
        let judged = |measure| judged(sender, trials, held(sender), measure);
        quantities.extend(LET_GO.into_iter().flat_map(judged));
    }
    quantities
}

/// The mean over the paths, the worst, and on how many the bound is missed.
fn judged(
    words: &str,
    trials: &Arc<[Trial]>,
    contender: Contender,
    measure: Measure,
) -> [Quantity; 3] {
    let Measure { name, .. } = measure;
    let [one, other, each, listed] = [(); 4].map(|()| trials.clone());
    let all = format!("{words}, held: {name} ÷ untouched Linux's");
    let count = trials.len() as f64;
    let terms = match measure.bound {
        Bound::Least(bound) => format!("below {bound}"),
        Bound::Most(bound) => format!("above {bound:.3}"),
    };
    [
        Quantity::new(format!("{all}, mean"), "", measure.claim(), move |s| {
            measure.mean(ratios(s, &one, contender, measure))
        }),
        Quantity::new(format!("{all}, worst"), "", measure.claim(), move |s| {
            measure.worst(ratios(s, &other, contender, measure))
        }),
        Quantity::new(
            format!("{all}: of {count} paths, {terms}"),
            "paths",
            Claim::at_most(0.0, count),
            move |s| {
                let ratios = ratios(s, &each, contender, measure);
                ratios.filter(|&ratio| measure.misses(ratio)).count() as f64
            },
        )
        .listing(move |s| misses(s, &all, &listed, contender, measure)),
    ]
}

fn ratios<'a>(
    sample: &'a Sample,
    trials: &'a [Trial],
    contender: Contender,
    measure: Measure,
) -> impl Iterator<Item = f64> + 'a {
    let ratio = move |trial| measure.ratio(sample, trial, contender);
    trials.iter().map(ratio)
}

/// A row for each path that misses the bound.
fn misses(
    sample: &Sample,
    words: &str,
    trials: &[Trial],
    contender: Contender,
    measure: Measure,
) -> Listing {
    let heads = ["path", "ratio", "goodput", "mean", "p95", "own p95", "‰"];
    let row = |trial: &Trial| -> Option<Vec<Entry>> {
        let ratio = measure.ratio(sample, trial, contender);
        let start: [Entry; 2] = [trial.path.name.clone().into(), ratio.into()];
        let beside = CUBIC.map(|other| other.ratio(sample, trial, contender).into());
        let signals = [per_thousand(sample, trial, contender).into()];
        let row = start.into_iter().chain(beside).chain(signals).collect();
        measure.misses(ratio).then_some(row)
    };
    Listing {
        title: format!("{words}: every path that misses it, with all its ratios"),
        heads: heads.map(String::from).into(),
        rows: trials.iter().filter_map(row).collect(),
    }
}

/// Packets signalled of a thousand.
fn signalled(trials: &Arc<[Trial]>) -> [Quantity; 2] {
    let [one, other] = [trials.clone(), trials.clone()];
    let goal = Claim::at_most(SIGNALLED, 10.0);
    [
        Quantity::new(
            "CUBIC, held: packets signalled of 1000, mean",
            "",
            goal,
            move |s| mean(one.iter().map(|trial| per_thousand(s, trial, HOLD))),
        ),
        Quantity::new(
            "CUBIC, held: packets signalled of 1000, worst",
            "",
            goal,
            move |s| most(other.iter().map(|trial| per_thousand(s, trial, HOLD))),
        ),
    ]
}

fn per_thousand(sample: &Sample, trial: &Trial, contender: Contender) -> f64 {
    sample.mean(&trial.by(contender), |run| {
        let all = run.held.iter();
        let [signalled, arrived] = all.fold([0, 0], |sum, held| {
            [sum[0] + held.signalled, sum[1] + held.arrived]
        });
        1e3 * signalled as f64 / arrived.max(1) as f64
    })
}

/// For comparison with the hold: the mean over the paths.
fn compared(
    words: &str,
    trials: &Arc<[Trial]>,
    contender: Contender,
    measure: Measure,
) -> Quantity {
    let trials = trials.clone();
    let name = format!("CUBIC, {words}: {} ÷ untouched Linux's, mean", measure.name);
    Quantity::new(name, "", measure.claim(), move |s| {
        measure.mean(ratios(s, &trials, contender, measure))
    })
}

pub fn pictures(sample: &Sample, trials: &[Trial]) -> Vec<plot::Figure> {
    let lte = CellKind::Lte.to_string();
    let shown = [
        trials.iter().find(|trial| trial.path.rtt_ms == 50),
        trials
            .iter()
            .find(|trial| trial.path.rtt_ms == 50 && trial.path.name.starts_with(&lte)),
    ];
    let mut pictures = vec![plane(sample, trials)];
    for trial in shown.into_iter().flatten() {
        pictures.push(over_time(sample, trial, QUEUE, "queueing delay"));
        pictures.push(over_time(sample, trial, RTT, "its own round trip"));
    }
    pictures
}

/// A dot a path: utilisation over delay.
fn plane(sample: &Sample, trials: &[Trial]) -> plot::Figure {
    let curves = QUARTET.map(|(label, contender, nth)| {
        let dot = |trial: &Trial| {
            let case = trial.by(contender);
            let used = sample.mean(&case, |run| 100.0 * run.link.utilisation);
            (sample.mean(&case, MEAN_DELAY.read), used)
        };
        Curve::new(
            label,
            Pen::nth(nth),
            Mark::Dots,
            trials.iter().map(dot).collect(),
        )
    });
    plot::Figure {
        title:
            "A CUBIC download without a window: utilisation over mean queueing delay, every path"
                .into(),
        x: Axis::new("mean queueing delay, ms", Scale::Log),
        y: Axis::new("utilisation, %", Scale::Linear),
        curves: curves.into(),
        size: plot::Figure::WIDE,
    }
}

fn over_time(sample: &Sample, trial: &Trial, quantity: &'static str, words: &str) -> plot::Figure {
    let curves = QUARTET.map(|(label, contender, nth)| {
        let points = sample.curve(&trial.by(contender), quantity);
        Curve::new(label, Pen::nth(nth), Mark::Line, points)
    });
    plot::Figure {
        title: format!("{}: {words}", trial.name()),
        x: Axis::new("time, s", Scale::FromZero).within(0.0, DURATION_S),
        y: Axis::new("ms", Scale::Log),
        curves: curves.into(),
        size: plot::Figure::STRIP,
    }
}
