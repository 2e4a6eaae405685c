//! A download and a call beside each other, over every path.

use super::contenders::Rival;
use crate::means::{geometric_mean, mean};
use crate::tide::paths::Path;
use crate::workloads::ping;
use anyhow::Result;
use std::sync::Arc;
use tidegate_report::colour::Pen;
use tidegate_report::plot::{self, Axis, Curve, Mark, Scale};
use tidegate_reproduce::{Case, Claim, Figure, Listing, Quantity, Sample};
use tidegate_scenario::{RunResult, Workload};

/// A call's packets: 200 bytes every 20 ms.
const CALL: (f64, u64) = (20.0, 200);

/// Higher than wide figures are: labels and a plane.
const SIZE: (u32, u32) = (940, 460);

/// Share of paths, in percent, on which the goals have to be reached.
const MOST_PATHS: f64 = 80.0;

/// What tide has to carry beside cake-autorate with its defaults, and beside an expert's.
const BESIDE_DEFAULTS: f64 = 1.3;
const BESIDE_EXPERT: f64 = 1.0;

/// cake-autorate's least rate, in Mbit/s, with its defaults: slower links it does not shape.
const LEAST_MBPS: f64 = 5.0;

/// The figure.
///
/// # Errors
/// When a recording cannot be read.
pub fn figure(paths: &[Path]) -> Result<Figure> {
    let paths: Arc<[Path]> = paths.into();
    let mut cases = Vec::new();
    for path in &*paths {
        for rival in Rival::ALL {
            cases.push(case(rival, path)?);
        }
    }
    Ok(Figure {
        id: "downloads",
        title: "A download and a call",
        claim: "Beside cake-autorate the download has at least 1.3 times the goodput and the call no longer delays, on 80 % of the \
                paths; beside cake-autorate that an expert has set for each link, at least the same.",
        method: "The call's delay is the 95th percentile of its round trips. An expert has seen each recording: cake-autorate's \
                 base rate is the median of what the link carries in a second, its least half of that, its most the \
                 maximum, and the uplink is shaped to 95 %. CAKE by hand has 75 % of the link's mean. A packet of the call \
                 passes the download in CAKE's queues and in FQ-CoDel's; with tide it waits in the same queue.",
        cases,
        quantities: quantities(&paths),
        draw: Box::new(move |sample| vec![plane(sample, &paths), duel(sample, &paths)]),
    })
}

fn name(rival: Rival, path: &Path) -> String {
    format!("{}, {}", path.name, rival.name())
}

fn case(rival: Rival, path: &Path) -> Result<Case> {
    let mut scenario = path.scenario(rival.policy(), rival.run(path)?);
    rival.mark(&mut scenario.down.queue, path);
    let (interval_ms, bytes) = CALL;
    scenario.workloads = vec![
        rival.download(),
        Workload::new("call", ping(interval_ms, bytes)),
    ];
    let name = name(rival, path);
    scenario.name.clone_from(&name);
    Ok(Case {
        name,
        scenario,
        curves: Vec::new(),
        once: false,
    })
}

/// What a rival did on a path.
#[derive(Clone, Copy)]
struct Outcome {
    goodput_mbps: f64,
    /// 95th percentile of the call's round trip.
    call_ms: f64,
    utilisation: f64,
}

impl Outcome {
    fn of(sample: &Sample, rival: Rival, path: &Path) -> Self {
        let case = name(rival, path);
        let call = |run: &RunResult| {
            run.flows
                .iter()
                .find(|f| f.name == "call")
                .map(|f| f.rtt_ms.p95)
        };
        Self {
            goodput_mbps: sample.goodput(&case),
            // A call that was never answered has no round trip, and waited for all of the run.
            call_ms: sample.mean(&case, |run| {
                call(run).filter(|&ms| ms > 0.0).unwrap_or(60_000.0)
            }),
            utilisation: sample.mean(&case, |run| 100.0 * run.link.utilisation),
        }
    }

    /// Whether it has so many times the other's goodput, and the call no longer delays.
    fn beats(&self, other: &Self, times: f64) -> bool {
        self.goodput_mbps >= times * other.goodput_mbps && self.call_ms <= other.call_ms
    }
}

/// tide's outcome and the rival's, path by path.
fn pairs<'a>(
    sample: &'a Sample,
    rival: Rival,
    paths: &'a [Path],
) -> impl Iterator<Item = (&'a Path, Outcome, Outcome)> {
    paths.iter().map(move |path| {
        let [ours, theirs] = [Rival::Tide, rival].map(|rival| Outcome::of(sample, rival, path));
        (path, ours, theirs)
    })
}

fn quantities(paths: &Arc<[Path]>) -> Vec<Quantity> {
    let goals = [
        (Rival::Autorate, BESIDE_DEFAULTS),
        (Rival::Expert, BESIDE_EXPERT),
    ];
    let goals = goals
        .into_iter()
        .flat_map(|(rival, times)| goal(rival, times, paths));
    let rivals = Rival::ALL.into_iter().filter(|&rival| rival != Rival::Tide);
    let ratios = rivals.flat_map(|rival| ratios(rival, paths));
    let first = [everybody(paths)].into_iter();
    first
        .chain(goals)
        .chain(by_speed(paths))
        .chain(ratios)
        .collect()
}

/// On how many of the paths something is so of tide's outcome and the rival's.
fn share(
    whose: &str,
    rival: Rival,
    what: &str,
    paths: &Arc<[Path]>,
    is_so: impl Fn(&Outcome, &Outcome) -> bool + Send + Sync + 'static,
) -> Quantity {
    let paths = Arc::clone(paths);
    let goal = Claim::at_least(MOST_PATHS, 0.0);
    Quantity::new(format!("{whose}: paths with {what}"), "%", goal, move |s| {
        let so = pairs(s, rival, &paths).map(|(_, ours, theirs)| is_so(&ours, &theirs));
        100.0 * mean(so.map(f64::from))
    })
    .because(rival.trades())
}

/// Where tide is ahead in both, in either, and where the rival is in both.
fn goal(rival: Rival, times: f64, paths: &Arc<[Path]>) -> [Quantity; 4] {
    let [listed, behind] = [paths.clone(), paths.clone()];
    let share = |what: &str, is_so: fn(&Outcome, &Outcome) -> bool| {
        share(rival.name(), rival, what, paths, is_so)
    };
    let both = format!("{times} times its goodput and no longer delays of the call");
    let count = paths.len();
    [
        self::share(rival.name(), rival, &both, paths, move |ours, theirs| {
            ours.beats(theirs, times)
        }),
        share("more goodput", |ours, theirs| {
            ours.goodput_mbps > theirs.goodput_mbps
        }),
        share("shorter delays of the call", |ours, theirs| {
            ours.call_ms < theirs.call_ms
        }),
        Quantity::new(
            format!(
                "{}: of {count} paths those where it is ahead in both",
                rival.name()
            ),
            "paths",
            Claim::at_most(0.0, count as f64),
            move |s| {
                pairs(s, rival, &behind)
                    .filter(|(_, ours, theirs)| theirs.beats(ours, 1.0))
                    .count() as f64
            },
        )
        .listing(move |s| defeats(s, rival, &listed)),
    ]
}

/// The paths on which a rival is ahead in both.
fn defeats(sample: &Sample, rival: Rival, paths: &[Path]) -> Listing {
    let defeats = pairs(sample, rival, paths).filter(|(_, ours, theirs)| theirs.beats(ours, 1.0));
    let row = |(path, ours, theirs): (&Path, Outcome, Outcome)| {
        vec![
            path.name.as_str().into(),
            ours.goodput_mbps.into(),
            theirs.goodput_mbps.into(),
            ours.call_ms.into(),
            theirs.call_ms.into(),
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

/// What everybody reaches, over all paths, and what it takes.
fn everybody(paths: &Arc<[Path]>) -> Quantity {
    let [ours, listed] = [paths.clone(), paths.clone()];
    let row = |s: &Sample, rival: Rival, paths: &[Path]| {
        let reached = Reached::of(s, rival, paths);
        vec![
            rival.name().into(),
            reached.used.into(),
            reached.call_ms.into(),
            rival.needs().into(),
        ]
    };
    Quantity::new(
        "tide: use of the link",
        "%",
        Claim::at_least(95.0, 0.0),
        move |s| Reached::of(s, Rival::Tide, &ours).used,
    )
    .listing(move |s| Listing {
        title: "What everybody reaches, over all paths".into(),
        heads: [
            "",
            "use of the link, %",
            "round trip of the call, p95, ms",
            "needs",
        ]
        .map(str::to_owned)
        .into(),
        rows: Rival::ALL
            .into_iter()
            .map(|rival| row(s, rival, &listed))
            .collect(),
    })
}

/// Over all paths: the mean use of the link, in percent, and the geometric mean of the call's delay.
struct Reached {
    used: f64,
    call_ms: f64,
}

impl Reached {
    fn of(sample: &Sample, rival: Rival, paths: &[Path]) -> Self {
        let all: Vec<_> = paths
            .iter()
            .map(|path| Outcome::of(sample, rival, path))
            .collect();
        Self {
            used: mean(all.iter().map(|o| o.utilisation)),
            call_ms: geometric_mean(all.iter().map(|o| o.call_ms)),
        }
    }
}

/// Means over the paths.
fn ratios(rival: Rival, paths: &Arc<[Path]>) -> [Quantity; 2] {
    ratios_over(rival.name(), rival, paths.clone())
}

/// Means over those paths on which cake-autorate shapes with its defaults, and over the others.
fn by_speed(paths: &[Path]) -> impl Iterator<Item = Quantity> {
    let (fast, slow): (Vec<_>, Vec<_>) = paths
        .iter()
        .cloned()
        .partition(|path| path.mean_mbps > LEAST_MBPS);
    let whose = |what: &str, count| {
        format!(
            "{}, {count} {what} than {LEAST_MBPS} Mbit/s",
            Rival::Autorate.name()
        )
    };
    let names = [whose("faster", fast.len()), whose("slower", slow.len())];
    let both = names.into_iter().zip([fast, slow]);
    both.filter(|(_, paths)| !paths.is_empty())
        .flat_map(|(name, paths)| {
            let paths: Arc<[Path]> = paths.into();
            let more = share(
                &name,
                Rival::Autorate,
                "more goodput",
                &paths,
                |ours, theirs| ours.goodput_mbps > theirs.goodput_mbps,
            );
            ratios_over(&name, Rival::Autorate, paths)
                .into_iter()
                .chain([more])
        })
}

fn ratios_over(whose: &str, rival: Rival, paths: Arc<[Path]>) -> [Quantity; 2] {
    let [one, other] = [paths.clone(), paths];
    let geometric = move |s: &Sample, paths: &[Path], of: fn(&Outcome) -> f64| {
        geometric_mean(
            pairs(s, rival, paths).map(|(_, ours, theirs)| of(&ours) / of(&theirs).max(1e-3)),
        )
    };
    [
        Quantity::new(
            format!("{whose}: tide's goodput ÷ its"),
            "",
            Claim::at_least(1.0, 0.0),
            move |s| geometric(s, &one, |o| o.goodput_mbps.max(1e-3)),
        )
        .because(rival.trades()),
        Quantity::new(
            format!("{whose}: delay of the call with tide ÷ with it"),
            "",
            Claim::at_most(1.0, 10.0),
            move |s| geometric(s, &other, |o| o.call_ms),
        )
        .because(rival.trades()),
    ]
}

/// What everybody reaches, over all paths.
fn plane(sample: &Sample, paths: &[Path]) -> plot::Figure {
    let dot = |(nth, rival): (usize, Rival)| {
        let Reached { used, call_ms } = Reached::of(sample, rival, paths);
        let label = format!(
            "{}: {used:.0} %, {call_ms:.0} ms ({})",
            rival.name(),
            rival.needs()
        );
        Curve::new(label, Pen::nth(nth), Mark::Dots, vec![(call_ms, used)])
    };
    plot::Figure {
        title: "Use of the link over the delay of a call beside a download: left and high is good"
            .into(),
        x: Axis::new("round trip of the call, 95th percentile, ms", Scale::Log),
        y: Axis::new("use of the link, %", Scale::Linear),
        curves: Rival::ALL.into_iter().enumerate().map(dot).collect(),
        size: SIZE,
    }
}

/// Every path: tide beside cake-autorate.
fn duel(sample: &Sample, paths: &[Path]) -> plot::Figure {
    let rivals = [Rival::Autorate, Rival::Expert, Rival::ByHand];
    let dots = rivals.into_iter().enumerate().map(|(nth, rival)| {
        let points = pairs(sample, rival, paths).map(|(_, ours, theirs)| {
            (
                ours.call_ms / theirs.call_ms,
                ours.goodput_mbps / theirs.goodput_mbps.max(1e-3),
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
