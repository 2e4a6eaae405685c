//! Changes of a path in the middle of a download.

use super::contenders::Contender;
use super::links::Link;
use super::paths::Path;
use super::trials::Trial;
use crate::workloads::download;
use anyhow::Result;
use tidegate_scenario::{CellKind, DelayStep, RateSpec, Scenario};
use tidegate_study::Case;

/// The curves that are read.
pub const CURVES: [&str; 3] = ["delivered_bps", "capacity_bps", "queue_delay_ms"];

/// When the change happens, in seconds: the download has settled.
pub const AT_S: f64 = 20.0;

/// Length of a run in seconds: until two minutes after the change, and a little longer.
const DURATION_S: f64 = 145.0;

/// By how much a route change lengthens or shortens the base RTT, in milliseconds.
const ROUTE_MS: u32 = 100;

/// How long a handover carries nothing, in seconds, and by how much the new cell's base RTT is longer, in
/// milliseconds.
const GAP_S: f64 = 0.3;
const NEW_CELL_MS: u32 = 20;

/// The smaller rates of rate steps in Mbit/s, and the factor of a step.
const RATES_MBPS: [f64; 2] = [2.0, 5.0];
const STEP: f64 = 10.0;

/// Rate of links that do not change it, in Mbit/s.
const STEADY_MBPS: f64 = 20.0;

/// The cells' mean rate in Mbit/s, and their seeds.
const CELL_MBPS: f64 = 10.0;
const CELL_SEEDS: [u64; 3] = [1, 2, 3];

/// Smallest base RTTs in milliseconds.
const RTTS_MS: [u32; 2] = [50, 200];

/// Kinds of changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The base RTT grows.
    Longer,
    /// The base RTT shrinks.
    Shorter,
    /// The base RTT of a cell grows.
    LongerCell,
    /// The base RTT of a cell shrinks.
    ShorterCell,
    /// Nothing passes for a while, the queue is kept, and the new cell is a little further away.
    Handover,
    /// The rate rises.
    Up,
    /// The rate falls.
    Down,
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::Longer,
        Self::Shorter,
        Self::LongerCell,
        Self::ShorterCell,
        Self::Handover,
        Self::Up,
        Self::Down,
    ];

    /// The change, in a few words.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Longer => "route +100 ms",
            Self::Shorter => "route −100 ms",
            Self::LongerCell => "cell's route +100 ms",
            Self::ShorterCell => "cell's route −100 ms",
            Self::Handover => "handover",
            Self::Up => "rate × 10",
            Self::Down => "rate ÷ 10",
        }
    }

    /// Whether the base RTT alone changes.
    pub const fn is_route(self) -> bool {
        !matches!(self, Self::Handover | Self::Up | Self::Down)
    }

    /// Whether the link's rate is a cell's, which is never the same for long.
    pub const fn is_cell(self) -> bool {
        matches!(self, Self::LongerCell | Self::ShorterCell)
    }

    /// The paths with this change, before and after it.
    fn paths(self, rtt_ms: u32) -> Result<Vec<(Path, Path)>> {
        let longer_ms = rtt_ms + ROUTE_MS;
        let steady = || vec![Link::constant(STEADY_MBPS)];
        let cells = || {
            let cell = |seed| Link::cell(CellKind::Lte, seed, Some(CELL_MBPS));
            CELL_SEEDS.map(cell).into()
        };
        match self {
            Self::Longer => moved(steady(), rtt_ms, longer_ms),
            Self::Shorter => moved(steady(), longer_ms, rtt_ms),
            Self::LongerCell => moved(cells(), rtt_ms, longer_ms),
            Self::ShorterCell => moved(cells(), longer_ms, rtt_ms),
            Self::Handover => moved(steady(), rtt_ms, rtt_ms + NEW_CELL_MS),
            Self::Up => stepped(1.0, STEP, rtt_ms),
            Self::Down => stepped(STEP, 1.0, rtt_ms),
        }
    }
}

/// These links, first at one base RTT and then at another one.
fn moved(links: Vec<Link>, from_ms: u32, to_ms: u32) -> Result<Vec<(Path, Path)>> {
    let links = links.iter();
    links
        .map(|link| Ok((Path::over(link, from_ms)?, Path::over(link, to_ms)?)))
        .collect()
}

/// Links with the smaller rates times one factor, and then times another.
fn stepped(from: f64, to: f64, rtt_ms: u32) -> Result<Vec<(Path, Path)>> {
    let path = |mbps| Path::over(&Link::constant(mbps), rtt_ms);
    let rates = RATES_MBPS.iter();
    rates
        .map(|mbps| Ok((path(mbps * from)?, path(mbps * to)?)))
        .collect()
}

/// A change of a path.
#[derive(Clone, Debug)]
pub struct Change {
    /// The kind of change.
    pub kind: Kind,
    /// The path before the change.
    before: Trial,
    /// The path after the change, as if it had always been so.
    after: Trial,
}

/// All changes.
///
/// # Errors
/// When a link cannot be read.
pub fn all() -> Result<Vec<Change>> {
    let mut changes = Vec::new();
    for kind in Kind::ALL {
        for rtt_ms in RTTS_MS {
            let paths = kind.paths(rtt_ms)?.into_iter();
            changes.extend(paths.map(|(before, after)| Change::new(kind, &before, &after)));
        }
    }
    Ok(changes)
}

impl Change {
    fn new(kind: Kind, before: &Path, after: &Path) -> Self {
        let trial =
            |subject, path| Trial::new(subject, path, DURATION_S, vec![download()]).curves(&CURVES);
        Self {
            kind,
            before: trial(kind.words(), before),
            after: trial("unchanged", after),
        }
    }

    /// Its name: the change, and the link.
    pub fn name(&self) -> String {
        self.before.name()
    }

    /// The name of a contender's case.
    pub fn by(&self, contender: Contender) -> String {
        self.before.by(contender)
    }

    /// The name of the reference case, whose path has always been as after the change.
    pub fn reference(&self, contender: Contender) -> String {
        self.after.by(contender)
    }

    /// A contender's download through the change, and its reference.
    pub fn cases(&self, contender: Contender) -> [Case; 2] {
        let [before, reference] = [&self.before, &self.after].map(|trial| trial.case(contender));
        let scenario = self.happen(before.scenario, &reference.scenario);
        [Case { scenario, ..before }, reference]
    }

    /// Changes the scenario's path to that of `after`.
    fn happen(&self, mut scenario: Scenario, after: &Scenario) -> Scenario {
        let gap_s = if self.kind == Kind::Handover {
            GAP_S
        } else {
            0.0
        };
        let links = [
            (&mut scenario.down, &after.down),
            (&mut scenario.up, &after.up),
        ];
        for (link, after) in links {
            link.delay_steps = vec![DelayStep {
                at_s: AT_S + gap_s,
                ms: after.delay_ms,
            }];
            if let (&RateSpec::ConstantMbps(from), &RateSpec::ConstantMbps(to)) =
                (&link.rate, &after.rate)
            {
                link.rate = RateSpec::Steps(steps(from, to, gap_s));
            }
        }
        scenario
    }
}

/// One rate and then the other, in Mbit/s, with a gap between them during which the queue is kept.
fn steps(from: f64, to: f64, gap_s: f64) -> Vec<[f64; 2]> {
    let mut steps = vec![[0.0, from]];
    if gap_s > 0.0 {
        steps.push([AT_S, 0.0]);
    }
    steps.push([AT_S + gap_s, to]);
    steps
}
