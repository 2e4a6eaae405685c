//! Fig. 3.19: how long mPath takes to reach its steady throughput.

use super::network::MPATH;
use super::overlay::{Terms, mpath_name};
use super::pairs::Pairs;
use crate::means::mean;
use crate::pictures::cumulative;
use crate::spans::Span;
use tidegate_report::plot::{Axis, Scale};
use tidegate_study::{Claim, Figure, Quantity, Sample};

/// The throughput from this share of a run on counts as the steady one.
const STEADY_FROM: f64 = 2.0 / 3.0;

/// Length in seconds of the mean that has to reach the steady throughput, longer than a sawtooth; and the share of it
/// that suffices.
const SMOOTH_S: f64 = 60.0;
const CLOSE: f64 = 0.9;

/// Pairs that gain at least this factor have good proxied paths.
const GAIN: f64 = 1.1;

/// The figure; the runs are those of Fig. 3.17.
pub fn figure(pairs: &Pairs) -> Figure {
    let within = |name: &str, gains: bool, minutes: f64, claim| {
        let pairs = pairs.clone();
        Quantity::new(name, "%", claim, move |sample| {
            let times = times_min(&pairs, sample, gains);
            super::pairs::share(&times, |time| time <= minutes)
        })
    };
    let drawn = pairs.clone();
    Figure {
        id: "fig-3.19",
        title: "The time to become stable",
        claim: "Where good proxied paths exist, mPath finds them within 5 minutes for 80 % of the pairs. Where there are none it gives up \
                within 1 or 2 minutes for 90 %.",
        method: "The thesis does not say when a throughput is steady. Here: the first moment from which on 60 s have at least nine tenths \
                 of the mean of the last third of the run.",
        cases: pairs.cases(),
        quantities: vec![
            within(
                "pairs that gain: stable within 5 min",
                true,
                5.0,
                Claim::at_least(80.0, 40.0),
            ),
            within(
                "the others: within 2 min",
                false,
                2.0,
                Claim::at_least(90.0, 45.0),
            ),
        ],
        draw: Box::new(move |sample| {
            let of = |gains| times_min(&drawn, sample, gains);
            vec![cumulative(
                "Time to become stable, pairs",
                Axis::new("min", Scale::FromZero),
                vec![
                    ("that gain".into(), of(true)),
                    ("the others".into(), of(false)),
                ],
            )]
        }),
    }
}

/// Minutes of each of the pairs with that gain, or of those without it.
fn times_min(pairs: &Pairs, sample: &Sample, gains: bool) -> Vec<f64> {
    let wanted = |&pair: &usize| (pairs.ratio(sample, pair) > GAIN) == gains;
    let time = |pair| {
        let name = mpath_name(pair, Terms::THESIS);
        let curve = sample.flow_curves(&name, MPATH, "goodput_bps").next();
        stable_s(&curve.unwrap_or_default(), pairs.seconds()) / 60.0
    };
    pairs.all().filter(wanted).map(time).collect()
}

/// When a curve of that many seconds becomes steady.
fn stable_s(curve: &[(f64, f64)], seconds: f64) -> f64 {
    let average = |from, to| mean(Span(from, to).values(curve));
    let steady = average(seconds * STEADY_FROM, seconds);
    let starts = (0..)
        .map(f64::from)
        .take_while(|from| from + SMOOTH_S <= seconds);
    starts
        .into_iter()
        .find(|&from| average(from, from + SMOOTH_S) >= CLOSE * steady)
        .unwrap_or(seconds)
}
