//! A download without a window, alone.

use super::super::contenders::{Contender, TIDE};
use super::super::links::{self, Link};
use super::super::paths::{self, WARMUP_S};
use super::super::trials::Trial;
use super::measure::{Bound, CHANCE, HELD, LET_GO, MEAN_DELAY, Measure};
use super::{FALLBACK, HOLD, QUARTET, QUEUE, windowless};
use crate::means::{mean, most};
use anyhow::Result;
use std::sync::Arc;
use tidegate_report::colour::Pen;
use tidegate_report::plot::{self, Axis, Curve, Mark, Scale};
use tidegate_reproduce::{Case, Claim, Entry, Extent, Listing, Quantity, Sample};
use tidegate_scenario::{CellKind, Udp};

/// Base RTTs in milliseconds; with `--quick` the second and the last.
const RTTS_MS: [u32; 4] = [20, 50, 100, 200];
const QUICK_RTTS_MS: [u32; 2] = [50, 200];

/// With `--quick`, every so many recordings.
const QUICK_STRIDE: usize = 5;

/// Mean rates of the links that never change, in Mbit/s.
const STEADY_MBPS: [f64; 3] = [5.0, 20.0, 100.0];

const DURATION_S: f64 = 120.0;

/// Of a thousand packets that arrive, so many are signalled at most.
const SIGNALLED: f64 = 1.0;

/// Why more are.
const SLOW: &str = "a link of a few hundred kbit/s carries a thousand packets in half a minute, and a window of a dozen is outgrown sooner";

/// Senders that pace themselves.
const PACED: [(&str, &str); 2] = [("BBR", "bbr"), ("BBR 3", "bbr3")];

/// What is left alone is as it is with untouched Linux.
const SAME: Claim = Claim::Near {
    paper: 1.0,
    within: 0.01,
    neutral: 0.0,
};

const RTT: &str = "rtt_ms";

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
    let paced = PACED.map(|(_, sender)| held(sender)).into_iter();
    let paced = paced.flat_map(|held| [held.untouched(), held.windowless(Udp::Fallback), held]);
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
    let mut quantities = Vec::new();
    for measure in HELD {
        quantities.extend(judged("CUBIC", trials, HOLD, measure));
    }
    quantities.extend(signalled("CUBIC", trials, HOLD));
    for measure in HELD {
        let Measure { name, .. } = measure;
        let [left, windowed] = ["left alone", "with a window"]
            .map(|how| format!("CUBIC, {how}: {name} ÷ untouched Linux's, mean"));
        quantities.push(compared(left, trials, TIDE, measure, SAME));
        quantities.push(compared(
            windowed,
            trials,
            FALLBACK,
            measure,
            measure.claim(),
        ));
    }
    for (words, sender) in PACED {
        for measure in LET_GO {
            quantities.extend(judged(words, trials, held(sender), measure));
        }
        quantities.extend(signalled(words, trials, held(sender)));
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
    let Measure { name, reason, .. } = measure;
    let [one, other, each, listed] = [(); 4].map(|()| trials.clone());
    let all = format!("{words}, held: {name} ÷ untouched Linux's");
    let count = trials.len() as f64;
    let terms = match measure.bound {
        Bound::Least(bound) => format!("below {bound}"),
        Bound::Most(bound) => format!("above {bound:.3}"),
        Bound::About(bound) => format!("above {}", bound * CHANCE),
    };
    [
        Quantity::new(format!("{all}, mean"), "", measure.claim(), move |s| {
            measure.mean(ratios(s, &one, contender, measure))
        }),
        Quantity::new(format!("{all}, worst"), "", measure.claim(), move |s| {
            measure.worst(ratios(s, &other, contender, measure))
        })
        .because(reason),
        Quantity::new(
            format!("{all}: of {count} paths, {terms}"),
            "paths",
            Claim::at_most(0.0, count),
            move |s| {
                let ratios = ratios(s, &each, contender, measure);
                ratios.filter(|&ratio| measure.misses(ratio)).count() as f64
            },
        )
        .because(reason)
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
    let heads = [
        "path",
        "ratio",
        "with a window",
        "goodput",
        "mean",
        "p95",
        "own p95",
        "‰",
    ];
    let windowed = contender.windowless(Udp::Fallback);
    let row = |trial: &Trial| -> Option<Vec<Entry>> {
        let ratio = measure.ratio(sample, trial, contender);
        let with = measure.ratio(sample, trial, windowed);
        let start: [Entry; 3] = [trial.path.name.clone().into(), ratio.into(), with.into()];
        let beside = HELD.map(|other| other.ratio(sample, trial, contender).into());
        let signals = [per_thousand(sample, trial, contender).into()];
        let row = start.into_iter().chain(beside).chain(signals).collect();
        measure.misses(ratio).then_some(row)
    };
    Listing {
        title: format!(
            "{words}: every path that misses it, with all its ratios, and packets signalled of 1000"
        ),
        heads: heads.map(String::from).into(),
        rows: trials.iter().filter_map(row).collect(),
    }
}

/// Packets signalled of a thousand.
fn signalled(words: &str, trials: &Arc<[Trial]>, contender: Contender) -> [Quantity; 2] {
    let quantity = |what: &str, read: fn(&mut dyn Iterator<Item = f64>) -> f64| {
        let trials = trials.clone();
        let name = format!("{words}, held: packets signalled of 1000, {what}");
        Quantity::new(name, "", Claim::at_most(SIGNALLED, 10.0), move |s| {
            let mut all = trials.iter().map(|trial| per_thousand(s, trial, contender));
            read(&mut all)
        })
        .because(SLOW)
    };
    [
        quantity("mean", |all| mean(all)),
        quantity("worst", |all| most(all)),
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
    name: String,
    trials: &Arc<[Trial]>,
    contender: Contender,
    measure: Measure,
    claim: Claim,
) -> Quantity {
    let trials = trials.clone();
    Quantity::new(name, "", claim, move |s| {
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
