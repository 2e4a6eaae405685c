//! A download with a call beside it, over every path.

use super::contenders::Rival;
use super::experiment::{self, Experiment, LEAST, Outcome, SIZE, Waits};
use crate::means::mean;
use crate::tide::paths::Path;
use anyhow::Result;
use std::sync::Arc;
use tidegate_report::colour::Pen;
use tidegate_report::plot::{self, Axis, Curve, Mark, Scale};
use tidegate_scenario::{Direction, Scenario};
use tidegate_study::{Claim, Figure, Listing, Quantity, Sample};

/// Share of paths, in percent, on which the goals must be reached.
const MOST_PATHS: f64 = 80.0;

/// Goodput that tide must reach relative to cake-autorate with its defaults, and with an expert's settings.
const BESIDE_DEFAULTS: f64 = 1.3;
const BESIDE_EXPERT: f64 = 1.0;

/// cake-autorate's default least rate, in Mbit/s: it does not shape slower links.
const LEAST_MBPS: f64 = 5.0;

/// The figure.
///
/// # Errors
/// When a recording cannot be read.
pub fn figure(paths: &[Path]) -> Result<Figure> {
    let experiment = Arc::new(Experiment {
        subject: "",
        rivals: Rival::ALL.into(),
        paths: paths.into(),
        happens: download_and_call,
        uploads: false,
        waits: Waits::Call,
    });
    Ok(Figure {
        id: "downloads",
        title: "A download and a call",
        claim: "Beside cake-autorate the download has at least 1.3 times the goodput and the call no longer delays, on 80 % of the \
                paths; beside cake-autorate that an expert has set for each link, at least the same.",
        method: "The call's delay is the 95th percentile of its round trips. An expert has seen each recording: cake-autorate's \
                 base rate is the median of what the link carries in a second, its least half of that, its most the \
                 maximum, and the uplink is shaped to 95 %. CAKE by hand has 75 % of the link's mean. A packet of the call \
                 passes the download in CAKE's queues and in FQ-CoDel's; with tide it waits in the same queue.",
        cases: experiment.cases()?,
        quantities: quantities(&experiment),
        draw: Box::new(move |sample| vec![experiment.plane(sample), duel(sample, &experiment)]),
    })
}

fn download_and_call(rival: Rival, _: &Path, scenario: &mut Scenario) {
    scenario.workloads = vec![rival.bulk(Direction::Down), experiment::call()];
}

fn quantities(experiment: &Arc<Experiment>) -> Vec<Quantity> {
    let goals = [
        (Rival::Autorate, BESIDE_DEFAULTS),
        (Rival::Expert, BESIDE_EXPERT),
    ];
    let goals = goals
        .into_iter()
        .flat_map(|(rival, times)| goal(rival, times, experiment));
    let ours = experiment.clone();
    let used = Quantity::new(
        "tide: use of the link",
        "%",
        Claim::at_least(95.0, 0.0),
        move |s| {
            mean(
                ours.paths
                    .iter()
                    .map(|path| ours.outcome(s, Rival::Tide, path).used),
            )
        },
    );
    [used]
        .into_iter()
        .chain(goals)
        .chain(by_speed(experiment))
        .chain(experiment::beside_all(experiment))
        .collect()
}

/// On how many of the selected paths a condition holds for tide's outcome and the rival's.
fn share(
    whose: &str,
    rival: Rival,
    what: &str,
    experiment: &Arc<Experiment>,
    meant: impl Fn(&Path) -> bool + Send + Sync + 'static,
    is_so: impl Fn(&Outcome, &Outcome) -> bool + Send + Sync + 'static,
) -> Quantity {
    let experiment = experiment.clone();
    let goal = Claim::at_least(MOST_PATHS, 0.0);
    Quantity::new(format!("{whose}: paths with {what}"), "%", goal, move |s| {
        let pairs = experiment.pairs(s, rival).filter(|(path, ..)| meant(path));
        100.0 * mean(pairs.map(|(_, ours, theirs)| f64::from(is_so(&ours, &theirs))))
    })
    .because(rival.trades())
}

/// Paths on which tide is ahead in both, in either, and on which the rival is ahead in both.
fn goal(rival: Rival, times: f64, experiment: &Arc<Experiment>) -> [Quantity; 4] {
    let [listed, behind] = [experiment.clone(), experiment.clone()];
    let share = |what: &str, is_so: fn(&Outcome, &Outcome) -> bool| {
        share(rival.name(), rival, what, experiment, |_| true, is_so)
    };
    let both = format!("{times} times its goodput and no longer delays of the call");
    let count = experiment.paths.len();
    [
        self::share(
            rival.name(),
            rival,
            &both,
            experiment,
            |_| true,
            move |ours, theirs| ours.beats(theirs, times),
        ),
        share("more goodput", |ours, theirs| {
            ours.goodput_mbps > theirs.goodput_mbps
        }),
        share("shorter delays of the call", |ours, theirs| {
            ours.wait_ms < theirs.wait_ms
        }),
        Quantity::new(
            format!(
                "{}: of {count} paths those where it is ahead in both",
                rival.name()
            ),
            "paths",
            Claim::at_most(0.0, count as f64),
            move |s| {
                behind
                    .pairs(s, rival)
                    .filter(|(_, ours, theirs)| theirs.beats(ours, 1.0))
                    .count() as f64
            },
        )
        .listing(move |s| defeats(s, rival, &listed)),
    ]
}

/// The paths on which a rival is ahead in both goodput and wait.
fn defeats(sample: &Sample, rival: Rival, experiment: &Experiment) -> Listing {
    let defeats = experiment
        .pairs(sample, rival)
        .filter(|(_, ours, theirs)| theirs.beats(ours, 1.0));
    let row = |(path, ours, theirs): (&Path, Outcome, Outcome)| {
        vec![
            path.name.as_str().into(),
            ours.goodput_mbps.into(),
            theirs.goodput_mbps.into(),
            ours.wait_ms.into(),
            theirs.wait_ms.into(),
        ]
    };
    Listing {
        title: format!("Where {} is ahead in both", rival.name()),
        heads: ["path", "tide, Mbit/s", "its, Mbit/s", "tide, ms", "its, ms"]
            .map(str::to_owned)
            .into(),
        rows: defeats.map(row).collect(),
    }
}

fn is_fast(path: &Path) -> bool {
    path.mean_mbps > LEAST_MBPS
}

/// Separately over paths that cake-autorate's defaults shape, and over the others.
fn by_speed(experiment: &Arc<Experiment>) -> Vec<Quantity> {
    let mut quantities = Vec::new();
    for (what, fast) in [("faster", true), ("slower", false)] {
        let meant = move |path: &Path| is_fast(path) == fast;
        let count = experiment.paths.iter().filter(|&path| meant(path)).count();
        if count == 0 {
            continue;
        }
        let rival = Rival::Autorate;
        let whose = format!("{}, {count} {what} than {LEAST_MBPS} Mbit/s", rival.name());
        quantities.extend(experiment::ratios(experiment, rival, &whose, meant));
        quantities.push(share(
            &whose,
            rival,
            "more goodput",
            experiment,
            meant,
            |ours, theirs| ours.goodput_mbps > theirs.goodput_mbps,
        ));
    }
    quantities
}

/// Every path: tide beside cake-autorate.
fn duel(sample: &Sample, experiment: &Experiment) -> plot::Figure {
    let rivals = [Rival::Autorate, Rival::Expert, Rival::ByHand];
    let dots = rivals.into_iter().enumerate().map(|(nth, rival)| {
        let points = experiment.pairs(sample, rival).map(|(_, ours, theirs)| {
            (
                ours.wait_ms / theirs.wait_ms,
                ours.goodput_mbps / theirs.goodput_mbps.max(LEAST),
            )
        });
        Curve::new(
            rival.name(),
            Pen::nth(nth + 2),
            Mark::Dots,
            points.collect(),
        )
    });
    plot::Figure {
        title: "Every path, tide ÷ rival: above 1 it carries more, left of 1 the call waits less"
            .into(),
        x: Axis::new(
            "round trip of the call, 95th percentile, tide ÷ rival",
            Scale::Log,
        ),
        y: Axis::new("goodput of the download, tide ÷ rival", Scale::Log),
        curves: dots.collect(),
        size: SIZE,
    }
}
