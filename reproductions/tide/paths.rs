//! The paths: every link there is, at every base RTT.

use anyhow::{Context, Result};
use std::path::{Path as FilePath, PathBuf};
use tidegate_link::{Capacity, Instant};
use tidegate_reproduce::Extent;
use tidegate_scenario::{
    CellKind, Direction, GenerateSpec, Hosts, LinkSpec, QueuePolicy, QueueSpec, RateSpec, Run,
    Scenario, ScheduledSpec, Workload, WorkloadKind,
};

/// Base RTTs in milliseconds; with `--quick` the second and the fourth.
const RTTS_MS: [u32; 5] = [20, 50, 100, 200, 400];
const QUICK_RTTS_MS: [u32; 2] = [50, 200];

/// With `--quick`, every so many recordings.
const QUICK_STRIDE: usize = 3;

/// How long a download takes, and from when on it counts.
const DURATION_S: f64 = 60.0;
const WARMUP_S: f64 = 5.0;

/// Milliseconds between a rate series' bursts: those of the shipped LTE cell.
const BURST_MS: f64 = 4.0;

/// Packets that the downlink's buffer holds, and the uplink's.
const BUFFER_PACKETS: usize = 2000;
const UPLINK_PACKETS: usize = 1000;

/// The uplink's smallest rate in Mbit/s, and its share of the downlink's mean rate: ACKs never wait.
const UPLINK_MBPS: f64 = 5.0;
const UPLINK_SHARE: f64 = 0.1;

/// Seeds of the shipped cells; with `--quick` the first.
const CELL_SEEDS: [u64; 2] = [1, 2];

/// A link at a base RTT.
#[derive(Clone, Debug)]
pub struct Path {
    /// What tells it from all others: `hspa-2, 100 ms`.
    pub name: String,
    /// Its base RTT in milliseconds.
    pub rtt_ms: u32,
    source: Source,
    uplink_mbps: f64,
}

/// What a downlink's rate and delay are taken from.
#[derive(Clone, Debug)]
struct Source {
    name: String,
    rate: RateSpec,
    /// A recording of the one-way delay, if there is one.
    delay_trace: Option<String>,
}

/// All paths of that extent: the shipped cells first, then the recordings in the order of their names.
///
/// # Errors
/// When a recording cannot be read.
pub fn all(extent: &Extent) -> Result<Vec<Path>> {
    let mut sources = cells(extent.quick);
    if let Some(folder) = &extent.traces {
        let stride = if extent.quick { QUICK_STRIDE } else { 1 };
        sources.extend(recordings(folder)?.into_iter().step_by(stride));
    }
    let rtts: &[u32] = match extent.quick {
        true => &QUICK_RTTS_MS,
        false => &RTTS_MS,
    };
    let mut paths = Vec::new();
    for source in sources {
        let Some(mbps) = source.mean_mbps()? else {
            continue;
        };
        let at = |&rtt_ms| Path::new(source.clone(), mbps, rtt_ms);
        paths.extend(rtts.iter().map(at));
    }
    Ok(paths)
}

impl Path {
    /// That link, which carries `mbps` on average, at a base RTT in milliseconds.
    fn new(source: Source, mbps: f64, rtt_ms: u32) -> Self {
        Self {
            name: format!("{}, {rtt_ms} ms", source.name),
            rtt_ms,
            source,
            uplink_mbps: UPLINK_MBPS.max(mbps * UPLINK_SHARE),
        }
    }

    /// A link of constant rate in Mbit/s at a base RTT in milliseconds.
    pub fn constant(mbps: u32, rtt_ms: u32) -> Self {
        let rate = f64::from(mbps);
        let source = Source {
            name: format!("{mbps} Mbit/s"),
            rate: RateSpec::ConstantMbps(rate),
            delay_trace: None,
        };
        Self::new(source, rate, rtt_ms)
    }

    /// A shipped cell with that mean rate in Mbit/s at a base RTT in milliseconds.
    pub fn cell(kind: CellKind, seed: u64, mbps: f64, rtt_ms: u32) -> Self {
        let source = Source {
            name: format!("{} {seed}", format!("{kind:?}").to_lowercase()),
            rate: RateSpec::Generate(GenerateSpec {
                kind,
                mean_mbps: Some(mbps),
                seed: Some(seed),
            }),
            delay_trace: None,
        };
        Self::new(source, mbps, rtt_ms)
    }

    /// The same under another name.
    pub fn named(self, name: String) -> Self {
        Self { name, ..self }
    }

    /// A download over it, through that queue discipline.
    pub fn scenario(&self, policy: QueuePolicy, run: Run) -> Scenario {
        let delay_ms = f64::from(self.rtt_ms) / 2.0;
        Scenario {
            name: self.name.clone(),
            description: String::new(),
            duration_s: DURATION_S,
            warmup_s: WARMUP_S,
            seed: 1,
            down: self.source.link(delay_ms, policy),
            up: LinkSpec {
                queue: queue(UPLINK_PACKETS, QueuePolicy::DropTail),
                ..LinkSpec::new(RateSpec::ConstantMbps(self.uplink_mbps), delay_ms)
            },
            hops: Vec::new(),
            hosts: Hosts::default(),
            workloads: vec![Workload {
                name: "download".into(),
                start_s: 0.0,
                stop_s: None,
                links: None,
                does: WorkloadKind::Bulk {
                    direction: Direction::Down,
                    bytes: None,
                    flows: 1,
                },
            }],
            runs: vec![run],
        }
    }
}

impl Source {
    /// A downlink of at least that one-way delay.
    fn link(&self, delay_ms: f64, policy: QueuePolicy) -> LinkSpec {
        LinkSpec {
            delay_trace: self.delay_trace.clone(),
            queue: queue(BUFFER_PACKETS, policy),
            ..LinkSpec::new(self.rate.clone(), delay_ms)
        }
    }

    /// What it carries on average while it counts; none if that is nothing.
    fn mean_mbps(&self) -> Result<Option<f64>> {
        let link = self.link(0.0, QueuePolicy::DropTail);
        let config = link.resolve(FilePath::new(""), 1)?;
        let [from, to] = [WARMUP_S, DURATION_S].map(Instant::from_secs_f64);
        let bytes = Capacity::new(&config.rate).bytes(from, to);
        let mbps = bytes as f64 * 8e-6 / (DURATION_S - WARMUP_S);
        Ok((bytes > 0).then_some(mbps))
    }
}

fn queue(packets: usize, policy: QueuePolicy) -> QueueSpec {
    QueueSpec {
        packets: Some(packets),
        policy,
        ..QueueSpec::default()
    }
}

fn cells(quick: bool) -> Vec<Source> {
    let seeds = &CELL_SEEDS[..if quick { 1 } else { CELL_SEEDS.len() }];
    let kinds = [
        ("lte", CellKind::Lte),
        ("hspa", CellKind::Hspa),
        ("evdo", CellKind::Evdo),
    ];
    let cell = |name: &str, kind, seed| {
        let model = GenerateSpec {
            kind,
            mean_mbps: None,
            seed: Some(seed),
        };
        Source {
            name: format!("{name}-{seed}"),
            rate: RateSpec::Generate(model),
            delay_trace: None,
        }
    };
    kinds
        .into_iter()
        .flat_map(|(name, kind)| seeds.iter().map(move |&seed| cell(name, kind, seed)))
        .collect()
}

/// Every recording in `folder` and below, named after its place in there.
fn recordings(folder: &FilePath) -> Result<Vec<Source>> {
    let mut files = Vec::new();
    collect(folder, &mut files)?;
    files.sort();
    Ok(files
        .into_iter()
        .filter_map(|file| {
            let text = file.to_string_lossy().into_owned();
            let rate = match file.extension()?.to_str()? {
                "down" | "up" => RateSpec::Trace(text),
                "csv" => RateSpec::Scheduled(ScheduledSpec {
                    series: text,
                    interpolate: true,
                    burst_ms: BURST_MS,
                }),
                _ => return None,
            };
            let place = file.strip_prefix(folder).unwrap_or(&file);
            Some(Source {
                name: place.to_string_lossy().into_owned(),
                rate,
                delay_trace: delay_beside(&file),
            })
        })
        .collect())
}

/// The recording of a downlink's delay, if it lies beside that of its rate.
fn delay_beside(file: &FilePath) -> Option<String> {
    let delay = file.with_extension("delay");
    let is_there = file.extension()? == "down" && delay.is_file();
    is_there.then(|| delay.to_string_lossy().into_owned())
}

fn collect(folder: &FilePath, files: &mut Vec<PathBuf>) -> Result<()> {
    let entries = std::fs::read_dir(folder)
        .with_context(|| format!("cannot read the folder {}", folder.display()))?;
    for entry in entries {
        let path = entry?.path();
        match path.is_dir() {
            true => collect(&path, files)?,
            false => files.push(path),
        }
    }
    Ok(())
}
