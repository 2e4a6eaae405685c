//! An experiment with every rival on each path, and the numbers read from it.

use super::contenders::Rival;
use crate::means::{geometric_mean, mean};
use crate::tide::paths::Path;
use crate::workloads::ping;
use anyhow::Result;
use std::sync::Arc;
use tidegate_report::colour::Pen;
use tidegate_report::plot::{self, Axis, Curve, Mark, Scale};
use tidegate_scenario::{RunResult, Scenario, Workload};
use tidegate_study::{Case, Claim, Listing, Quantity, Sample};

/// A call's packets: 200 bytes every 20 ms.
const CALL: (f64, u64) = (20.0, 200);

/// Higher than other wide figures, for labels and a plane.
pub const SIZE: (u32, u32) = (940, 460);

/// Lower bound for rates and delays, so that ratios exist.
pub const LEAST: f64 = 1e-3;

/// An experiment in which every rival is compared on each path.
pub struct Experiment {
    /// Distinguishes its cases from those of other experiments; can be empty.
    pub subject: &'static str,
    /// The rivals, in the order of pictures and tables.
    pub rivals: Vec<Rival>,
    /// The paths.
    pub paths: Vec<Path>,
    /// Sets up the workloads, without the rival's own remedy.
    pub happens: fn(Rival, &Path, &mut Scenario),
    /// Whether its bulk flows are uploads.
    pub uploads: bool,
    /// The traffic that waits.
    pub waits: Waits,
}

/// Traffic that waits behind bulk flows.
#[derive(Clone, Copy)]
pub enum Waits {
    /// A call.
    Call,
    /// A page. Its time is the run's seconds, less the pauses, over the number of pages.
    Page {
        /// From the first page's request to the end of the run.
        all_s: f64,
        /// From a page's end to the next one's request.
        pause_s: f64,
    },
}

/// A call.
pub fn call() -> Workload {
    let (interval_ms, bytes) = CALL;
    Workload::new("call", ping(interval_ms, bytes))
}

/// A rival's outcome on a path.
#[derive(Clone, Copy)]
pub struct Outcome {
    /// Goodput of the bulk flows.
    pub goodput_mbps: f64,
    /// Wait: 95th percentile of a call's round trips, or mean time of a page.
    pub wait_ms: f64,
    /// Use of the link, in percent.
    pub used: f64,
}

impl Outcome {
    /// Whether it has `times` the other's goodput and no longer wait.
    pub fn beats(&self, other: &Self, times: f64) -> bool {
        self.goodput_mbps >= times * other.goodput_mbps && self.wait_ms <= other.wait_ms
    }
}

impl Waits {
    /// In words, with the unit.
    const fn words(self) -> &'static str {
        match self {
            Self::Call => "round trip of the call, p95, ms",
            Self::Page { .. } => "time of a page, ms",
        }
    }

    /// The waiting traffic, in words.
    const fn what(self) -> &'static str {
        match self {
            Self::Call => "delay of the call",
            Self::Page { .. } => "time of a page",
        }
    }

    fn of(self, run: &RunResult) -> f64 {
        match self {
            // A call that was never answered has no round trip: it waited for the whole run.
            Self::Call => {
                let call = run.flows.iter().find(|f| f.name == "call");
                let ms = call.map(|f| f.rtt_ms.p95);
                ms.filter(|&ms| ms > 0.0).unwrap_or(60_000.0)
            }
            // The time of the last page counts, even though that page did not end.
            Self::Page { all_s, pause_s } => {
                let came = run.fetches.iter().find(|fetch| fetch.name == "page");
                let count = came.map_or(0.0, |came| came.count as f64);
                1e3 * (all_s - count * pause_s) / count.max(1.0)
            }
        }
    }
}

impl Experiment {
    /// The name of a rival's case on a path.
    pub fn case_name(&self, rival: Rival, path: &Path) -> String {
        let where_and_who = format!("{}, {}", path.name, rival.name());
        match self.subject {
            "" => where_and_who,
            subject => format!("{subject}: {where_and_who}"),
        }
    }

    /// All of them.
    ///
    /// # Errors
    /// When a recording cannot be read.
    pub fn cases(&self) -> Result<Vec<Case>> {
        let mut cases = Vec::new();
        for path in &self.paths {
            for &rival in &self.rivals {
                cases.push(self.case(rival, path)?);
            }
        }
        Ok(cases)
    }

    fn case(&self, rival: Rival, path: &Path) -> Result<Case> {
        let run = rival.run(path, self.uploads)?;
        let mut scenario = path.scenario(rival.policy(), run);
        rival.mark(&mut scenario.down.queue, path);
        if self.uploads {
            std::mem::swap(&mut scenario.down, &mut scenario.up);
        }
        (self.happens)(rival, path, &mut scenario);
        scenario.name = self.case_name(rival, path);
        Ok(Case::new(scenario))
    }

    /// A rival's outcome on a path.
    pub fn outcome(&self, sample: &Sample, rival: Rival, path: &Path) -> Outcome {
        let case = self.case_name(rival, path);
        let link = |run: &RunResult| match self.uploads {
            true => run.uplink.utilisation,
            false => run.link.utilisation,
        };
        Outcome {
            goodput_mbps: sample.goodput(&case),
            wait_ms: sample.mean(&case, |run| self.waits.of(run)),
            used: sample.mean(&case, |run| 100.0 * link(run)),
        }
    }

    /// Outcomes of tide and the rival, path by path.
    pub fn pairs<'a>(
        &'a self,
        sample: &'a Sample,
        rival: Rival,
    ) -> impl Iterator<Item = (&'a Path, Outcome, Outcome)> {
        self.paths.iter().map(move |path| {
            let [ours, theirs] = [Rival::Tide, rival].map(|r| self.outcome(sample, r, path));
            (path, ours, theirs)
        })
    }

    /// tide's number over the rival's, geometric mean over the selected paths.
    pub fn ratio(
        &self,
        sample: &Sample,
        rival: Rival,
        of: fn(&Outcome) -> f64,
        meant: impl Fn(&Path) -> bool,
    ) -> f64 {
        let pairs = self
            .pairs(sample, rival)
            .filter(|(path, ..)| meant(path))
            .map(|(_, ours, theirs)| of(&ours).max(LEAST) / of(&theirs).max(LEAST));
        geometric_mean(pairs)
    }

    /// A rival's result over all paths.
    fn reached(&self, sample: &Sample, rival: Rival) -> Reached {
        let all = || {
            let paths = self.paths.iter();
            paths.map(|path| self.outcome(sample, rival, path))
        };
        Reached {
            used: mean(all().map(|o| o.used)),
            wait_ms: geometric_mean(all().map(|o| o.wait_ms.max(LEAST))),
        }
    }

    /// Every contender's result over all paths, and what it needs.
    pub fn everybody(&self, sample: &Sample) -> Listing {
        let row = |&rival: &Rival| {
            let Reached { used, wait_ms } = self.reached(sample, rival);
            let goodput = 1.0 / self.ratio(sample, rival, |o| o.goodput_mbps, |_| true);
            vec![
                rival.name().into(),
                used.into(),
                goodput.into(),
                wait_ms.into(),
                rival.needs().into(),
            ]
        };
        Listing {
            title: "What everybody reaches, over all paths".into(),
            heads: [
                "",
                "use of the link, %",
                "goodput ÷ tide's",
                self.waits.words(),
                "needs",
            ]
            .map(str::to_owned)
            .into(),
            rows: self.rivals.iter().map(row).collect(),
        }
    }

    /// Every contender's result, over all paths.
    pub fn plane(&self, sample: &Sample) -> plot::Figure {
        let dot = |(nth, &rival): (usize, &Rival)| {
            let Reached { used, wait_ms } = self.reached(sample, rival);
            let label = format!(
                "{}: {used:.0} %, {wait_ms:.0} ms ({})",
                rival.name(),
                rival.needs()
            );
            Curve::new(label, Pen::nth(nth), Mark::Dots, vec![(wait_ms, used)])
        };
        plot::Figure {
            title: format!(
                "Use of the link over the {}: left and high is good",
                self.waits.what()
            ),
            x: Axis::new(self.waits.words(), Scale::Log),
            y: Axis::new("use of the link, %", Scale::Linear),
            curves: self.rivals.iter().enumerate().map(dot).collect(),
            size: SIZE,
        }
    }
}

/// Result over all paths: the mean use of the link in percent, and the geometric mean of the wait.
struct Reached {
    used: f64,
    wait_ms: f64,
}

/// Ratios of tide to a rival over the selected paths: goodput and wait. `whose` says which rival, and where.
pub fn ratios(
    experiment: &Arc<Experiment>,
    rival: Rival,
    whose: &str,
    meant: impl Fn(&Path) -> bool + Copy + Send + Sync + 'static,
) -> [Quantity; 2] {
    let what = experiment.waits.what();
    let [carried, waited] = [experiment.clone(), experiment.clone()];
    [
        Quantity::new(
            format!("{whose}: tide's goodput ÷ its"),
            "",
            Claim::at_least(1.0, 0.0),
            move |s| carried.ratio(s, rival, |o| o.goodput_mbps, meant),
        )
        .because(rival.trades()),
        Quantity::new(
            format!("{whose}: {what} with tide ÷ with it"),
            "",
            Claim::at_most(1.0, 10.0),
            move |s| waited.ratio(s, rival, |o| o.wait_ms, meant),
        )
        .because(rival.trades()),
    ]
}

/// tide beside each of its rivals over all paths, and every contender's result.
pub fn beside_all(experiment: &Arc<Experiment>) -> Vec<Quantity> {
    let rivals = experiment
        .rivals
        .iter()
        .filter(|&&rival| rival != Rival::Tide);
    let mut quantities: Vec<Quantity> = rivals
        .flat_map(|&rival| ratios(experiment, rival, rival.name(), |_| true))
        .collect();
    if let Some(first) = quantities.first_mut() {
        let experiment = experiment.clone();
        first.listed = Some(Box::new(move |s| experiment.everybody(s)));
    }
    quantities
}
