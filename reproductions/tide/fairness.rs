//! Several downloads over one path, one after another joining.

use super::contenders::Contender;
use super::paths::Path;
use super::score::{Score, mean};
use std::sync::Arc;
use tidegate_report::colour::Pen;
use tidegate_report::jain;
use tidegate_report::plot::{self, Axis, Curve, Mark, Scale};
use tidegate_reproduce::{Case, Claim, Extent, Figure, Quantity, Sample};
use tidegate_scenario::{
    CellKind, Direction, Hop, LinkSpec, RateSpec, RunResult, Scenario, Side, Workload, WorkloadKind,
};

const TIDE: Contender = Contender::tide("cubic");
const DRWA: Contender = Contender::drwa("cubic", 3.0);
const LINUX: Contender = Contender::linux("cubic");

/// Who is in the pictures.
const CONTENDERS: [(&str, Contender); 3] = [("Linux", LINUX), ("DRWA λ = 3", DRWA), ("tide", TIDE)];

/// How many downloads share; with `--quick` the first two numbers.
const FLOWS: [usize; 3] = [2, 4, 8];

/// Seconds from one start to the next, from the last one until all have settled, and for which their
/// shares are then counted.
const STAGGER_S: f64 = 5.0;
const SETTLE_S: f64 = 10.0;
const COUNTED_S: f64 = 60.0;

/// The base RTT of equals in milliseconds; of unequals the shortest, and the longest by so much longer.
const RTT_MS: u32 = 50;
const SHORTEST_MS: u32 = 25;
const SPREAD: f64 = 4.0;

/// Rate of the links behind the bottleneck, on which nothing waits, in Mbit/s.
const FAR_MBPS: f64 = 1000.0;

/// Mean rates of the links in Mbit/s.
const CONSTANT_MBPS: u32 = 20;
const LTE_MBPS: f64 = 20.0;
const HSPA_MBPS: f64 = 5.0;

/// Jain's index that equals are to reach.
const FAIR: f64 = 0.95;

/// How far the last one's share may be from the fair one.
const LATE: f64 = 0.2;

/// tide's mean queueing delay is to be this part of DRWA's, as that of a single download.
const DELAY: f64 = 0.36;

const CURVE: &str = "goodput_bps";

/// Who shares what.
#[derive(Clone, Debug)]
struct Crowd {
    /// The link and the number of flows, for pictures: `hspa 1 × 4`.
    label: String,
    path: Path,
    flows: usize,
    equal: bool,
}

/// The figure.
pub fn figure(extent: &Extent) -> Figure {
    let crowds: Arc<[Crowd]> = crowds(extent).into();
    let case = |crowd: &Crowd| CONTENDERS.map(|(_, contender)| crowd.case(contender));
    Figure {
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
    }
}

fn crowds(extent: &Extent) -> Vec<Crowd> {
    let counts = &FLOWS[..if extent.quick { 2 } else { FLOWS.len() }];
    let links = |rtt_ms| {
        [
            Path::constant(CONSTANT_MBPS, rtt_ms),
            Path::cell(CellKind::Lte, 1, LTE_MBPS, rtt_ms),
            Path::cell(CellKind::Hspa, 1, HSPA_MBPS, rtt_ms),
        ]
    };
    let mut crowds = Vec::new();
    for (equal, rtt_ms) in [(true, RTT_MS), (false, SHORTEST_MS)] {
        for &flows in counts {
            crowds.extend(links(rtt_ms).map(|path| Crowd::new(path, flows, equal)));
        }
    }
    crowds
}

impl Crowd {
    fn new(path: Path, flows: usize, equal: bool) -> Self {
        let link = path.name.split(',').next().unwrap_or_default();
        let label = format!("{link} × {flows}");
        let spread = if equal { "" } else { " and more" };
        let name = format!("{}{spread}, {flows} flows", path.name);
        Self {
            label,
            path: path.named(name),
            flows,
            equal,
        }
    }

    fn case(&self, contender: Contender) -> Case {
        let case = contender.case(&self.path);
        Case {
            scenario: self.join(case.scenario),
            curves: vec![CURVE],
            ..case
        }
    }

    /// A download after another instead of one.
    fn join(&self, scenario: Scenario) -> Scenario {
        let warmup_s = STAGGER_S * (self.flows - 1) as f64 + SETTLE_S;
        let hops = (1..self.flows).map(|flow| self.far(flow));
        Scenario {
            duration_s: warmup_s + COUNTED_S,
            warmup_s,
            workloads: (0..self.flows).map(|flow| self.download(flow)).collect(),
            hops: hops.filter(|_| !self.equal).collect(),
            ..scenario
        }
    }

    fn download(&self, flow: usize) -> Workload {
        let own = (!self.equal && flow > 0).then(|| far(flow));
        let links = ["down", "up"].map(String::from).into_iter().chain(own);
        Workload {
            name: format!("download {}", flow + 1),
            start_s: STAGGER_S * flow as f64,
            stop_s: None,
            links: Some(links.collect()),
            does: WorkloadKind::Bulk {
                direction: Direction::Down,
                bytes: None,
                flows: 1,
            },
        }
    }

    /// The link behind the bottleneck that makes that download's base RTT longer than the path's.
    fn far(&self, flow: usize) -> Hop {
        let shortest = f64::from(self.path.rtt_ms);
        let longer = SPREAD.powf(flow as f64 / (self.flows - 1) as f64);
        Hop {
            name: far(flow),
            direction: Direction::Down,
            side: Side::Server,
            link: LinkSpec::new(RateSpec::ConstantMbps(FAR_MBPS), shortest * (longer - 1.0)),
        }
    }

    fn jain(&self, sample: &Sample, contender: Contender) -> f64 {
        // Where nothing is carried nothing is shared.
        sample.mean(&contender.on(&self.path), |run| {
            jain(&goodputs(run)).unwrap_or(0.0)
        })
    }

    /// The last one's share as a multiple of the fair one.
    fn last_share(&self, sample: &Sample, contender: Contender) -> f64 {
        sample.mean(&contender.on(&self.path), |run| {
            let all = goodputs(run);
            all.last().copied().unwrap_or_default() / mean(all.iter().copied())
        })
    }
}

/// The name of the link behind the bottleneck of that download.
fn far(flow: usize) -> String {
    format!("far {}", flow + 1)
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

/// How evenly that many equals share.
fn equally(flows: usize, crowds: &Arc<[Crowd]>) -> [Quantity; 2] {
    let [one, other] = [crowds.clone(), crowds.clone()];
    let even = Quantity::new(
        format!("{flows} equals: Jain's index, worst"),
        "",
        Claim::AtLeast {
            paper: FAIR,
            neutral: 1.0 / flows as f64,
        },
        move |s| one.iter().map(|c| c.jain(s, TIDE)).fold(1.0, f64::min),
    );
    let late = Quantity::new(
        format!("{flows} equals: the last one's share ÷ the fair one, worst"),
        "",
        Claim::Near {
            paper: 1.0,
            within: LATE,
            neutral: 0.0,
        },
        move |s| {
            let shares = other.iter().map(|c| c.last_share(s, TIDE));
            let further = |a: &f64, b: &f64| (a - 1.0).abs().total_cmp(&(b - 1.0).abs());
            shares.max_by(further).expect("a path")
        },
    );
    [even, late]
}

/// How evenly flows with different base RTTs share, beside Linux's.
fn unequally(flows: usize, crowds: &Arc<[Crowd]>) -> Quantity {
    let crowds = crowds.clone();
    Quantity::new(
        format!("{flows} with unequal RTTs: Jain's index less Linux's"),
        "",
        Claim::AtLeast {
            paper: 0.0,
            neutral: -1.0,
        },
        move |s| {
            let indices = |contender| mean(crowds.iter().map(move |c| c.jain(s, contender)));
            indices(TIDE) - indices(LINUX)
        },
    )
}

/// What sharing costs, beside DRWA's.
fn cost(crowds: &[Crowd], equal: bool) -> [Quantity; 2] {
    let who = if equal { "equals" } else { "unequal RTTs" };
    let paths: Arc<[Path]> = crowds
        .iter()
        .filter(|crowd| crowd.equal == equal)
        .map(|crowd| crowd.path.clone())
        .collect();
    let other = paths.clone();
    let used = Quantity::new(
        format!("{who}: utilisation, tide less DRWA λ = 3"),
        "points",
        Claim::AtLeast {
            paper: 0.0,
            neutral: -100.0,
        },
        move |s| {
            Score::over(s, TIDE, &paths).utilisation - Score::over(s, DRWA, &paths).utilisation
        },
    );
    let waited = Quantity::new(
        format!("{who}: mean queueing delay ÷ that of DRWA λ = 3, geometric mean"),
        "",
        Claim::AtMost {
            paper: DELAY,
            neutral: 1.0,
        },
        move |s| Score::over(s, TIDE, &other).mean_ms / Score::over(s, DRWA, &other).mean_ms,
    );
    [used, waited]
}

fn pictures(sample: &Sample, crowds: &[Crowd]) -> Vec<plot::Figure> {
    let mut pictures: Vec<_> = [true, false]
        .map(|equal| indices(sample, crowds, equal))
        .into();
    for equal in [true, false] {
        let crowd = crowds.iter().filter(|c| c.equal == equal).nth(3);
        let crowd = crowd.expect("four flows on a constant link");
        pictures.extend(CONTENDERS.map(|(name, contender)| rates(sample, crowd, name, contender)));
    }
    pictures
}

/// Jain's index of every crowd.
fn indices(sample: &Sample, crowds: &[Crowd], equal: bool) -> plot::Figure {
    let crowds: Vec<&Crowd> = crowds.iter().filter(|c| c.equal == equal).collect();
    let bars = CONTENDERS
        .iter()
        .zip([2, 0, 1])
        .map(|(&(name, contender), pen)| {
            let indices = (0..)
                .map(f64::from)
                .zip(crowds.iter().map(|c| c.jain(sample, contender)));
            Curve::new(name, Pen::nth(pen), Mark::Bars, indices.collect())
        });
    let who = if equal { "equal" } else { "unequal" };
    plot::Figure {
        title: format!("Jain's index, {who} base RTTs"),
        x: Axis::categories(crowds.iter().map(|c| c.label.as_str())),
        y: Axis::new("", Scale::FromZero),
        curves: bars.collect(),
        size: plot::Figure::WIDE,
    }
}

/// Each download's rate over time.
fn rates(sample: &Sample, crowd: &Crowd, name: &str, contender: Contender) -> plot::Figure {
    let flows = sample.flow_curves(&contender.on(&crowd.path), CURVE);
    let curves = flows.iter().enumerate().map(|(flow, curve)| {
        let points = seconds(curve);
        let label = format!("download {}", flow + 1);
        Curve::new(label, Pen::nth(flow + 1), Mark::Line, points)
    });
    plot::Figure {
        title: format!("{name}: {}", crowd.path.name),
        x: Axis::new("time, s", Scale::FromZero),
        y: Axis::new("Mbit/s", Scale::FromZero),
        curves: curves.collect(),
        size: plot::Figure::STRIP,
    }
}

/// Means over ten points, a second, of bit/s in Mbit/s.
fn seconds(curve: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let second = |points: &[(f64, f64)]| (points[0].0, 1e-6 * mean(points.iter().map(|p| p.1)));
    curve.chunks(10).map(second).collect()
}
