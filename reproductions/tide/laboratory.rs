//! A sample for the real kernel: tide against DRWA and untouched Linux.

use super::against::{LINUX, NEVER, PUBLISHED, RARELY};
use super::contenders::Contender;
use super::paths::{Path, WARMUP_S};
use super::score::Score;
use super::trials::Trial;
use crate::means::{geometric_mean, mean};
use crate::workloads::download;
use std::sync::Arc;
use tidegate_report::colour::Pen;
use tidegate_report::plot::{self, Axis, Curve, Mark, Scale};
use tidegate_study::{Case, Claim, Figure, Quantity, Sample};

/// Cases: a path and a sender.
const CASES: usize = 12;

/// Length of a run in real time, in seconds.
const SHORT_S: f64 = 30.0;

/// Senders, in turn.
const SENDERS: [&str; 2] = ["cubic", "bbr"];

/// The figure.
pub fn figure(paths: &[Path]) -> Figure {
    let sample: Arc<[Pick]> = sample(paths).into();
    Figure {
        id: "laboratory",
        title: "A sample of twelve",
        claim: "Over the kernel's own TCP, too: as much of the link as DRWA with λ = 3 uses, at a third of its delay from \
                CUBIC senders and at no more from BBR's.",
        method: "Twelve cases, spread over the links, the base RTTs and both senders; half a minute each. A delay below \
                 0.5 ms counts as 0.5 ms.",
        cases: sample.iter().flat_map(Pick::cases).collect(),
        quantities: quantities(&sample),
        draw: Box::new(move |runs| vec![picture(runs, &sample)]),
    }
}

/// A download and its sender.
#[derive(Clone)]
struct Pick {
    trial: Trial,
    sender: &'static str,
}

/// Twelve of them, evenly over the links, each with the next base RTT and the other sender.
fn sample(paths: &[Path]) -> Vec<Pick> {
    let mut rtts: Vec<u32> = paths.iter().map(|path| path.rtt_ms).collect();
    rtts.sort_unstable();
    rtts.dedup();
    // Each link has a path for each RTT.
    let links: Vec<&[Path]> = paths.chunks(rtts.len()).collect();
    (0..CASES)
        .map(|nth| {
            let path = &links[nth * links.len() / CASES][nth % rtts.len()];
            let subject = format!("{SHORT_S} s");
            Pick {
                trial: Trial::new(&subject, path, SHORT_S, vec![download()]).warmed_up(WARMUP_S),
                sender: SENDERS[nth % SENDERS.len()],
            }
        })
        .collect()
}

impl Pick {
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
            .map(|contender| self.trial.case(contender))
    }

    /// The scores of the three, in their order.
    fn scores(&self, runs: &Sample) -> [Score; 3] {
        self.contenders()
            .map(|contender| Score::read(runs, &self.trial.by(contender)))
    }

    /// tide's utilisation minus DRWA's, in points.
    fn more(&self, runs: &Sample) -> f64 {
        let [tide, drwa, _] = self.scores(runs);
        tide.utilisation - drwa.utilisation
    }

    fn name(&self) -> String {
        format!("{}, {}", self.trial.name(), self.sender)
    }
}

fn quantities(picks: &Arc<[Pick]>) -> Vec<Quantity> {
    let quantity = |name: &str, unit, claim, read: fn(&[Pick], &Sample) -> f64| {
        let picks = picks.clone();
        Quantity::new(name, unit, claim, move |runs| read(&picks, runs))
    };
    let count = picks.len() as f64;
    let mut quantities = vec![
        quantity(
            "mean utilisation, tide less DRWA λ = 3",
            "points",
            Claim::at_least(0.0, -NEVER),
            |picks, runs| mean(picks.iter().map(|pick| pick.more(runs))),
        ),
        quantity(
            &format!(
                "cases of {CASES} with more than {NEVER} points less utilisation than DRWA λ = 3"
            ),
            "cases",
            Claim::at_most(0.0, count),
            |picks, runs| below(picks, runs, NEVER),
        ),
        quantity(
            &format!(
                "cases of {CASES} with more than {RARELY} points less utilisation than DRWA λ = 3"
            ),
            "cases",
            Claim::at_most((count / 10.0).floor(), count),
            |picks, runs| below(picks, runs, RARELY),
        ),
        quantity(
            "CUBIC: mean queueing delay ÷ DRWA's, geometric mean",
            "",
            Claim::at_most(0.36, 1.0),
            |picks, runs| ratio(picks, runs, "cubic", |score| score.mean_ms),
        ),
        quantity(
            "CUBIC: 95th percentile ÷ DRWA's, geometric mean",
            "",
            Claim::at_most(0.38, 1.0),
            |picks, runs| ratio(picks, runs, "cubic", |score| score.p95_ms),
        ),
        quantity(
            "BBR: mean queueing delay ÷ DRWA's, geometric mean",
            "",
            Claim::at_most(1.0, 2.0),
            |picks, runs| ratio(picks, runs, "bbr", |score| score.mean_ms),
        ),
        quantity(
            "mean utilisation, tide less untouched Linux",
            "points",
            Claim::at_least(-NEVER, -100.0),
            |picks, runs| {
                let more = picks.iter().map(|pick| {
                    let [tide, _, linux] = pick.scores(runs);
                    tide.utilisation - linux.utilisation
                });
                mean(more)
            },
        )
        .because(LINUX),
    ];
    for pick in picks.iter() {
        quantities.extend(details(pick));
    }
    quantities
}

/// A case by itself.
fn details(pick: &Pick) -> [Quantity; 2] {
    let [used, waited] = [pick.clone(), pick.clone()];
    [
        Quantity::new(
            format!("{}: utilisation, tide less DRWA λ = 3", pick.name()),
            "points",
            Claim::at_least(-NEVER, -100.0),
            move |runs| used.more(runs),
        ),
        Quantity::new(
            format!("{}: mean queueing delay ÷ DRWA's", pick.name()),
            "",
            Claim::at_most(1.0, 2.0),
            move |runs| {
                let [tide, drwa, _] = waited.scores(runs);
                tide.mean_ms / drwa.mean_ms
            },
        ),
    ]
}

/// Number of cases in which tide uses over `points` less than DRWA.
fn below(picks: &[Pick], runs: &Sample, points: f64) -> f64 {
    let below = picks.iter().filter(|pick| pick.more(runs) < -points);
    below.count() as f64
}

/// tide's delay over DRWA's with that sender.
fn ratio(picks: &[Pick], runs: &Sample, sender: &str, delay: fn(&Score) -> f64) -> f64 {
    let ratios: Vec<f64> = picks
        .iter()
        .filter(|pick| pick.sender == sender)
        .map(|pick| pick.scores(runs))
        .map(|[tide, drwa, _]| delay(&tide) / delay(&drwa))
        .collect();
    geometric_mean(ratios.into_iter())
}

/// Where the three stand in each case.
fn picture(runs: &Sample, picks: &[Pick]) -> plot::Figure {
    let curve = |nth: usize, label: &str| {
        let points = picks.iter().map(|pick| {
            let score = pick.scores(runs)[nth];
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
