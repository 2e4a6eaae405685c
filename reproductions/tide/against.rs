//! tide against DRWA, path by path.

use super::contenders::{Contender, LAMBDAS};
use super::frontier::Frontier;
use super::paths::Path;
use super::score::Score;
use crate::means::{geometric_mean, mean};
use std::sync::Arc;
use tidegate_report::colour::Pen;
use tidegate_report::plot::{self, Axis, Curve, Mark, Scale};
use tidegate_scenario::Law;
use tidegate_study::{Case, Claim, Figure, Quantity, Sample};

/// DRWA as it was published.
pub const PUBLISHED: f64 = 3.0;

/// Most points of utilisation below DRWA's in any case.
pub const NEVER: f64 = 3.5;
/// Points of utilisation below DRWA's that only a few cases are allowed.
pub const RARELY: f64 = 1.5;

/// Utilisation of both, in percent, in the packet model in which tide was first designed.
const MODELLED: f64 = 98.0;

const MODEL: &str = "the packet model that this comes from has one sender that no congestion window ever limits, base RTTs to \
                     250 ms and no link as slow or as often silent as the slowest here";

/// Why tide uses less than DRWA on some paths, where DRWA keeps several times its queue.
const FADES: &str = "after a fade of a second on a slow link the forecast needs some round trips to grow back (UMTS at 20 and 50 ms), \
                     a base delay that keeps changing is partly taken for queue (Starlink at 20 ms), and BBR's and CUBIC's own \
                     growth is left to chance where the rate leaps (5G at 100 ms and more)";

/// Why Linux uses more.
pub const LINUX: &str =
    "untouched Linux never lets the queue run dry, and has every packet wait for it";

/// tide's goals.
struct Goals {
    /// Share of cases, in percent, that are allowed [`RARELY`] points below.
    rarely: f64,
    /// Mean queueing delay relative to DRWA's.
    mean: f64,
    /// 95th percentile relative to DRWA's.
    p95: f64,
    /// Share of cases, in percent, that must lie below DRWA's own frontier.
    frontier: f64,
}

/// CUBIC senders.
pub fn cubic(paths: &[Path]) -> Figure {
    figure(
        "cubic",
        "tide against DRWA, CUBIC senders",
        "Where the sender fills any buffer: as much of the link as DRWA with λ = 3 uses, at about a third of its \
         delay, and below what DRWA could do with the best λ for each path.",
        Versus::new("cubic", paths),
        &Goals {
            rarely: 10.0,
            mean: 0.36,
            p95: 0.38,
            frontier: 95.0,
        },
    )
}

/// BBR senders.
pub fn bbr(paths: &[Path]) -> Figure {
    figure(
        "bbr",
        "tide against DRWA, BBR senders",
        "Where the sender keeps the queue short itself there is less to gain: no link is lost, and nobody waits longer \
         than with DRWA.",
        Versus::new("bbr", paths),
        &Goals {
            rarely: 10.0,
            mean: 1.0,
            p95: 1.0,
            frontier: 50.0,
        },
    )
}

fn figure(
    id: &'static str,
    title: &'static str,
    claim: &'static str,
    versus: Versus,
    goals: &Goals,
) -> Figure {
    let versus = Arc::new(versus);
    Figure {
        id,
        title,
        claim,
        method: "The frontier of a path is interpolated between λ = 1.1, 1.25, 1.5, 2, 2.5, 3 and 4, those left out that \
                 another one beats in both; beyond the highest utilisation that it reaches it ends, and tide has to \
                 stay below the delay there. A delay below 0.5 ms counts as 0.5 ms.",
        cases: versus.cases(),
        quantities: quantities(&versus, goals),
        draw: Box::new(move |sample| vec![versus.picture(sample)]),
    }
}

fn quantities(versus: &Arc<Versus>, goals: &Goals) -> Vec<Quantity> {
    let count = versus.paths.len();
    let quantity = |name: &str, unit, claim, read: fn(&Versus, &Sample) -> f64| {
        let versus = versus.clone();
        Quantity::new(name, unit, claim, move |sample| read(&versus, sample))
    };
    let modelled = Claim::Near {
        paper: MODELLED,
        within: 2.0,
        neutral: 0.0,
    };
    vec![
        quantity(
            "mean utilisation, tide less DRWA λ = 3",
            "points",
            Claim::at_least(0.0, -NEVER),
            |v, s| v.ours(s).utilisation - v.theirs(s).utilisation,
        ),
        quantity("mean utilisation of tide", "%", modelled, |v, s| {
            v.ours(s).utilisation
        })
        .because(MODEL),
        quantity("mean utilisation of DRWA λ = 3", "%", modelled, |v, s| {
            v.theirs(s).utilisation
        })
        .because(MODEL),
        quantity(
            &format!(
                "cases of {count} with more than {NEVER} points less utilisation than DRWA λ = 3"
            ),
            "cases",
            Claim::at_most(0.0, count as f64),
            |v, s| v.below(s, NEVER),
        )
        .because(FADES),
        quantity(
            &format!(
                "cases of {count} with more than {RARELY} points less utilisation than DRWA λ = 3"
            ),
            "cases",
            Claim::at_most((count as f64 * goals.rarely / 100.0).floor(), count as f64),
            |v, s| v.below(s, RARELY),
        ),
        quantity(
            "mean queueing delay ÷ DRWA's, geometric mean",
            "",
            Claim::at_most(goals.mean, 1.0),
            |v, s| v.ratio(s, |score| score.mean_ms),
        ),
        quantity(
            "95th percentile of the queueing delay ÷ DRWA's, geometric mean",
            "",
            Claim::at_most(goals.p95, 1.0),
            |v, s| v.ratio(s, |score| score.p95_ms),
        ),
        quantity(
            "cases with a shorter queue than DRWA needs for the same utilisation, at any λ",
            "%",
            Claim::at_least(goals.frontier, 0.0),
            Versus::below_frontier,
        ),
        quantity(
            "mean queueing delay ÷ untouched Linux's, geometric mean",
            "",
            Claim::at_most(1.0, 1.0),
            |v, s| v.ours(s).mean_ms / Score::over(s, Contender::linux(v.sender), &v.paths).mean_ms,
        ),
        quantity(
            "mean utilisation, tide less untouched Linux",
            "points",
            Claim::at_least(-NEVER, -100.0),
            |v, s| {
                v.ours(s).utilisation
                    - Score::over(s, Contender::linux(v.sender), &v.paths).utilisation
            },
        )
        .because(LINUX),
    ]
}

/// tide and DRWA with one kind of sender.
struct Versus {
    sender: &'static str,
    paths: Vec<Path>,
}

impl Versus {
    fn new(sender: &'static str, paths: &[Path]) -> Self {
        Self {
            sender,
            paths: paths.to_vec(),
        }
    }

    fn cases(&self) -> Vec<Case> {
        let others = [
            Contender::linux(self.sender),
            Contender::tide(self.sender),
            Contender::law(self.sender, Law::Rledbat),
        ];
        let drwa = LAMBDAS.map(|lambda| Contender::drwa(self.sender, lambda));
        let all = others.into_iter().chain(drwa);
        self.paths
            .iter()
            .flat_map(|path| all.clone().map(move |contender| contender.case(path)))
            .collect()
    }

    fn ours(&self, sample: &Sample) -> Score {
        Score::over(sample, Contender::tide(self.sender), &self.paths)
    }

    fn theirs(&self, sample: &Sample) -> Score {
        Score::over(sample, Contender::drwa(self.sender, PUBLISHED), &self.paths)
    }

    /// tide's score and DRWA's with λ = 3, path by path.
    fn pairs(&self, sample: &Sample) -> impl ExactSizeIterator<Item = (&Path, Score, Score)> {
        let contenders = [
            Contender::tide(self.sender),
            Contender::drwa(self.sender, PUBLISHED),
        ];
        self.paths.iter().map(move |path| {
            let [ours, theirs] = contenders.map(|c| Score::of(sample, c, path));
            (path, ours, theirs)
        })
    }

    /// Number of paths on which tide uses over `points` less than DRWA with λ = 3.
    fn below(&self, sample: &Sample, points: f64) -> f64 {
        self.pairs(sample)
            .filter(|(_, ours, theirs)| theirs.utilisation - ours.utilisation > points)
            .count() as f64
    }

    fn ratio(&self, sample: &Sample, delay: fn(&Score) -> f64) -> f64 {
        geometric_mean(
            self.pairs(sample)
                .map(|(_, ours, theirs)| delay(&ours) / delay(&theirs)),
        )
    }

    /// Share of paths, in percent, on which DRWA needs a longer delay to reach tide's utilisation.
    fn below_frontier(&self, sample: &Sample) -> f64 {
        let below = |path| {
            let drwa = LAMBDAS.map(|lambda| {
                let score = Score::of(sample, Contender::drwa(self.sender, lambda), path);
                (score.utilisation, score.mean_ms)
            });
            let ours = Score::of(sample, Contender::tide(self.sender), path);
            ours.mean_ms < Frontier::new(drwa).delay_at(ours.utilisation)
        };
        100.0 * mean(self.paths.iter().map(|path| f64::from(below(path))))
    }

    /// Every case: utilisation lost and delay gained.
    fn picture(&self, sample: &Sample) -> plot::Figure {
        let mut rtts: Vec<u32> = self.paths.iter().map(|path| path.rtt_ms).collect();
        rtts.sort_unstable();
        rtts.dedup();
        let curves = rtts.iter().zip(1..).map(|(&rtt, nth)| {
            let points = self.pairs(sample).filter(|(path, ..)| path.rtt_ms == rtt);
            let points = points
                .map(|(_, a, b)| (a.utilisation - b.utilisation, a.mean_ms / b.mean_ms))
                .collect();
            Curve::new(format!("{rtt} ms"), Pen::nth(nth), Mark::Dots, points)
        });
        plot::Figure {
            title: "Every case, by base RTT: tide against DRWA with λ = 3".into(),
            x: Axis::new("utilisation, points more than DRWA's", Scale::Linear),
            y: Axis::new("mean queueing delay ÷ DRWA's", Scale::Log),
            curves: curves.collect(),
            size: plot::Figure::WIDE,
        }
    }
}
