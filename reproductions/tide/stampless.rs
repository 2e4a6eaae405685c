//! Flows without TCP timestamps: alone, mixed with others, and beside an upload.

use super::contenders::{Contender, LINUX, TIDE};
use super::links::{self, Link};
use super::paths::{self, Path};
use super::trials::Trial;
use crate::means::{geometric_mean, least, mean, most};
use crate::workloads::{download, upload};
use anyhow::Result;
use std::sync::Arc;
use tidegate_scenario::{CellKind, RunResult, Workload};
use tidegate_study::{Claim, Extent, Figure, Quantity, Sample};

const RTTS_MS: [u32; 4] = [20, 50, 100, 200];
const QUICK_RTTS_MS: [u32; 2] = [50, 200];
const RATES_MBPS: [f64; 3] = [2.0, 10.0, 50.0];

/// Stride over the recordings with `--quick`.
const QUICK_STRIDE: usize = 3;

/// Cells of every kind, each with a seed of its own.
const SEEDS: u64 = 8;
const QUICK_SEEDS: u64 = 1;

const DURATION_S: f64 = 60.0;
const WARMUP_S: f64 = 5.0;

/// Seconds from the start of one flow to that of the next.
const APART_S: f64 = 5.0;

/// When the upload begins, in seconds.
const UPLOAD_S: f64 = 3.0;

/// The uplink's rate in Mbit/s beside the upload, and its buffer in seconds of that rate.
const UPLINK: (f64, f64) = (5.0, 2.0);

/// Smallest goodput, and largest delay, as multiples of those with timestamps.
const GOODPUT: f64 = 0.9;
const DELAY: f64 = 2.0;

/// tide on the downloads only, since the uploads are another machine's.
const ANOTHERS: Contender = TIDE.downloads_only();

/// Flows on a path, some without timestamps, and the same flows with timestamps.
struct Pair {
    with: Trial,
    without: Trial,
    contender: Contender,
}

/// The same flows over many paths.
struct Company {
    name: &'static str,
    pairs: Vec<Pair>,
    why: &'static str,
}

/// Why some queues are longer.
const APART: &str = "round trips are told sixteen to twenty-four times a round trip, of what has waited, so it takes longer to find \
                     who shares a queue, and until then margins add up";

/// Why a download keeps less beside another machine's upload.
const WAY_BACK: &str = "a round trip does not tell the way back's queue from the data's: the forecast sinks until the flow is left \
                        alone for a minute";

/// The figure.
///
/// # Errors
/// When a link cannot be read.
pub fn figure(extent: &Extent) -> Result<Figure> {
    let companies: Arc<[Company]> = companies(extent)?.into();
    let cases = companies.iter().flat_map(|c| &c.pairs).flat_map(|p| {
        [
            p.with.case(p.contender),
            p.without.case(p.contender),
            p.without.case(LINUX),
        ]
    });
    Ok(Figure {
        id: "stampless",
        title: "Without TCP timestamps",
        claim: "A flow without timestamps is steered by round trips: what its window's right edge makes room for is sent at once, and comes \
                a round trip later. Its goodput is to be within a tenth, and its queue at most twice, those of the same flow with timestamps.",
        method: "CUBIC downloads of a minute over the shipped cells (eight seeds), recordings and constant links of 2, 10 and 50 Mbit/s at 20 to \
                 200 ms, with and without timestamps: one alone; two and four that begin 5 s apart, all or every other of them without; and one \
                 beside an upload of this machine's, or of another's, with timestamps.",
        cases: cases.collect(),
        quantities: companies
            .iter()
            .enumerate()
            .flat_map(|(nth, c)| quantities(&companies, nth, c))
            .collect(),
        draw: Box::new(|_| Vec::new()),
    })
}

fn companies(extent: &Extent) -> Result<Vec<Company>> {
    let rtts: &[u32] = match extent.quick {
        true => &QUICK_RTTS_MS,
        false => &RTTS_MS,
    };
    let seeds = 1..=if extent.quick { QUICK_SEEDS } else { SEEDS };
    let kinds = [CellKind::Lte, CellKind::Hspa, CellKind::Evdo];
    let cells = kinds
        .into_iter()
        .flat_map(|kind| seeds.clone().map(move |seed| Link::cell(kind, seed, None)));
    let constant = RATES_MBPS.map(Link::constant);
    let shipped = paths::over(cells.chain(constant), rtts)?;
    let mut all = shipped.clone();
    if let Some(folder) = &extent.traces {
        let stride = if extent.quick { QUICK_STRIDE } else { 1 };
        let recordings = links::recordings(folder)?.into_iter().step_by(stride);
        all.extend(paths::over(recordings, rtts)?);
    }
    let beside = || upload(UPLOAD_S, DURATION_S);
    Ok(vec![
        Company::new("alone", &all, TIDE, "", |bare| vec![flow(0, bare)]),
        Company::new("two, the first without", &shipped, TIDE, APART, |bare| {
            vec![flow(0, bare), flow(1, false)]
        }),
        Company::new("two, the second without", &shipped, TIDE, APART, |bare| {
            vec![flow(0, false), flow(1, bare)]
        }),
        Company::new("two, both without", &shipped, TIDE, APART, |bare| {
            vec![flow(0, bare), flow(1, bare)]
        }),
        Company::new("four, two without", &shipped, TIDE, APART, |bare| {
            (0..4).map(|nth| flow(nth, bare && nth % 2 == 0)).collect()
        }),
        Company::new("four, all without", &shipped, TIDE, APART, |bare| {
            (0..4).map(|nth| flow(nth, bare)).collect()
        }),
        Company::new("beside an upload", &shipped, TIDE, WAY_BACK, |bare| {
            vec![flow(0, bare), beside()]
        }),
        Company::new(
            "beside another machine's upload",
            &shipped,
            ANOTHERS,
            WAY_BACK,
            |bare| vec![flow(0, bare), beside()],
        ),
    ])
}

/// The nth download, with timestamps or without.
fn flow(nth: u32, bare: bool) -> Workload {
    Workload {
        name: format!("download {nth}"),
        start_s: APART_S * f64::from(nth),
        timestamps: bare.then_some(false),
        ..download()
    }
}

impl Company {
    fn new(
        name: &'static str,
        paths: &[Path],
        contender: Contender,
        why: &'static str,
        workloads: impl Fn(bool) -> Vec<Workload>,
    ) -> Self {
        let trial = |path: &Path, bare| {
            let flows = workloads(bare);
            let loaded = flows.iter().any(|f| f.name == "upload");
            let subject = format!("{name}{}", if bare { ", bare" } else { "" });
            let trial = Trial::new(&subject, path, DURATION_S, flows).warmed_up(WARMUP_S);
            match loaded {
                true => trial.uplink(UPLINK.0, UPLINK.1),
                false => trial,
            }
        };
        let pair = |path| Pair {
            with: trial(path, false),
            without: trial(path, true),
            contender,
        };
        Self {
            name,
            pairs: paths.iter().map(pair).collect(),
            why,
        }
    }
}

impl Pair {
    fn ratio(&self, s: &Sample, read: fn(&RunResult) -> f64) -> f64 {
        s.mean(&self.without.by(self.contender), read) / s.mean(&self.with.by(self.contender), read)
    }

    fn goodput(&self, s: &Sample) -> f64 {
        self.ratio(s, downloads_bps)
    }

    fn delay(&self, s: &Sample) -> f64 {
        self.ratio(s, |run| run.link.queue_delay_ms.mean)
    }

    /// The downloads' goodput as a share of untouched Linux's.
    fn kept(&self, s: &Sample) -> f64 {
        let by = |c| s.mean(&self.without.by(c), downloads_bps);
        by(self.contender) / by(LINUX)
    }
}

fn downloads_bps(run: &RunResult) -> f64 {
    let downloads = run.flows.iter().filter(|f| f.name.starts_with("download"));
    downloads.map(|f| f.goodput_bps).sum()
}

fn quantities(all: &Arc<[Company]>, nth: usize, company: &Company) -> Vec<Quantity> {
    let count = company.pairs.len() as f64;
    let quantity = |name: &str, unit, claim, read: fn(&[Pair], &Sample) -> f64| {
        let (all, name) = (all.clone(), format!("{}: {name}", company.name));
        Quantity::new(name, unit, claim, move |s| read(&all[nth].pairs, s)).because(company.why)
    };
    vec![
        quantity(
            "goodput ÷ with timestamps, mean",
            "",
            Claim::at_least(GOODPUT, 0.0),
            |p, s| mean(p.iter().map(|p| p.goodput(s))),
        ),
        quantity(
            "goodput ÷ with timestamps, worst case",
            "",
            Claim::at_least(GOODPUT, 0.0),
            |p, s| least(p.iter().map(|p| p.goodput(s))),
        ),
        quantity(
            "mean queue ÷ with timestamps",
            "",
            Claim::at_most(DELAY, f64::INFINITY),
            |p, s| geometric_mean(p.iter().map(|p| p.delay(s))),
        ),
        quantity(
            "mean queue ÷ with timestamps, worst case",
            "",
            Claim::at_most(DELAY, f64::INFINITY),
            |p, s| most(p.iter().map(|p| p.delay(s))),
        ),
        quantity(
            &format!("of {count} paths, on how many it is more than twice"),
            "paths",
            Claim::at_most(0.0, count),
            |p, s| p.iter().filter(|p| p.delay(s) > DELAY).count() as f64,
        ),
        quantity(
            "goodput ÷ untouched Linux's, worst case",
            "",
            Claim::at_least(GOODPUT, 0.0),
            |p, s| least(p.iter().map(|p| p.kept(s))),
        ),
    ]
}
