//! The links, in both directions, and what is known of them without a run.

use anyhow::{Context, Result};
use std::path::Path as FilePath;
use std::sync::Arc;
use tidegate_link::{Capacity, Instant, Loss};
use tidegate_scenario::{
    CellKind, Direction, FlowResult, GenerateSpec, Law, LinkSpec, QueueSpec, RateSpec, Run,
    RunResult, Scenario, SproutForecast, SproutSpec, Workload, WorkloadKind,
};
use tidegate_study::{Case, Extent, Sample};

/// One-way delay, in ms (§4.2).
const DELAY_MS: f64 = 20.0;

/// Packets that a queue holds: practically unlimited, as in the paper.
const QUEUE_PACKETS: usize = 100_000;

/// The first minute does not count (§5.1).
const WARMUP_S: f64 = 60.0;

/// Length of a run over a generated cell; with `--quick` the shorter one.
const CELL_S: [f64; 2] = [120.0, 300.0];

/// How often the age of the newest arrival is sampled.
const SAMPLE_INTERVAL_MS: u64 = 1;

/// Sprout, or Sprout-EWMA.
pub const FORECASTS: [SproutForecast; 2] = [SproutForecast::Cautious, SproutForecast::Ewma];

/// Its name in the paper.
pub const fn name(forecast: SproutForecast) -> &'static str {
    match forecast {
        SproutForecast::Cautious => "Sprout",
        SproutForecast::Ewma => "Sprout-EWMA",
    }
}

/// Numbers that the paper's figure of all links has for one direction: throughput in kbit/s and self-inflicted delay
/// in ms, of Sprout and of Sprout-EWMA.
pub type Printed = [[f64; 2]; 2];

/// A recording of a direction, as Mahimahi calls it, and the paper's numbers.
struct Recorded {
    name: &'static str,
    files: [&'static str; 2],
    printed: [Printed; 2],
}

/// Mahimahi's drives, down and up.
const DRIVES: [Recorded; 3] = [
    Recorded {
        name: "AT&T LTE",
        files: ["ATT-LTE-driving.down", "ATT-LTE-driving.up"],
        printed: [
            [[2304.0, 52.0], [3822.0, 161.0]],
            [[412.0, 127.0], [862.0, 350.0]],
        ],
    },
    Recorded {
        name: "T-Mobile 3G (UMTS)",
        files: ["TMobile-UMTS-driving.down", "TMobile-UMTS-driving.up"],
        printed: [
            [[680.0, 331.0], [1600.0, 487.0]],
            [[370.0, 136.0], [833.0, 252.0]],
        ],
    },
    Recorded {
        name: "Verizon 3G (1xEV-DO)",
        files: ["Verizon-EVDO-driving.down", "Verizon-EVDO-driving.up"],
        printed: [
            [[209.0, 1287.0], [402.0, 1608.0]],
            [[239.0, 199.0], [628.0, 355.0]],
        ],
    },
];

/// A link in both directions.
#[derive(Clone, Debug)]
pub struct Link {
    pub name: String,
    /// Down, up.
    rates: [RateSpec; 2],
    pub duration_s: f64,
    /// The paper's numbers, if it is one of the paper's links.
    pub printed: Option<[Printed; 2]>,
    /// For each direction: its mean rate while it counts, in kbit/s, and the 95th percentile of the delay of an
    /// omniscient sender, in ms. None if these depend on the seed.
    known: [Known; 2],
}

/// What is known of a direction without a run.
#[derive(Clone, Copy, Debug)]
struct Known {
    kbps: f64,
    omniscient_ms: f64,
}

/// The paper's recordings in the folder of that extent, or else generated cells.
///
/// # Errors
/// When a recording cannot be read.
pub fn all(extent: &Extent) -> Result<Arc<[Link]>> {
    let mut links = Vec::new();
    for drive in extent.traces.iter().flat_map(|folder| drives(folder)) {
        links.push(drive?);
    }
    if links.is_empty() {
        for kind in [CellKind::Lte, CellKind::Hspa, CellKind::Evdo] {
            links.push(cell(kind, extent)?);
        }
    }
    Ok(links.into())
}

/// A generated cell, with another one of its kind as its uplink.
///
/// # Errors
/// Never: it reads no file.
pub fn cell(kind: CellKind, extent: &Extent) -> Result<Link> {
    let rate = |seed| {
        RateSpec::Generate(GenerateSpec {
            kind,
            mean_mbps: None,
            seed: Some(seed),
        })
    };
    let duration_s = CELL_S[usize::from(!extent.quick)];
    Link::new(format!("{kind} cell"), [rate(1), rate(2)], duration_s, None)
}

/// The drives with both directions in the folder or in its sub-folder `mahimahi`.
fn drives(folder: &FilePath) -> Vec<Result<Link>> {
    let folders = [folder.to_owned(), folder.join("mahimahi")];
    let found = DRIVES.iter().filter_map(|drive| {
        let there =
            |folder: &&std::path::PathBuf| drive.files.iter().all(|f| folder.join(f).is_file());
        Some((drive, folders.iter().find(there)?))
    });
    found
        .map(|(drive, folder)| {
            let files = drive.files.map(|file| folder.join(file));
            let rates = [&files[0], &files[1]]
                .map(|file| RateSpec::Trace(file.to_string_lossy().into_owned()));
            let [down, up] = [last_ms(&files[0])?, last_ms(&files[1])?];
            let duration_s = (down.min(up) / 1000) as f64;
            Link::new(
                drive.name.to_owned(),
                rates,
                duration_s,
                Some(drive.printed),
            )
        })
        .collect()
}

/// The last opportunity of a recording, in ms.
fn last_ms(file: &FilePath) -> Result<u64> {
    let named = || format!("cannot read {}", file.display());
    let text = std::fs::read_to_string(file).with_context(named)?;
    let last = text.lines().rfind(|line| !line.trim().is_empty());
    let last =
        last.with_context(|| format!("{} is empty, expected milliseconds", file.display()))?;
    last.trim().parse().with_context(named)
}

impl Link {
    fn new(
        name: String,
        rates: [RateSpec; 2],
        duration_s: f64,
        printed: Option<[Printed; 2]>,
    ) -> Result<Self> {
        let [down, up] = [known(&rates[0], duration_s)?, known(&rates[1], duration_s)?];
        Ok(Self {
            name,
            rates,
            duration_s,
            printed,
            known: [down, up],
        })
    }

    /// The name of one of its directions.
    pub fn way(&self, direction: Direction) -> String {
        format!("{}, {}", self.name, direction.name())
    }

    /// The direction's mean rate while it counts, in kbit/s.
    pub fn capacity_kbps(&self, direction: Direction) -> f64 {
        self.known[index(direction)].kbps
    }

    /// Both directions at once with that forecast, and that share of packets lost at random in each.
    pub fn case(&self, forecast: SproutForecast, loss: f64) -> Case {
        let lost = format!(", {} % lost", loss * 100.0);
        let lost = if loss > 0.0 { lost } else { String::new() };
        let name = format!("{}, {}{lost}", self.name, name(forecast));
        let stream = |direction: Direction| {
            let sprout = WorkloadKind::Sprout(SproutSpec {
                direction,
                forecast,
            });
            Workload::new(direction.name(), sprout)
        };
        let link = |rate: &RateSpec| LinkSpec {
            queue: QueueSpec {
                packets: Some(QUEUE_PACKETS),
                ..QueueSpec::default()
            },
            loss: (loss > 0.0).then_some(Loss::Random(loss)),
            ..LinkSpec::new(rate.clone(), DELAY_MS)
        };
        let links = self.rates.each_ref().map(link);
        let workloads = vec![stream(Direction::Down), stream(Direction::Up)];
        let run = Run::new(name.clone(), Law::None);
        Case {
            once: loss == 0.0,
            ..Case::new(Scenario {
                warmup_s: WARMUP_S,
                ..Scenario::new(name, self.duration_s, links, workloads, vec![run])
            })
        }
    }

    /// Throughput in kbit/s and self-inflicted delay in ms.
    pub fn read(
        &self,
        sample: &Sample,
        forecast: SproutForecast,
        direction: Direction,
        loss: f64,
    ) -> [f64; 2] {
        let case = self.case(forecast, loss).name;
        let delivered = |run: &RunResult| match direction {
            Direction::Down => run.link.delivered_bps / 1e3,
            Direction::Up => run.uplink.delivered_bps / 1e3,
        };
        let age = |run: &RunResult| flow(run, direction).age_ms.map_or(f64::NAN, |age| age.p95);
        let known = self.known[index(direction)];
        [
            sample.mean(&case, delivered),
            sample.mean(&case, age) - known.omniscient_ms,
        ]
    }
}

const fn index(direction: Direction) -> usize {
    match direction {
        Direction::Down => 0,
        Direction::Up => 1,
    }
}

fn flow(run: &RunResult, direction: Direction) -> &FlowResult {
    let mut flows = run.flows.iter();
    let found = flows.find(|f| f.name == direction.name());
    found.expect("each direction has a stream")
}

/// A direction's mean rate, and the age of the newest packet in the best case: every packet is sent so that it finds
/// an opportunity when it arrives.
fn known(rate: &RateSpec, duration_s: f64) -> Result<Known> {
    let config = LinkSpec::new(rate.clone(), 0.0).resolve(FilePath::new(""), 1)?;
    let mut capacity = Capacity::new(&config.rate);
    let at = |ms: u64| Instant::from_nanos(ms * 1_000_000);
    let (from, to) = ((WARMUP_S * 1e3) as u64, (duration_s * 1e3) as u64);
    let (mut bytes, mut waited) = (0, 0);
    let mut ages = Vec::new();
    for ms in from..to {
        let carried = capacity.bytes(at(ms), at(ms + SAMPLE_INTERVAL_MS));
        bytes += carried;
        waited = if carried > 0 {
            0
        } else {
            waited + SAMPLE_INTERVAL_MS
        };
        ages.push(waited);
    }
    ages.sort_unstable();
    let p95 = ages.get(ages.len() * 95 / 100).copied().unwrap_or(0);
    Ok(Known {
        kbps: bytes as f64 * 8.0 / (to - from) as f64,
        omniscient_ms: DELAY_MS + p95 as f64,
    })
}
