//! What can happen to a path in the middle of a download.

use super::contenders::Contender;
use super::paths::Path;
use tidegate_reproduce::Case;
use tidegate_scenario::{CellKind, DelayStep, RateSpec, Scenario};

/// When it happens: the download has settled. In seconds.
pub const AT_S: f64 = 20.0;

/// How long a run lasts: as long again as anybody may need to recover, and a little more.
const DURATION_S: f64 = 45.0;

/// By how much a route change lengthens or shortens the base RTT, in milliseconds.
const ROUTE_MS: u32 = 100;

/// How long nothing is carried in a handover, in seconds, and by how much the new cell's base RTT is
/// longer, in milliseconds.
const GAP_S: f64 = 0.3;
const NEW_CELL_MS: u32 = 20;

/// A rate step's smaller rates in Mbit/s, and by how much it steps.
const RATES_MBPS: [u32; 2] = [2, 5];
const STEP: u32 = 10;

/// The rate of what does not change its rate, in Mbit/s.
const STEADY_MBPS: u32 = 20;

/// The cells' mean rate in Mbit/s, and their seeds.
const CELL_MBPS: f64 = 10.0;
const CELL_SEEDS: [u64; 3] = [1, 2, 3];

/// Smallest base RTTs in milliseconds.
const RTTS_MS: [u32; 2] = [50, 200];

/// What happens.
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
    /// Nothing passes for a while, what waits is kept, and the new cell is a little further away.
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

    /// What happens, in a few words.
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

    /// The paths to which it happens, and what becomes of them.
    fn paths(self, rtt_ms: u32) -> Vec<(Path, Path)> {
        let longer_ms = rtt_ms + ROUTE_MS;
        let steady = |rtt_ms| Path::constant(STEADY_MBPS, rtt_ms);
        let cells = |from_ms, to_ms| {
            let cell = |seed, rtt_ms| Path::cell(CellKind::Lte, seed, CELL_MBPS, rtt_ms);
            let seeds = CELL_SEEDS.iter();
            seeds
                .map(|&seed| (cell(seed, from_ms), cell(seed, to_ms)))
                .collect()
        };
        let steps = |from, to| {
            let path = |mbps, factor| Path::constant(mbps * factor, rtt_ms);
            let mbps = RATES_MBPS.iter();
            mbps.map(|&mbps| (path(mbps, from), path(mbps, to)))
                .collect()
        };
        match self {
            Self::Longer => vec![(steady(rtt_ms), steady(longer_ms))],
            Self::Shorter => vec![(steady(longer_ms), steady(rtt_ms))],
            Self::LongerCell => cells(rtt_ms, longer_ms),
            Self::ShorterCell => cells(longer_ms, rtt_ms),
            Self::Handover => vec![(steady(rtt_ms), steady(rtt_ms + NEW_CELL_MS))],
            Self::Up => steps(1, STEP),
            Self::Down => steps(STEP, 1),
        }
    }
}

/// Something that happens to a path.
#[derive(Clone, Debug)]
pub struct Change {
    /// What.
    pub kind: Kind,
    /// To what; its name says both.
    path: Path,
    /// What becomes of it.
    after: Path,
}

/// All that happens.
pub fn all() -> Vec<Change> {
    let mut changes = Vec::new();
    for kind in Kind::ALL {
        for rtt_ms in RTTS_MS {
            let paths = kind.paths(rtt_ms).into_iter();
            changes.extend(paths.map(|(path, after)| Change::new(kind, path, after)));
        }
    }
    changes
}

impl Change {
    fn new(kind: Kind, path: Path, after: Path) -> Self {
        let name = format!("{}, {}", kind.words(), path.name);
        let always = format!("{}, unchanged", after.name);
        Self {
            kind,
            path: path.named(name),
            after: after.named(always),
        }
    }

    /// What it is called: what happens, and to what.
    pub fn name(&self) -> &str {
        &self.path.name
    }

    /// What a contender's case is called.
    pub fn on(&self, contender: Contender) -> String {
        contender.on(&self.path)
    }

    /// What the case is called in which the path has always been what it becomes.
    pub fn reference(&self, contender: Contender) -> String {
        contender.on(&self.after)
    }

    /// A contender's download through it, and its reference, with these curves.
    pub fn cases(&self, contender: Contender, curves: &[&'static str]) -> [Case; 2] {
        let [changed, reference] = [&self.path, &self.after].map(|path| {
            let case = contender.case(path);
            Case {
                scenario: Scenario {
                    duration_s: DURATION_S,
                    ..case.scenario
                },
                curves: curves.to_vec(),
                ..case
            }
        });
        let scenario = self.happen(changed.scenario, &reference.scenario);
        [
            Case {
                scenario,
                ..changed
            },
            reference,
        ]
    }

    /// The scenario becomes `after`.
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

/// One rate and then the other, in Mbit/s, with a gap between them in which what waits is kept.
fn steps(from: f64, to: f64, gap_s: f64) -> Vec<[f64; 2]> {
    let mut steps = vec![[0.0, from]];
    if gap_s > 0.0 {
        steps.push([AT_S, 0.0]);
    }
    steps.push([AT_S + gap_s, to]);
    steps
}
