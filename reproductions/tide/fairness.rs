//! Several downloads over one path, which join one after another.

use super::contenders::{Contender, DRWA, LINUX, TIDE, TRIO};
use super::links::Link;
use super::paths::Path;
use super::score::Score;
use super::trials::Trial;
use crate::means::{least, mean};
use crate::spans::seconds;
use crate::workloads::download;
use anyhow::Result;
use std::sync::Arc;
use tidegate_report::colour::Pen;
use tidegate_report::jain;
use tidegate_report::plot::{self, Axis, Curve, Mark, Scale};
use tidegate_scenario::{CellKind, Direction, Hop, LinkSpec, RateSpec, RunResult, Side, Workload};
use tidegate_study::{Case, Claim, Extent, Figure, Quantity, Sample};

/// Numbers of downloads; with `--quick` the first two.
const FLOWS: [usize; 5] = [2, 4, 8, 16, 50];

/// Seconds between starts, from the last start until all have settled, and over which shares are counted.
const STAGGER_S: f64 = 5.0;
const SETTLE_S: f64 = 10.0;
const COUNTED_S: f64 = 60.0;

/// The base RTT of equal downloads in milliseconds; for unequal ones the shortest, and how much longer the longest is.
const RTT_MS: u32 = 50;
const SHORTEST_MS: u32 = 25;
const SPREAD: f64 = 4.0;

/// Rate of the links behind the bottleneck, on which nothing waits, in Mbit/s.
const FAR_MBPS: f64 = 1000.0;

/// Mean rates of the links in Mbit/s.
const CONSTANT_MBPS: f64 = 20.0;
const LTE_MBPS: f64 = 20.0;
const HSPA_MBPS: f64 = 5.0;

/// Jain's index that equal downloads must reach.
const FAIR: f64 = 0.95;

/// Largest deviation of the last download's share from the fair one.
const LATE: f64 = 0.2;

/// tide's mean queueing delay must be this share of DRWA's, as with a single download.
const DELAY: f64 = 0.36;

const CURVE: &str = "goodput_bps";

/// Downloads that share a path.
#[derive(Clone, Debug)]
pub struct Crowd {
    /// The link and the number of flows, for pictures: `HSPA × 4`.
    label: String,
    flows: usize,
    equal: bool,
    trial: Trial,
}

/// The figure.
///
/// # Errors
/// When a link cannot be read.
pub fn figure(extent: &Extent) -> Result<Figure> {
    let crowds: Arc<[Crowd]> = crowds(extent)?.into();
    let case = |crowd: &Crowd| TRIO.map(|(_, contender, _)| crowd.case(contender));
    Ok(Figure {
        id: "fairness",
        title: "Several downloads on one path",
        claim: "Equals share equally, and who comes last gets neither more nor less. With base RTTs that differ by a \
                factor of four the shares are no less even than Linux's; the queue stays short.",
        method: "Downloads start five seconds apart; ten seconds after the last start their goodput is counted for a \
                 minute. Base RTTs are 50 ms, or spread evenly by ratio from 25 ms (the first) to 100 ms (the last). \
                 Numbers are means over the links, a constant one and shipped LTE and HSPA cells, unless they say worst.",
        cases: crowds.iter().flat_map(case).collect(),
        quantities: quantities(&crowds),
        draw: Box::new(move |sample| pictures(sample, &crowds)),
    })
}

/// Two and four downloads.
///
/// # Errors
/// When a link cannot be read.
pub fn few() -> Result<Vec<Crowd>> {
    crowds(&Extent {
        quick: true,
        ..Extent::default()
    })
}

fn crowds(extent: &Extent) -> Result<Vec<Crowd>> {
    let counts = &FLOWS[..if extent.quick { 2 } else { FLOWS.len() }];
    let links = [
        ("constant", Link::constant(CONSTANT_MBPS)),
        ("LTE", Link::cell(CellKind::Lte, 1, Some(LTE_MBPS))),
        ("HSPA", Link::cell(CellKind::Hspa, 1, Some(HSPA_MBPS))),
    ];
    let mut crowds = Vec::new();
    for (equal, rtt_ms) in [(true, RTT_MS), (false, SHORTEST_MS)] {
        for &flows in counts {
            for (name, link) in &links {
                let path = Path::over(link, rtt_ms)?;
                crowds.push(Crowd {
                    label: format!("{name} × {flows}"),
                    flows,
                    equal,
                    trial: crowd(&path, flows, equal),
                });
            }
        }
    }
    Ok(crowds)
}

/// One download after another, over `path`, or over it and a further link.
fn crowd(path: &Path, flows: usize, equal: bool) -> Trial {
    let spread = if equal { "" } else { " with unequal RTTs" };
    let warmup_s = STAGGER_S * (flows - 1) as f64 + SETTLE_S;
    let hops = (1..flows).filter(|_| !equal);
    Trial::new(
        &format!("{flows} flows{spread}"),
        path,
        warmup_s + COUNTED_S,
        (0..flows).map(|flow| joining(flow, equal)).collect(),
    )
    .warmed_up(warmup_s)
    .hops(hops.map(|flow| far(path, flow, flows)).collect())
    .curves(&[CURVE])
}

fn joining(flow: usize, equal: bool) -> Workload {
    let own = (!equal && flow > 0).then(|| far_name(flow));
    let links = ["down", "up"].map(String::from).into_iter().chain(own);
    Workload {
        name: name(flow),
        start_s: STAGGER_S * flow as f64,
        links: Some(links.collect()),
        ..download()
    }
}

fn name(flow: usize) -> String {
    format!("download {}", flow + 1)
}

/// The link behind the bottleneck that makes that download's base RTT longer than the path's.
fn far(path: &Path, flow: usize, flows: usize) -> Hop {
    let shortest = f64::from(path.rtt_ms);
    let longer = libm::pow(SPREAD, flow as f64 / (flows - 1) as f64);
    Hop {
        name: far_name(flow),
        direction: Direction::Down,
        side: Side::Server,
        link: LinkSpec::new(RateSpec::ConstantMbps(FAR_MBPS), shortest * (longer - 1.0)),
    }
}

fn far_name(flow: usize) -> String {
    format!("far {}", flow + 1)
}

impl Crowd {
    /// The case of a contender.
    pub fn case(&self, contender: Contender) -> Case {
        self.trial.case(contender)
    }

    /// Jain's index of their shares.
    pub fn jain(&self, sample: &Sample, contender: Contender) -> f64 {
        // If nothing is carried, nothing is shared.
        sample.mean(&self.trial.by(contender), |run| {
            jain(&goodputs(run)).unwrap_or(0.0)
        })
    }

    /// The last download's share as a multiple of the fair one.
    fn last_share(&self, sample: &Sample, contender: Contender) -> f64 {
        sample.mean(&self.trial.by(contender), |run| {
            let all = goodputs(run);
            all.last().copied().unwrap_or_default() / mean(all.iter().copied())
        })
    }
}

/// In the order of their starts.
fn goodputs(run: &RunResult) -> Vec<f64> {
    run.flows.iter().map(|flow| flow.goodput_bps).collect()
}

fn quantities(crowds: &Arc<[Crowd]>) -> Vec<Quantity> {
    let mut quantities = Vec::new();
    let mut counts: Vec<usize> = crowds.iter().map(|crowd| crowd.flows).collect();
    counts.sort_unstable();
    counts.dedup();
    for flows in counts {
        let equals = chosen(crowds, flows, true);
        quantities.extend(equally(flows, &equals));
        let unequals = chosen(crowds, flows, false);
        quantities.push(unequally(flows, &unequals));
    }
    quantities.extend(
        [true, false]
            .into_iter()
            .flat_map(|equal| cost(crowds, equal)),
    );
    quantities
}

fn chosen(crowds: &[Crowd], flows: usize, equal: bool) -> Arc<[Crowd]> {
    let chosen = crowds
        .iter()
        .filter(|c| c.flows == flows && c.equal == equal);
    chosen.cloned().collect()
}

/// How evenly that many equal downloads share.
fn equally(flows: usize, crowds: &Arc<[Crowd]>) -> [Quantity; 2] {
    let [one, other] = [crowds.clone(), crowds.clone()];
    let even = Quantity::new(
        format!("{flows} equals: Jain's index, worst"),
        "",
        Claim::at_least(FAIR, 1.0 / flows as f64),
        move |s| least(one.iter().map(|c| c.jain(s, TIDE))),
    );
    let late = Quantity::new(
        format!("{flows} equals: the last one's share ÷ the fair one, worst"),
        "",
        Claim::same(1.0, LATE),
        move |s| {
            let shares = other.iter().map(|c| c.last_share(s, TIDE));
            let further = |a: &f64, b: &f64| (a - 1.0).abs().total_cmp(&(b - 1.0).abs());
            shares.max_by(further).expect("a path")
        },
    );
    [even, late]
}

/// How evenly downloads with different base RTTs share, compared with Linux.
fn unequally(flows: usize, crowds: &Arc<[Crowd]>) -> Quantity {
    let crowds = crowds.clone();
    Quantity::new(
        format!("{flows} with unequal RTTs: Jain's index less Linux's"),
        "",
        Claim::at_least(0.0, -1.0),
        move |s| {
            let indices = |contender| mean(crowds.iter().map(move |c| c.jain(s, contender)));
            indices(TIDE) - indices(LINUX)
        },
    )
}

/// What sharing costs, compared with DRWA.
fn cost(crowds: &[Crowd], equal: bool) -> [Quantity; 2] {
    let who = if equal { "equals" } else { "unequal RTTs" };
    let one: Arc<[Crowd]> = crowds
        .iter()
        .filter(|c| c.equal == equal)
        .cloned()
        .collect();
    let other = one.clone();
    let used = Quantity::new(
        format!("{who}: utilisation, tide less DRWA λ = 3"),
        "points",
        Claim::at_least(0.0, -100.0),
        move |s| {
            let of = |contender| score(s, &one, contender).utilisation;
            of(TIDE) - of(DRWA)
        },
    )
    .because(
        "DRWA keeps many times the queue there, and tide's forecast sinks in a cell's fades as it does with one flow",
    );
    let waited = Quantity::new(
        format!("{who}: mean queueing delay ÷ that of DRWA λ = 3, geometric mean"),
        "",
        Claim::at_most(DELAY, 1.0),
        move |s| {
            let of = |contender| score(s, &other, contender).mean_ms;
            of(TIDE) / of(DRWA)
        },
    );
    [used, waited]
}

/// The score of all these crowds together.
pub fn score(sample: &Sample, crowds: &[Crowd], contender: Contender) -> Score {
    let of = |crowd: &Crowd| Score::read(sample, &crowd.trial.by(contender));
    Score::together(crowds.iter().map(of))
}

fn pictures(sample: &Sample, crowds: &[Crowd]) -> Vec<plot::Figure> {
    let mut pictures: Vec<_> = [true, false]
        .map(|equal| indices(sample, crowds, equal))
        .into();
    for equal in [true, false] {
        let crowd = crowds.iter().filter(|c| c.equal == equal).nth(3);
        let crowd = crowd.expect("four flows on a constant link");
        pictures.extend(TRIO.map(|(label, contender, _)| rates(sample, crowd, label, contender)));
    }
    pictures
}

/// Jain's index of every crowd.
fn indices(sample: &Sample, crowds: &[Crowd], equal: bool) -> plot::Figure {
    let crowds: Vec<&Crowd> = crowds.iter().filter(|c| c.equal == equal).collect();
    let bars = TRIO.map(|(name, contender, nth)| {
        let indices = crowds.iter().map(|c| c.jain(sample, contender));
        let points = (0..).map(f64::from).zip(indices);
        Curve::new(name, Pen::nth(nth), Mark::Bars, points.collect())
    });
    let who = if equal { "equal" } else { "unequal" };
    plot::Figure {
        title: format!("Jain's index, {who} base RTTs"),
        x: Axis::categories(crowds.iter().map(|c| c.label.as_str())),
        y: Axis::new("", Scale::FromZero),
        curves: bars.into(),
        size: plot::Figure::WIDE,
    }
}

/// Each download's rate over time.
fn rates(sample: &Sample, crowd: &Crowd, label: &str, contender: Contender) -> plot::Figure {
    let case = crowd.trial.by(contender);
    let curves = (0..crowd.flows).map(|flow| {
        let name = name(flow);
        let curve = sample.flow_curves(&case, &name, CURVE).next();
        let points = seconds(&curve.unwrap_or_default());
        Curve::new(name, Pen::nth(flow + 1), Mark::Line, points)
    });
    plot::Figure {
        title: format!("{label}, {}", crowd.trial.name()),
        x: Axis::new("time, s", Scale::FromZero),
        y: Axis::new("Mbit/s", Scale::FromZero),
        curves: curves.collect(),
        size: plot::Figure::STRIP,
    }
}
