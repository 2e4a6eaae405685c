//! Short flows, alone and beside a download.

use super::contenders::{Contender, DRWA, LINUX, QUARTET, RLEDBAT, Shown, TIDE, TRIO};
use super::links::{self, Link};
use super::paths::{self, Path};
use super::score::Score;
use super::trials::Trial;
use crate::means::geometric_mean;
use crate::workloads::{download, fetches};
use anyhow::Result;
use std::sync::Arc;
use tidegate_report::colour::Pen;
use tidegate_report::plot::{self, Axis, Curve, Mark, Scale};
use tidegate_scenario::{FetchResult, Workload};
use tidegate_study::{Claim, Extent, Figure, Quantity, Sample};

/// Objects fetched, in bytes.
const SIZES: [u64; 5] = [8 << 10, 32 << 10, 128 << 10, 512 << 10, 1 << 20];

const RATES_MBPS: [f64; 2] = [10.0, 50.0];
const RTTS_MS: [u32; 2] = [50, 200];

/// Seconds from the expected end of a fetch to the next one: soon enough that the path is still remembered, and late
/// enough that it is forgotten.
const SOON_S: f64 = 6.0;
const LATE_S: f64 = 14.0;

/// Longest expected fetch on cells, as a multiple of the time that the link needs for its bytes.
const ALLOWANCE: f64 = 2.0;

/// Fetches of each size at either interval.
const ROUNDS: usize = 8;
const QUICK_ROUNDS: usize = 2;

/// A pause longer than any run, in seconds.
const NEVER_S: f64 = 86_400.0;

/// Beside a download: when the first object is requested, the pause after each, and the length of the run, in seconds.
const BESIDE_FROM_S: f64 = 5.0;
const PAUSE_S: f64 = 0.5;
const BESIDE_S: f64 = 605.0;
const QUICK_BESIDE_S: f64 = 305.0;

/// The trials: fetches with short pauses, with long pauses, and beside a download.
struct Trials {
    soon: Vec<Trial>,
    late: Vec<Trial>,
    beside: Vec<Trial>,
}

/// The figure.
///
/// # Errors
/// When a link cannot be read.
pub fn figure(extent: &Extent) -> Result<Figure> {
    let trials = Arc::new(Trials::new(extent)?);
    let alone = trials.alone();
    let alone = alone.flat_map(|trial| TRIO.map(|(_, contender, _)| trial.case(contender)));
    let beside = trials
        .beside
        .iter()
        .flat_map(|trial| QUARTET.map(|(_, contender, _)| trial.case(contender)));
    let cases = alone.chain(beside).collect();
    Ok(Figure {
        id: "short",
        title: "Short flows",
        claim: "Alone, objects of 8 KB to 1 MB come as fast as with untouched Linux; beside a download three times faster \
                at least.",
        method: "Over 10 and 50 Mbit/s and the shipped cells, base RTT 50 and 200 ms, each object on a connection of its \
                 own. Alone, each fetch begins at a time that is the same for all, 6 s or 14 s after the one before \
                 should have ended: after 10 s tide has forgotten the path. Beside a download they follow each other with \
                 a pause of 0.5 s; a link is left out where the other ends none in the whole run (untouched Linux on slow \
                 cells). Ratios are of mean times, and geometric means over the links.",
        cases,
        quantities: quantities(&trials),
        draw: Box::new(move |sample| pictures(sample, &trials)),
    })
}

impl Trials {
    fn new(extent: &Extent) -> Result<Self> {
        let links = RATES_MBPS.map(Link::constant).into_iter();
        let paths = paths::over(links.chain(links::cells(extent.quick)), &RTTS_MS)?;
        let (rounds, beside_s) = match extent.quick {
            true => (QUICK_ROUNDS, QUICK_BESIDE_S),
            false => (ROUNDS, BESIDE_S),
        };
        let alone = |pause_s: f64| {
            let trial = |path: &Path| {
                let (workloads, end_s) = one_by_one(path.mean_mbps, pause_s, rounds);
                Trial::new(
                    &format!("objects, {pause_s} s apart"),
                    path,
                    end_s,
                    workloads,
                )
            };
            paths.iter().map(trial).collect()
        };
        let beside = paths.iter().map(|path| {
            let objects = fetches(&SIZES, BESIDE_FROM_S, PAUSE_S);
            let workloads = vec![download(), objects];
            Trial::new("objects beside a download", path, beside_s, workloads)
                .warmed_up(BESIDE_FROM_S)
        });
        Ok(Self {
            soon: alone(SOON_S),
            late: alone(LATE_S),
            beside: beside.collect(),
        })
    }

    fn alone(&self) -> impl Iterator<Item = &Trial> {
        self.soon.iter().chain(&self.late)
    }
}

/// Every size in turn, each with its time over a link of that rate; and when the last one ends.
fn one_by_one(mbps: f64, pause_s: f64, rounds: usize) -> (Vec<Workload>, f64) {
    let mut workloads = Vec::new();
    let mut at_s = 0.0;
    for size in SIZES.repeat(rounds) {
        workloads.push(fetches(&[size], at_s, NEVER_S));
        at_s += pause_s + ALLOWANCE * size as f64 * 8e-6 / mbps;
    }
    (workloads, at_s + LATE_S)
}

fn quantities(trials: &Arc<Trials>) -> Vec<Quantity> {
    let mut quantities = Vec::new();
    for (rhythm, pick) in ALONE {
        for size in SIZES {
            let all = trials.clone();
            quantities.push(Quantity::new(
                format!("{} alone, {rhythm}: time ÷ untouched Linux's", name(size)),
                "",
                Claim::at_most(1.03, 1.5),
                move |sample| ratio(sample, pick(&all), LINUX, size),
            ));
        }
    }
    let all = trials.clone();
    quantities.push(Quantity::new(
        "alone, worst link, size and rhythm: time ÷ untouched Linux's",
        "",
        Claim::at_most(1.03, 2.0),
        move |sample| {
            all.alone()
                .flat_map(|trial| SIZES.map(|size| times(sample, trial, LINUX, size)))
                .fold(0.0, worse)
        },
    ));
    for size in SIZES {
        let all = trials.clone();
        quantities.push(Quantity::new(
            format!(
                "{} beside a download: untouched Linux's time ÷ tide's",
                name(size)
            ),
            "",
            Claim::at_least(3.0, 1.0),
            move |sample| 1.0 / ratio(sample, &all.beside, LINUX, size),
        ));
    }
    for (label, other) in [("DRWA λ = 3", DRWA), ("rLEDBAT", RLEDBAT)] {
        let all = trials.clone();
        quantities.push(Quantity::new(
            format!("beside a download, all sizes: {label}'s time ÷ tide's"),
            "",
            Claim::at_least(1.0, 0.5),
            move |sample| {
                let ratios = SIZES.map(|size| 1.0 / ratio(sample, &all.beside, other, size));
                geometric_mean(ratios.into_iter())
            },
        ));
    }
    for (label, other) in [("untouched Linux", LINUX), ("DRWA λ = 3", DRWA)] {
        let all = trials.clone();
        quantities.push(Quantity::new(
            format!("the download's and the objects' utilisation, tide less {label}"),
            "points",
            Claim::at_least(-3.5, -100.0),
            move |sample| utilisation(sample, &all, TIDE) - utilisation(sample, &all, other),
        ));
    }
    quantities
}

/// Some of the trials.
type Pick = fn(&Trials) -> &[Trial];

/// The two intervals, in words.
const ALONE: [(&str, Pick); 2] = [
    ("6 s apart", |trials| &trials.soon),
    ("14 s apart", |trials| &trials.late),
];

/// tide's mean time over another's, geometric mean over the trials in which the other completed a fetch.
fn ratio(sample: &Sample, trials: &[Trial], other: Contender, size: u64) -> f64 {
    let ended = trials
        .iter()
        .filter(|trial| !time_ms(sample, &trial.by(other), size).is_nan());
    geometric_mean(ended.map(|trial| times(sample, trial, other, size)))
}

/// tide's mean time over another's.
fn times(sample: &Sample, trial: &Trial, other: Contender, size: u64) -> f64 {
    let [ours, theirs] = [TIDE, other].map(|c| time_ms(sample, &trial.by(c), size));
    ours / theirs
}

/// The larger ratio; one that is not a number counts as the worst.
fn worse(one: f64, other: f64) -> f64 {
    match other > one || other.is_nan() {
        true => other,
        false => one,
    }
}

/// Mean time of all fetches of that size in milliseconds; not a number if none completed.
pub fn time_ms(sample: &Sample, case: &str, size: u64) -> f64 {
    let fetches = || {
        let all = sample.runs(case).flat_map(|run| &run.fetches);
        all.filter(|fetch| fetch.bytes == size)
    };
    let sum = |of: fn(&FetchResult) -> f64| -> f64 { fetches().map(of).sum() };
    sum(|fetch| fetch.time_ms.mean * fetch.count as f64) / sum(|fetch| fetch.count as f64)
}

/// Use of the link in percent beside a download, mean over the links.
fn utilisation(sample: &Sample, trials: &Trials, contender: Contender) -> f64 {
    let of = |trial: &Trial| Score::read(sample, &trial.by(contender));
    Score::together(trials.beside.iter().map(of)).utilisation
}

/// Whether every contender has completed a fetch of every size.
fn all_end(sample: &Sample, trial: &Trial) -> bool {
    TRIO.iter().all(|&(_, contender, _)| {
        let case = trial.by(contender);
        SIZES
            .iter()
            .all(|&size| !time_ms(sample, &case, size).is_nan())
    })
}

fn name(size: u64) -> String {
    match size >> 20 {
        0 => format!("{} KB", size >> 10),
        mb => format!("{mb} MB"),
    }
}

/// Fetch times over sizes, geometric means over the links on which all complete: alone with short and long pauses, and
/// beside a download.
fn pictures(sample: &Sample, trials: &Trials) -> Vec<plot::Figure> {
    let kinds: [(&str, &[Shown], &[Trial]); 3] = [
        ("alone, 6 s apart", &TRIO, &trials.soon),
        ("alone, 14 s apart", &TRIO, &trials.late),
        ("beside a download", &QUARTET, &trials.beside),
    ];
    let picture = |(what, shown, trials): (&str, &[Shown], &[Trial])| {
        let ended: Vec<&Trial> = trials.iter().filter(|t| all_end(sample, t)).collect();
        let curve = |&(label, contender, nth): &Shown| {
            let points = SIZES.map(|size| {
                let times = ended
                    .iter()
                    .map(|t| time_ms(sample, &t.by(contender), size));
                (size as f64 / 1024.0, geometric_mean(times))
            });
            Curve::new(label, Pen::nth(nth), Mark::Line, points.into())
        };
        plot::Figure {
            title: format!("Fetch time {what}, mean of {} links", ended.len()),
            x: Axis::new("size, KB", Scale::Log),
            y: Axis::new("ms", Scale::Log),
            curves: shown.iter().map(curve).collect(),
            size: plot::Figure::HALF,
        }
    };
    kinds.map(picture).into()
}
