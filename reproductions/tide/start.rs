//! The first seconds of a download.

use super::contenders::{Contender, DRWA, LINUX, TIDE, TRIO};
use super::links::{self, Link};
use super::paths::{self, Path};
use super::trials::Trial;
use crate::means::{geometric_mean, mean};
use crate::spans::{BIN_S, Span};
use crate::workloads::download;
use anyhow::Result;
use std::sync::Arc;
use tidegate_report::colour::Pen;
use tidegate_report::plot::{self, Axis, Curve, Mark, Scale};
use tidegate_study::{Claim, Extent, Figure, Quantity, Sample};

/// Seconds that count as the start.
const START: Span = Span(0.0, 5.0);

/// Share of the link from which on it counts as used.
const USED: f64 = 0.9;

/// Lower bound for peaks in milliseconds: two packets at 50 Mbit/s.
const FLOOR_MS: f64 = 0.5;

/// Why peaks on cells are so long.
const FADES: &str = "on cells most of the longest waits are fades of a link that is full by then, not the start: whatever window \
                     uses such a link as Linux does stands in them";

const RATES_MBPS: [f64; 3] = [10.0, 50.0, 100.0];
const RTTS_MS: [u32; 4] = [20, 50, 100, 250];
const QUICK_RTTS_MS: [u32; 2] = [50, 250];

const CURVES: [&str; 4] = [
    "queue_delay_ms",
    "queue_delay_max_ms",
    "delivered_bps",
    "capacity_bps",
];

/// The same download over links of one rate and over cells.
struct Trials {
    constant: Arc<[Trial]>,
    cells: Arc<[Trial]>,
}

/// The figure.
///
/// # Errors
/// When a link cannot be read.
pub fn figure(extent: &Extent) -> Result<Figure> {
    let trials = Trials::new(extent)?;
    let cases = trials
        .all()
        .flat_map(|trial| TRIO.map(|(_, contender, _)| trial.case(contender)));
    Ok(Figure {
        id: "start",
        title: "The start of a download",
        claim: "As fast as untouched Linux, with a peak of the queue below a quarter of its.",
        method: "A link counts as used from the first tenth of a second on in which it carries 90 % of what it can. What is \
                 lost of the first 5 s is in seconds: the link's capacity less what came, over its rate. A peak below 0.5 ms counts \
                 as 0.5 ms.",
        cases: cases.collect(),
        quantities: quantities(&trials),
        draw: Box::new(move |sample| trials.shown().flat_map(|t| pictures(sample, t)).collect()),
    })
}

impl Trials {
    fn new(extent: &Extent) -> Result<Self> {
        let rtts: &[u32] = match extent.quick {
            true => &QUICK_RTTS_MS,
            false => &RTTS_MS,
        };
        let trial =
            |path: &Path| Trial::new("start", path, START.1, vec![download()]).curves(&CURVES);
        let group = |links: Vec<Link>| -> Result<Arc<[Trial]>> {
            Ok(paths::over(links, rtts)?.iter().map(trial).collect())
        };
        Ok(Self {
            constant: group(RATES_MBPS.map(Link::constant).into())?,
            cells: group(links::cells(extent.quick))?,
        })
    }

    /// The trials with pictures.
    fn shown(&self) -> impl Iterator<Item = &Trial> {
        self.all()
            .filter(|trial| QUICK_RTTS_MS.contains(&trial.path.rtt_ms))
    }

    fn all(&self) -> impl Iterator<Item = &Trial> {
        self.constant.iter().chain(self.cells.iter())
    }
}

fn quantities(trials: &Trials) -> Vec<Quantity> {
    let groups = [("constant", &trials.constant), ("cells", &trials.cells)];
    let of = |(name, trials): (&str, &Arc<[Trial]>)| group_quantities(name, trials);
    groups.into_iter().flat_map(of).collect()
}

/// The quantities of a group of links.
fn group_quantities(group: &str, trials: &Arc<[Trial]>) -> Vec<Quantity> {
    let quantity = |name: &str, unit, claim, read: fn(&[Trial], &Sample) -> f64| {
        let trials = trials.clone();
        Quantity::new(format!("{group}: {name}"), unit, claim, move |sample| {
            read(&trials, sample)
        })
    };
    let count = trials.len();
    vec![
        quantity(
            "time to 90 % of the link ÷ untouched Linux's",
            "",
            Claim::at_most(1.1, 2.0),
            |trials, s| ratio(trials, s, LINUX, used_from),
        ),
        quantity(
            "time to 90 % of the link ÷ DRWA's",
            "",
            Claim::at_most(1.0, 2.0),
            |trials, s| ratio(trials, s, DRWA, used_from),
        ),
        quantity(
            "lost of the first 5 s, tide less untouched Linux, mean",
            "s",
            Claim::at_most(0.1, 1.0),
            |trials, s| mean(trials.iter().map(|t| delayed(s, t))),
        ),
        quantity(
            &format!("of {count} cases that lose more than 0.1 s more than untouched Linux"),
            "cases",
            Claim::at_most(0.0, count as f64),
            |trials, s| trials.iter().filter(|t| delayed(s, t) > 0.1).count() as f64,
        ),
        quantity(
            "peak of the queue ÷ untouched Linux's, geometric mean",
            "",
            Claim::at_most(0.25, 1.0),
            |trials, s| geometric_mean(trials.iter().map(|t| lower(s, t))),
        )
        .because(FADES),
        quantity(
            &format!("of {count} cases whose peak is more than a quarter of untouched Linux's"),
            "cases",
            Claim::at_most(0.0, count as f64),
            |trials, s| trials.iter().filter(|t| lower(s, t) > 0.25).count() as f64,
        ),
        quantity(
            "peak of the queue ÷ DRWA's, geometric mean",
            "",
            Claim::at_most(1.0, 2.0),
            |trials, s| geometric_mean(trials.iter().map(|t| peak(s, t, TIDE) / peak(s, t, DRWA))),
        ),
    ]
}

/// The ratio of tide's number on all links together to another's.
fn ratio(
    trials: &[Trial],
    sample: &Sample,
    other: Contender,
    read: fn(&Sample, &Trial, Contender) -> f64,
) -> f64 {
    let sum = |c| -> f64 { trials.iter().map(|t| read(sample, t, c)).sum() };
    sum(TIDE) / sum(other)
}

/// When the link is first used, in seconds; the end of the start if never.
fn used_from(sample: &Sample, trial: &Trial, contender: Contender) -> f64 {
    let case = trial.by(contender);
    let [delivered, capacity] =
        ["delivered_bps", "capacity_bps"].map(|quantity| sample.curve(&case, quantity));
    let mut bins = delivered.iter().zip(&capacity);
    let used = bins.find(|(came, could)| could.1 > 0.0 && came.1 >= USED * could.1);
    used.map_or(START.1, |(came, _)| came.0 + BIN_S)
}

/// Cost of the start, in seconds of the link.
fn lost_s(sample: &Sample, trial: &Trial, contender: Contender) -> f64 {
    START.lost_s(sample, &trial.by(contender))
}

/// Cost of tide's start beyond untouched Linux's, in seconds of the link.
fn delayed(sample: &Sample, trial: &Trial) -> f64 {
    lost_s(sample, trial, TIDE) - lost_s(sample, trial, LINUX)
}

fn peak(sample: &Sample, trial: &Trial, contender: Contender) -> f64 {
    let case = trial.by(contender);
    START
        .peak(sample, &case, "queue_delay_max_ms")
        .max(FLOOR_MS)
}

/// tide's peak as a share of untouched Linux's.
fn lower(sample: &Sample, trial: &Trial) -> f64 {
    peak(sample, trial, TIDE) / peak(sample, trial, LINUX)
}

/// Throughput and queue over time.
fn pictures(sample: &Sample, trial: &Trial) -> [plot::Figure; 2] {
    let of = |what: &str, unit: &str, scale, quantity, factor: f64| {
        let curves = TRIO.map(|(label, contender, nth)| {
            let curve = sample.curve(&trial.by(contender), quantity);
            let points = curve.into_iter().map(|(t, value)| (t, value * factor));
            Curve::new(label, Pen::nth(nth), Mark::Line, points.collect())
        });
        plot::Figure {
            title: format!("{}: {what}", trial.path.name),
            x: Axis::new("time, s", Scale::Linear).within(START.0, START.1),
            y: Axis::new(unit, scale),
            curves: curves.into(),
            size: plot::Figure::HALF,
        }
    };
    [
        of(
            "throughput",
            "Mbit/s",
            Scale::FromZero,
            "delivered_bps",
            1e-6,
        ),
        of("longest wait", "ms", Scale::Fit, "queue_delay_max_ms", 1.0),
    ]
}
