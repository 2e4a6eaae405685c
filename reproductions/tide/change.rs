//! What can happen to a path in the middle of a download.

use super::contenders::Contender;
use super::paths::Path;
use tidegate_reproduce::{Case, Extent};
use tidegate_scenario::{CellKind, DelayStep, LinkSpec, RateSpec, Scenario};

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

/// Smallest base RTTs in milliseconds; with `--quick` the first.
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
            Self::LongerCell => "route +100 ms, LTE",
            Self::ShorterCell => "route −100 ms, LTE",
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

    /// The paths to which it happens.
    fn paths(self, rtt_ms: u32, quick: bool) -> Vec<Path> {
        let seeds = &CELL_SEEDS[..if quick { 1 } else { CELL_SEEDS.len() }];
        let cells = |rtt_ms| {
            let cell = |&seed| Path::cell(CellKind::Lte, seed, CELL_MBPS, rtt_ms);
            seeds.iter().map(cell).collect()
        };
        let steps = |factor| {
            let path = |mbps| Path::constant(mbps * factor, rtt_ms);
            RATES_MBPS.map(path).to_vec()
        };
        match self {
            Self::Longer | Self::Handover => vec![Path::constant(STEADY_MBPS, rtt_ms)],
            Self::Shorter => vec![Path::constant(STEADY_MBPS, rtt_ms + ROUTE_MS)],
            Self::LongerCell => cells(rtt_ms),
            Self::ShorterCell => cells(rtt_ms + ROUTE_MS),
            Self::Up => steps(1),
            Self::Down => steps(STEP),
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
}

/// All that happens, to that extent.
pub fn all(extent: &Extent) -> Vec<Change> {
    let rtts = &RTTS_MS[..if extent.quick { 1 } else { RTTS_MS.len() }];
    let mut changes = Vec::new();
    for kind in Kind::ALL {
        for &rtt_ms in rtts {
            let paths = kind.paths(rtt_ms, extent.quick);
            changes.extend(paths.into_iter().map(|path| Change::new(kind, path)));
        }
    }
    changes
}

impl Change {
    fn new(kind: Kind, path: Path) -> Self {
        let name = format!("{}, {}", kind.words(), path.name);
        Self {
            kind,
            path: path.named(name),
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

    /// A contender's download through it, with these curves.
    pub fn case(&self, contender: Contender, curves: &[&'static str]) -> Case {
        let case = contender.case(&self.path);
        Case {
            scenario: self.happen(case.scenario),
            curves: curves.to_vec(),
            ..case
        }
    }

    fn happen(&self, scenario: Scenario) -> Scenario {
        let mut scenario = Scenario {
            duration_s: DURATION_S,
            ..scenario
        };
        let rtt_ms = self.path.rtt_ms;
        match self.kind {
            Kind::Longer | Kind::LongerCell => move_to(&mut scenario, rtt_ms + ROUTE_MS, AT_S),
            Kind::Shorter | Kind::ShorterCell => move_to(&mut scenario, rtt_ms - ROUTE_MS, AT_S),
            Kind::Handover => {
                pause(&mut scenario.down);
                pause(&mut scenario.up);
                move_to(&mut scenario, rtt_ms + NEW_CELL_MS, AT_S + GAP_S);
            }
            Kind::Up => step(&mut scenario.down, f64::from(STEP)),
            Kind::Down => step(&mut scenario.down, 1.0 / f64::from(STEP)),
        }
        scenario
    }
}

/// From `at_s` on the base RTT is `rtt_ms`, half of it in each direction.
fn move_to(scenario: &mut Scenario, rtt_ms: u32, at_s: f64) {
    let ms = f64::from(rtt_ms) / 2.0;
    for link in [&mut scenario.down, &mut scenario.up] {
        link.delay_steps = vec![DelayStep { at_s, ms }];
    }
}

/// The rate changes by that factor.
fn step(link: &mut LinkSpec, factor: f64) {
    let mbps = constant_mbps(link);
    link.rate = RateSpec::Steps(vec![[0.0, mbps], [AT_S, mbps * factor]]);
}

/// The link carries nothing for a while; its queue waits.
fn pause(link: &mut LinkSpec) {
    let mbps = constant_mbps(link);
    link.rate = RateSpec::Steps(vec![[0.0, mbps], [AT_S, 0.0], [AT_S + GAP_S, mbps]]);
}

/// The rate of a link that is to change it.
fn constant_mbps(link: &LinkSpec) -> f64 {
    match link.rate {
        RateSpec::ConstantMbps(mbps) => mbps,
        _ => panic!("only a constant rate is made to change"),
    }
}
