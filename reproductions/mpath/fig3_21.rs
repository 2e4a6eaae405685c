//! Figs. 3.21 and 3.22: many pairs that transfer at the same time.

use super::crowd::Crowd;
use super::network::{MPATH, TCP};
use super::overlay::Overlay;
use super::pairs::share;
use crate::pictures::cumulative;
use std::sync::Arc;
use tidegate_report::plot::{Axis, Scale};
use tidegate_study::{Case, Claim, Extent, Figure, Quantity, Sample};

/// How many pairs transfer at the same time, and for how long.
#[derive(Clone, Copy)]
struct Sizes {
    /// Pairs of hosts that are no proxies, each alone or beside all others.
    apart: usize,
    few: usize,
    /// Pairs of proxies: few, and many.
    many: usize,
    seconds: f64,
}

impl Sizes {
    /// One of the thesis's four partitions, for ten minutes in place of thirty; a sample with `--quick`.
    fn new(extent: &Extent) -> Self {
        if extent.quick || extent.lab {
            Self {
                apart: 20,
                few: 10,
                many: 40,
                seconds: 60.0,
            }
        } else {
            Self {
                apart: 100,
                few: 50,
                many: 200,
                seconds: 600.0,
            }
        }
    }
}

/// Both figures.
pub fn figures(extent: &Extent) -> [Figure; 2] {
    let Sizes {
        apart,
        few,
        many,
        seconds,
    } = Sizes::new(extent);
    let overlay = Arc::new(Overlay::new(apart));
    let alone = (0..apart).map(|n| Crowd::apart(&overlay, n, 1)).collect();
    let halves = (0..apart)
        .step_by(few)
        .map(|n| Crowd::apart(&overlay, n, few));
    let all = vec![Crowd::apart(&overlay, 0, apart)];
    let proxies = |pairs, seed| vec![Crowd::of_proxies(&overlay, pairs, seed)];
    [
        figure(
            "fig-3.21",
            "Pairs at the same time that are not proxies",
            "20 % of the pairs have twice TCP's throughput or more when alone, about 10 % of 50 or 100 at the same time.",
            seconds,
            vec![
                (format!("one of {apart}, alone"), alone, near(20.0)),
                (
                    format!("{few} at the same time"),
                    halves.collect(),
                    near(10.0),
                ),
                (format!("{apart} at the same time"), all, near(10.0)),
            ],
        ),
        figure(
            "fig-3.22",
            "Pairs at the same time that are proxies",
            "Of 50 and 100 pairs of proxies about 10 % have twice TCP's throughput or more, of 200 very few.",
            seconds,
            vec![
                (
                    format!("{few} at the same time"),
                    proxies(few, 1),
                    near(10.0),
                ),
                (
                    format!("{} at the same time", 2 * few),
                    proxies(2 * few, 2),
                    near(10.0),
                ),
                (
                    format!("{many} at the same time"),
                    proxies(many, 3),
                    Claim::at_most(5.0, 20.0),
                ),
            ],
        ),
    ]
}

fn near(paper: f64) -> Claim {
    Claim::Near {
        paper,
        within: 5.0,
        neutral: 0.0,
    }
}

fn figure(
    id: &'static str,
    title: &'static str,
    claim: &'static str,
    seconds: f64,
    sizes: Vec<(String, Vec<Crowd>, Claim)>,
) -> Figure {
    let both = |crowd: &Crowd| [crowd.mpath(seconds), crowd.tcp(seconds)];
    let cases: Vec<Case> = sizes
        .iter()
        .flat_map(|(_, crowds, _)| crowds.iter().flat_map(both))
        .collect();
    let drawn: Vec<(String, Vec<Crowd>)> = sizes
        .iter()
        .map(|(name, crowds, _)| (name.clone(), crowds.clone()))
        .collect();
    let quantity = |(name, crowds, claim): (String, Vec<Crowd>, Claim)| {
        let name = format!("{name}: pairs with at least twice TCP's");
        Quantity::new(name, "%", claim, move |sample| {
            share(&ratios(sample, &crowds), |ratio| ratio >= 2.0)
        })
    };
    Figure {
        id,
        title,
        claim,
        method: "The overlay of Fig. 3.17, with access links of all proxies (reproductions/mpath/crowd.rs). With mPath all pairs transfer with \
                 mPath, and all with TCP for comparison.",
        cases,
        quantities: sizes.into_iter().map(quantity).collect(),
        draw: Box::new(move |sample| {
            let line =
                |(name, crowds): &(String, Vec<Crowd>)| (name.clone(), ratios(sample, crowds));
            vec![cumulative(
                "mPath's throughput ÷ TCP's, pairs",
                Axis::new("ratio", Scale::Linear),
                drawn.iter().map(line).collect(),
            )]
        }),
    }
}

/// mPath's goodput ÷ TCP's, of every pair of all crowds.
fn ratios(sample: &Sample, crowds: &[Crowd]) -> Vec<f64> {
    let of = |crowd: &Crowd| {
        let with = |protocol| goodputs(sample, crowd, protocol);
        with(MPATH)
            .into_iter()
            .zip(with(TCP))
            .map(|(mpath, tcp)| mpath / tcp)
            .collect::<Vec<_>>()
    };
    crowds.iter().flat_map(of).collect()
}

/// Goodput of each pair, in bit/s.
fn goodputs(sample: &Sample, crowd: &Crowd, protocol: &str) -> Vec<f64> {
    let run = sample
        .runs(&crowd.case_name(protocol))
        .next()
        .expect("a run");
    let of = |pair| {
        let name = Crowd::flow_name(pair);
        let flows = run.flows.iter().filter(|flow| flow.name == name);
        flows.map(|flow| flow.goodput_bps).sum()
    };
    (0..crowd.pairs()).map(of).collect()
}
