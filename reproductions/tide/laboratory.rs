//! A sample for the real kernel: tide against DRWA and untouched Linux.

use super::against::{LINUX, NEVER, PUBLISHED, RARELY};
use super::contenders::Contender;
use super::paths::Path;
use super::score::{Score, geometric_mean, mean};
use std::sync::Arc;
use tidegate_report::colour::Pen;
use tidegate_report::plot::{self, Axis, Curve, Mark, Scale};
use tidegate_reproduce::{Case, Claim, Figure, Quantity, Sample};

/// Cases: a path and a sender.
const CASES: usize = 12;

/// How long each takes in real time, in seconds.
const SHORT_S: f64 = 30.0;

/// Senders, in turn.
const SENDERS: [&str; 2] = ["cubic", "bbr"];

const FEW: &str = "where the path holds a packet or two, tide's window can stand at three segments for seconds while the link \
                   is idle (the LTE subway ride at 50 ms); when it leaves that state differs from one TCP to another";

/// The figure.
pub fn figure(paths: &[Path]) -> Figure {
    let sample: Arc<[Trial]> = sample(paths).into();
    Figure {
        id: "laboratory",
        title: "A sample of twelve",
        claim: "Over the kernel's own TCP, too: as much of the link as DRWA with λ = 3 uses, at a third of its delay from \
                CUBIC senders and at no more from BBR's.",
        method: "Twelve cases, spread over the links, the base RTTs and both senders; half a minute each. A delay below \
                 0.5 ms counts as 0.5 ms.",
        cases: sample.iter().flat_map(Trial::cases).collect(),
        quantities: quantities(&sample),
        draw: Box::new(move |runs| vec![picture(runs, &sample)]),
    }
}

/// A path and a sender.
#[derive(Clone)]
struct Trial {
    path: Path,
    sender: &'static str,
}

/// Twelve of them, evenly over the links, each with the next base RTT and the other sender.
fn sample(paths: &[Path]) -> Vec<Trial> {
    let mut rtts: Vec<u32> = paths.iter().map(|path| path.rtt_ms).collect();
    rtts.sort_unstable();
    rtts.dedup();
    // Of each link there is a path for each RTT.
    let links: Vec<&[Path]> = paths.chunks(rtts.len()).collect();
    (0..CASES)
        .map(|nth| Trial {
            path: links[nth * links.len() / CASES][nth % rtts.len()].lasting(SHORT_S),
            sender: SENDERS[nth % SENDERS.len()],
        })
        .collect()
}

impl Trial {
    /// tide, DRWA as it was published, and untouched Linux.
    fn contenders(&self) -> [Contender; 3] {
        [
            Contender::tide(self.sender),
            Contender::drwa(self.sender, PUBLISHED),
            Contender::linux(self.sender),
        ]
    }

    fn cases(&self) -> [Case; 3] {
        self.contenders()
            .map(|contender| contender.case(&self.path))
    }

    /// What the three did, in their order.
    fn scores(&self, runs: &Sample) -> [Score; 3] {
        self.contenders()
            .map(|contender| Score::of(runs, contender, &self.path))
    }

    /// Points of utilisation that tide uses more than DRWA.
    fn more(&self, runs: &Sample) -> f64 {
        let [tide, drwa, _] = self.scores(runs);
        tide.utilisation - drwa.utilisation
    }

    fn name(&self) -> String {
        format!("{}, {}", self.path.name, self.sender)
    }
}

fn quantities(trials: &Arc<[Trial]>) -> Vec<Quantity> {
    let quantity = |name: &str, unit, claim, read: fn(&[Trial], &Sample) -> f64| {
        let trials = trials.clone();
        Quantity::new(name, unit, claim, move |runs| read(&trials, runs))
    };
    let at_most = |paper, neutral| Claim::AtMost { paper, neutral };
    let at_least = |paper, neutral| Claim::AtLeast { paper, neutral };
    let count = trials.len() as f64;
    let mut quantities = vec![
        quantity(
            "mean utilisation, tide less DRWA λ = 3",
            "points",
            at_least(0.0, -NEVER),
            |trials, runs| mean(trials.iter().map(|trial| trial.more(runs))),
        ),
        quantity(
            &format!("of {CASES} cases more than {NEVER} points below"),
            "cases",
            at_most(0.0, count),
            |trials, runs| below(trials, runs, NEVER),
        )
        .because(FEW),
        quantity(
            &format!("of {CASES} cases more than {RARELY} points below"),
            "cases",
            at_most((count / 10.0).floor(), count),
            |trials, runs| below(trials, runs, RARELY),
        )
        .because(FEW),
        quantity(
            "CUBIC: mean queueing delay ÷ DRWA's, geometric mean",
            "",
            at_most(0.36, 1.0),
            |trials, runs| ratio(trials, runs, "cubic", |score| score.mean_ms),
        ),
        quantity(
            "CUBIC: 95th percentile ÷ DRWA's, geometric mean",
            "",
            at_most(0.38, 1.0),
            |trials, runs| ratio(trials, runs, "cubic", |score| score.p95_ms),
        ),
        quantity(
            "BBR: mean queueing delay ÷ DRWA's, geometric mean",
            "",
            at_most(1.0, 2.0),
            |trials, runs| ratio(trials, runs, "bbr", |score| score.mean_ms),
        ),
        quantity(
            "mean utilisation, tide less untouched Linux",
            "points",
            at_least(-NEVER, -100.0),
            |trials, runs| {
                let more = trials.iter().map(|trial| {
                    let [tide, _, linux] = trial.scores(runs);
                    tide.utilisation - linux.utilisation
                });
                mean(more)
            },
        )
        .because(LINUX),
    ];
    for trial in trials.iter() {
        quantities.extend(details(trial));
    }
    quantities
}

/// A case by itself.
fn details(trial: &Trial) -> [Quantity; 2] {
    let [used, waited] = [trial.clone(), trial.clone()];
    [
        Quantity::new(
            format!("{}: utilisation, tide less DRWA λ = 3", trial.name()),
            "points",
            Claim::AtLeast {
                paper: -NEVER,
                neutral: -100.0,
            },
            move |runs| used.more(runs),
        ),
        Quantity::new(
            format!("{}: mean queueing delay ÷ DRWA's", trial.name()),
            "",
            Claim::AtMost {
                paper: 1.0,
                neutral: 2.0,
            },
            move |runs| {
                let [tide, drwa, _] = waited.scores(runs);
                tide.mean_ms / drwa.mean_ms
            },
        ),
    ]
}

/// How many cases tide uses more than `points` less of than DRWA.
fn below(trials: &[Trial], runs: &Sample, points: f64) -> f64 {
    let below = trials.iter().filter(|trial| trial.more(runs) < -points);
    below.count() as f64
}

/// tide's delay over DRWA's with that sender.
fn ratio(trials: &[Trial], runs: &Sample, sender: &str, delay: fn(&Score) -> f64) -> f64 {
    let ratios: Vec<f64> = trials
        .iter()
        .filter(|trial| trial.sender == sender)
        .map(|trial| trial.scores(runs))
        .map(|[tide, drwa, _]| delay(&tide) / delay(&drwa))
        .collect();
    geometric_mean(ratios.into_iter())
}

/// Where the three stand in each case.
fn picture(runs: &Sample, trials: &[Trial]) -> plot::Figure {
    let curve = |nth: usize, label: &str| {
        let points = trials.iter().map(|trial| {
            let score = trial.scores(runs)[nth];
            (score.mean_ms, score.utilisation)
        });
        Curve::new(label, Pen::nth(nth + 1), Mark::Dots, points.collect())
    };
    let labels = ["tide", "DRWA λ = 3", "Linux"];
    plot::Figure {
        title: "Utilisation over mean queueing delay, each case".into(),
        x: Axis::new("mean queueing delay, ms", Scale::Log),
        y: Axis::new("utilisation, %", Scale::Linear),
        curves: (0..).zip(labels).map(|(nth, l)| curve(nth, l)).collect(),
        size: plot::Figure::WIDE,
    }
}
