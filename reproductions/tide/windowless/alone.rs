//! A download without a window, alone.

use super::super::contenders::{Contender, Shown, TIDE};
use super::super::links::{self, Link};
use super::super::paths::{self, Path, WARMUP_S};
use super::super::trials::Trial;
use super::measure::{Bound, CHANCE, HELD, LET_GO, MEAN_DELAY, Measure};
use super::{FALLBACK, HOLD, QUEUE, contenders, kernel, windowless};
use crate::means::{mean, most};
use anyhow::Result;
use std::sync::Arc;
use tidegate_report::colour::Pen;
use tidegate_report::plot::{self, Axis, Curve, Mark, Scale};
use tidegate_scenario::{CellKind, Udp};
use tidegate_study::{Case, Claim, Entry, Extent, Listing, Quantity, Sample};

/// Base RTTs in milliseconds; with `--quick` the second and the last.
const RTTS_MS: [u32; 4] = [20, 50, 100, 200];
const QUICK_RTTS_MS: [u32; 2] = [50, 200];

/// Stride over the recordings with `--quick`.
const QUICK_STRIDE: usize = 5;

/// Mean rates of the links that never change, in Mbit/s.
const STEADY_MBPS: [f64; 3] = [5.0, 20.0, 100.0];

const DURATION_S: f64 = 120.0;

/// Largest number of signalled packets in a thousand that arrive.
const SIGNALLED: f64 = 1.0;

/// Why more are signalled on some paths.
const SLOW: &str = "a link of a few hundred kbit/s carries a thousand packets in half a minute, and a window of a dozen is outgrown sooner";

/// Senders that pace themselves.
const PACED: [(&str, &str); 2] = [("BBR", "bbr"), ("BBR 3", "bbr3")];

/// With traffic left alone, results equal untouched Linux's.
const SAME: Claim = Claim::same(1.0, 0.01);

const RTT: &str = "rtt_ms";

/// A trial a path.
pub fn trials(extent: &Extent) -> Result<Arc<[Trial]>> {
    let (paths, warmup_s, duration_s) = match extent.lab {
        true => {
            let warmup_s = kernel::WARMUP_S;
            (
                kernel::paths(extent)?,
                warmup_s,
                warmup_s + kernel::COUNTED_S,
            )
        }
        false => (paths_of(extent)?, WARMUP_S, DURATION_S),
    };
    let trial = |path| {
        Trial::new("without a window", path, duration_s, vec![windowless()])
            .warmed_up(warmup_s)
            .curves(&[QUEUE, RTT])
    };
    Ok(paths.iter().map(trial).collect())
}

fn paths_of(extent: &Extent) -> Result<Vec<Path>> {
    let (stride, rtts): (_, &[u32]) = match extent.quick {
        true => (QUICK_STRIDE, &QUICK_RTTS_MS),
        false => (1, &RTTS_MS),
    };
    let steady = STEADY_MBPS.map(Link::constant).into_iter();
    paths::over(steady.chain(links::all(extent, stride)?), rtts)
}

pub fn cases(trials: &[Trial], extent: &Extent) -> Vec<Case> {
    let cubic = contenders(extent)
        .iter()
        .map(|&(_, contender, _)| contender);
    let cubic: Vec<Contender> = cubic.collect();
    let of = |trial: &Trial, contenders: &[Contender]| {
        let cases = contenders.iter().map(|&contender| trial.case(contender));
        cases.collect::<Vec<_>>()
    };
    let mut cases: Vec<Case> = trials.iter().flat_map(|trial| of(trial, &cubic)).collect();
    for &(_, sender) in paced(extent) {
        let held = held(sender);
        let all = [held.untouched(), held, held.windowless(Udp::Fallback)];
        let asked = if extent.lab { &all[..2] } else { &all };
        let trials = trials_of_paced(trials, extent);
        cases.extend(trials.iter().flat_map(|trial| of(trial, asked)));
    }
    cases
}

/// The paced senders that quinn has, if quinn is the sender.
fn paced(extent: &Extent) -> &'static [(&'static str, &'static str)] {
    if extent.lab { &PACED[..1] } else { &PACED }
}

/// The paths on which they are run.
fn trials_of_paced(trials: &[Trial], extent: &Extent) -> Arc<[Trial]> {
    let sampled = trials
        .iter()
        .filter(|trial| !extent.lab || trial.path.rtt_ms == 50);
    sampled.cloned().collect()
}

/// A sender of that congestion control, held.
const fn held(sender: &'static str) -> Contender {
    Contender::tide(sender).windowless(Udp::Hold)
}

pub fn quantities(trials: &Arc<[Trial]>, extent: &Extent) -> Vec<Quantity> {
    let windows = !extent.lab;
    let mut quantities = Vec::new();
    for measure in HELD {
        quantities.extend(judged("CUBIC", trials, HOLD, measure, windows));
    }
    quantities.extend(signalled("CUBIC", trials, HOLD));
    quantities.extend(beside_drops("CUBIC", trials, HOLD));
    for measure in HELD.into_iter().filter(|_| windows) {
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
    let trials = trials_of_paced(trials, extent);
    for &(words, sender) in paced(extent) {
        for measure in LET_GO {
            quantities.extend(judged(words, &trials, held(sender), measure, windows));
        }
        quantities.extend(signalled(words, &trials, held(sender)));
    }
    quantities
}

/// The mean over the paths, the worst path, and how many paths miss the bound, beside the results of `windows` there
/// if these were run.
fn judged(
    words: &str,
    trials: &Arc<[Trial]>,
    contender: Contender,
    measure: Measure,
    windows: bool,
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
        .listing(move |s| misses(s, &all, &listed, contender, measure, windows)),
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
    windows: bool,
) -> Listing {
    let mut heads = vec!["path", "ratio"];
    heads.extend(windows.then_some("with a window"));
    heads.extend(["goodput", "mean", "p95", "own p95", "‰"]);
    let windowed = contender.windowless(Udp::Fallback);
    let row = |trial: &Trial| -> Option<Vec<Entry>> {
        let ratio = measure.ratio(sample, trial, contender);
        let with = windows.then(|| measure.ratio(sample, trial, windowed).into());
        let start: [Entry; 2] = [trial.path.name.clone().into(), ratio.into()];
        let beside = HELD.map(|other| other.ratio(sample, trial, contender).into());
        let signals = [per_thousand(sample, trial, contender).into()];
        let row = start.into_iter().chain(with).chain(beside);
        let row = row.chain(signals).collect();
        measure.misses(ratio).then_some(row)
    };
    Listing {
        title: format!(
            "{words}: every path that misses it, with all its ratios, and packets signalled of 1000"
        ),
        heads: heads.iter().copied().map(String::from).collect(),
        rows: trials.iter().filter_map(row).collect(),
    }
}

/// Signalled packets in a thousand.
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

/// Packets that the hold drops, beside the packets that the buffer drops with untouched Linux.
fn beside_drops(words: &str, trials: &Arc<[Trial]>, contender: Contender) -> [Quantity; 2] {
    let [one, each] = [(); 2].map(|()| trials.clone());
    let both = move |s: &Sample, trial: &Trial| {
        let signalled = s.mean(&trial.by(contender), |run| {
            run.held.iter().map(|held| held.signalled as f64).sum()
        });
        let dropped = s.mean(&trial.by(contender.untouched()), |run| {
            run.link.drops as f64
        });
        [signalled, dropped]
    };
    let count = trials.len() as f64;
    let all =
        format!("{words}, held: packets signalled ÷ packets that untouched Linux's buffer drops");
    [
        Quantity::new(all, "", Claim::at_most(1.0, 10.0), move |s| {
            let sums = one.iter().map(|trial| both(s, trial));
            let [signalled, dropped] = sums.fold([0.0, 0.0], |[a, b], [c, d]| [a + c, b + d]);
            signalled / dropped
        }),
        Quantity::new(
            format!("{words}, held: of {count} paths, more signalled than that buffer drops"),
            "paths",
            Claim::at_most(0.0, count),
            move |s| {
                let more = each.iter().map(|trial| both(s, trial));
                more.filter(|[signalled, dropped]| signalled > dropped)
                    .count() as f64
            },
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

pub fn pictures(sample: &Sample, trials: &[Trial], shown: &[Shown]) -> Vec<plot::Figure> {
    let lte = CellKind::Lte.to_string();
    let picked = [
        trials.iter().find(|trial| trial.path.rtt_ms == 50),
        trials
            .iter()
            .find(|trial| trial.path.rtt_ms == 50 && trial.path.name.starts_with(&lte)),
    ];
    let mut pictures = vec![plane(sample, trials, shown)];
    for trial in picked.into_iter().flatten() {
        for (quantity, words) in [(QUEUE, "queueing delay"), (RTT, "its own round trip")] {
            pictures.push(over_time(sample, trial, shown, quantity, words));
        }
    }
    pictures
}

/// A dot for each path: utilisation over delay.
fn plane(sample: &Sample, trials: &[Trial], shown: &[Shown]) -> plot::Figure {
    let curves = shown.iter().map(|&(label, contender, nth)| {
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
        curves: curves.collect(),
        size: plot::Figure::WIDE,
    }
}

fn over_time(
    sample: &Sample,
    trial: &Trial,
    shown: &[Shown],
    quantity: &'static str,
    words: &str,
) -> plot::Figure {
    let curves = shown.iter().map(|&(label, contender, nth)| {
        let points = sample.curve(&trial.by(contender), quantity);
        Curve::new(label, Pen::nth(nth), Mark::Line, points)
    });
    plot::Figure {
        title: format!("{}: {words}", trial.name()),
        x: Axis::new("time, s", Scale::FromZero),
        y: Axis::new("ms", Scale::Log),
        curves: curves.collect(),
        size: plot::Figure::STRIP,
    }
}
