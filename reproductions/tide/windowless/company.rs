//! A download without a window beside others with a window.

use super::super::contenders::{Contender, LINUX, Shown};
use super::super::links::Link;
use super::super::paths::{self, Path};
use super::super::trials::Trial;
use super::{FALLBACK, HOLD, QUEUE, kernel, windowless};
use crate::means::{geometric_mean, least, mean};
use crate::spans::seconds;
use crate::workloads::download;
use anyhow::Result;
use std::sync::Arc;
use tidegate_report::colour::Pen;
use tidegate_report::plot::{self, Axis, Curve, Mark, Scale};
use tidegate_scenario::{CellKind, Workload};
use tidegate_study::{Case, Claim, Extent, Quantity, Sample};

/// Numbers of downloads with a window.
const OTHERS: [usize; 3] = [1, 2, 4];

/// Base RTTs in milliseconds; with `--quick` the first.
const RTTS_MS: [u32; 2] = [50, 100];

const STEADY_MBPS: f64 = 20.0;

/// Seconds between starts, from the last start until all have settled, and over which shares are counted.
const STAGGER_S: f64 = 5.0;
const SETTLE_S: f64 = 10.0;
const COUNTED_S: f64 = 60.0;

/// Smallest use of the link, in percent.
const USED: f64 = 97.0;

/// Largest deviation of a share from the fair one.
const SHARE: f64 = 0.25;

/// Mean queueing delay as a multiple of that with as many downloads with a window.
const DELAY: f64 = 1.5;

/// Lower bound for delays, in milliseconds.
const FLOOR_MS: f64 = 0.5;

const RATE: &str = "goodput_bps";
const OURS: &str = "without a window";

const TRIO: [Shown; 3] = [
    ("Linux", LINUX, 2),
    ("all with a window", FALLBACK, 3),
    ("held", HOLD, 1),
];

/// Downloads that share a path.
#[derive(Clone, Debug)]
pub struct Crowd {
    others: usize,
    first: bool,
    trial: Trial,
}

pub fn crowds(extent: &Extent) -> Result<Arc<[Crowd]>> {
    if extent.lab {
        return Ok(on_the_kernel(extent)?.into());
    }
    let rtts = &RTTS_MS[..if extent.quick { 1 } else { RTTS_MS.len() }];
    let cell = |kind| Link::cell(kind, 1, None);
    let links = [
        Link::constant(STEADY_MBPS),
        cell(CellKind::Lte),
        cell(CellKind::Hspa),
    ];
    let paths = paths::over(links, rtts)?;
    let mut crowds = Vec::new();
    for others in OTHERS {
        for first in [false, true] {
            crowds.extend(
                paths
                    .iter()
                    .map(|path| Crowd::new(others, first, path, COUNTED_S)),
            );
        }
    }
    Ok(crowds.into())
}

/// One and two others; with `--quick` one that was there before.
fn on_the_kernel(extent: &Extent) -> Result<Vec<Crowd>> {
    let orders = [(1, false), (1, true), (2, false), (2, true)];
    let orders = &orders[..if extent.quick { 1 } else { orders.len() }];
    let paths = kernel::paths_of_one_rtt(extent)?;
    let crowd = |path| {
        let of = move |&(others, first)| Crowd::new(others, first, path, kernel::COUNTED_S);
        orders.iter().map(of)
    };
    Ok(paths.iter().flat_map(crowd).collect())
}

impl Crowd {
    fn new(others: usize, first: bool, path: &Path, counted_s: f64) -> Self {
        let place = if first { 0 } else { others };
        let workload = |nth: usize| Workload {
            name: name(nth, place),
            start_s: STAGGER_S * nth as f64,
            ..if nth == place {
                windowless()
            } else {
                download()
            }
        };
        let warmup_s = STAGGER_S * others as f64 + SETTLE_S;
        let order = if first { "before" } else { "after" };
        let subject = format!("without a window {order} {others}");
        let workloads = (0..=others).map(workload).collect();
        Self {
            others,
            first,
            trial: Trial::new(&subject, path, warmup_s + counted_s, workloads)
                .warmed_up(warmup_s)
                .curves(&[QUEUE, RATE]),
        }
    }

    /// Every flow's share as a multiple of the fair one.
    fn shares(&self, sample: &Sample, contender: Contender) -> Vec<f64> {
        let case = self.trial.by(contender);
        let goodputs: Vec<f64> = (0..=self.others)
            .map(|nth| {
                sample.mean(&case, |run| {
                    run.flows.get(nth).map_or(0.0, |flow| flow.goodput_bps)
                })
            })
            .collect();
        let fair = mean(goodputs.iter().copied());
        goodputs.iter().map(|goodput| goodput / fair).collect()
    }

    fn used(&self, sample: &Sample, contender: Contender) -> f64 {
        let case = self.trial.by(contender);
        sample.mean(&case, |run| 100.0 * run.link.utilisation)
    }

    /// Mean queueing delay as a multiple of that of as many downloads with a window.
    fn delay(&self, sample: &Sample) -> f64 {
        let [ours, theirs] = [HOLD, FALLBACK].map(|contender| {
            let case = self.trial.by(contender);
            sample.mean(&case, |run| run.link.queue_delay_ms.mean.max(FLOOR_MS))
        });
        ours / theirs
    }
}

fn name(nth: usize, place: usize) -> String {
    match nth == place {
        true => OURS.into(),
        false => format!("download {}", nth + 1),
    }
}

pub fn cases(crowds: &[Crowd]) -> Vec<Case> {
    let of = |crowd: &Crowd| TRIO.map(|(_, contender, _)| crowd.trial.case(contender));
    crowds.iter().flat_map(of).collect()
}

pub fn quantities(crowds: &[Crowd]) -> Vec<Quantity> {
    let mut quantities = Vec::new();
    for others in OTHERS {
        for first in [false, true] {
            let chosen = crowds
                .iter()
                .filter(|c| c.others == others && c.first == first);
            let chosen: Arc<[Crowd]> = chosen.cloned().collect();
            if chosen.is_empty() {
                continue;
            }
            let order = if first { "before" } else { "after" };
            quantities.extend(shared(
                &format!("held, {order} {others} with a window"),
                &chosen,
            ));
        }
    }
    quantities
}

fn shared(words: &str, crowds: &Arc<[Crowd]>) -> [Quantity; 5] {
    let quantity = |what: &str, unit, claim, read: fn(&Sample, &[Crowd]) -> f64| {
        let crowds = crowds.clone();
        Quantity::new(format!("{words}: {what}"), unit, claim, move |s| {
            read(s, &crowds)
        })
    };
    let fair = Claim::same(1.0, SHARE);
    [
        quantity(
            "utilisation, mean",
            "%",
            Claim::at_least(USED, 0.0),
            |s, crowds| mean(crowds.iter().map(|crowd| crowd.used(s, HOLD))),
        ),
        quantity(
            "utilisation, worst",
            "%",
            Claim::at_least(USED, 0.0),
            |s, crowds| least(crowds.iter().map(|crowd| crowd.used(s, HOLD))),
        ),
        quantity(
            "its share ÷ the fair one, furthest",
            "",
            fair,
            |s, crowds| {
                furthest(crowds.iter().map(|crowd| {
                    let place = if crowd.first { 0 } else { crowd.others };
                    crowd.shares(s, HOLD)[place]
                }))
            },
        ),
        quantity(
            "anybody's share ÷ the fair one, furthest",
            "",
            fair,
            |s, crowds| furthest(crowds.iter().flat_map(|crowd| crowd.shares(s, HOLD))),
        ),
        quantity(
            "mean queueing delay ÷ that of as many with a window, geometric mean",
            "",
            Claim::at_most(DELAY, 10.0),
            |s, crowds| geometric_mean(crowds.iter().map(|crowd| crowd.delay(s))),
        ),
    ]
}

/// The share that is furthest from one.
fn furthest(shares: impl Iterator<Item = f64>) -> f64 {
    let further = |a: &f64, b: &f64| (a - 1.0).abs().total_cmp(&(b - 1.0).abs());
    shares.max_by(further).expect("a share")
}

/// The rates of two on the LTE cell, and the queue.
pub fn pictures(sample: &Sample, crowds: &[Crowd]) -> Vec<plot::Figure> {
    let lte = CellKind::Lte.to_string();
    let on_lte = |c: &&Crowd| c.others == 1 && c.trial.path.name.starts_with(&lte);
    let mut pictures = Vec::new();
    for first in [false, true] {
        let Some(crowd) = crowds.iter().filter(on_lte).find(|c| c.first == first) else {
            continue;
        };
        pictures.extend(TRIO.map(|(label, contender, _)| rates(sample, crowd, label, contender)));
        pictures.push(queues(sample, crowd));
    }
    pictures
}

fn rates(sample: &Sample, crowd: &Crowd, label: &str, contender: Contender) -> plot::Figure {
    let case = crowd.trial.by(contender);
    let place = if crowd.first { 0 } else { crowd.others };
    let curves = (0..=crowd.others).map(|nth| {
        let name = name(nth, place);
        let curve = sample.flow_curves(&case, &name, RATE).next();
        let points = seconds(&curve.unwrap_or_default());
        Curve::new(name, Pen::nth(nth + 1), Mark::Line, points)
    });
    plot::Figure {
        title: format!("{label}, {}", crowd.trial.name()),
        x: Axis::new("time, s", Scale::FromZero),
        y: Axis::new("Mbit/s", Scale::FromZero),
        curves: curves.collect(),
        size: plot::Figure::STRIP,
    }
}

fn queues(sample: &Sample, crowd: &Crowd) -> plot::Figure {
    let curves = TRIO.map(|(label, contender, nth)| {
        let points = sample.curve(&crowd.trial.by(contender), QUEUE);
        Curve::new(label, Pen::nth(nth), Mark::Line, points)
    });
    plot::Figure {
        title: format!("{}: queueing delay", crowd.trial.name()),
        x: Axis::new("time, s", Scale::FromZero),
        y: Axis::new("ms", Scale::Log),
        curves: curves.into(),
        size: plot::Figure::STRIP,
    }
}
