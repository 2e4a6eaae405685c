//! The paths: every link there is, at every base RTT.

use anyhow::{Context, Result};
use std::path::{Path as FilePath, PathBuf};
use tidegate_link::{Capacity, Instant};
use tidegate_reproduce::Extent;
use tidegate_scenario::{
    CellKind, Direction, GenerateSpec, Hosts, LinkSpec, QueuePolicy, QueueSpec, RateSpec, Run,
    Scenario, Workload, WorkloadKind,
};

/// Base RTTs in milliseconds; with `--quick` the second and the fourth.
const RTTS_MS: [u32; 5] = [20, 50, 100, 200, 400];
const QUICK_RTTS_MS: [u32; 2] = [50, 200];

/// With `--quick`, every so many recordings.
const QUICK_STRIDE: usize = 3;

/// How long a download takes, and from when on it counts.
const DURATION_S: f64 = 60.0;
const WARMUP_S: f64 = 5.0;

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
    rate: RateSpec,
    uplink_mbps: f64,
    duration_s: f64,
}

/// All paths of that extent: the shipped cells first, then the recordings in the order of their names.
///
/// # Errors
/// When a recording cannot be read.
pub fn all(extent: &Extent) -> Result<Vec<Path>> {
    let mut links = cells(extent.quick);
    if let Some(folder) = &extent.traces {
        let stride = if extent.quick { QUICK_STRIDE } else { 1 };
        links.extend(recordings(folder)?.into_iter().step_by(stride));
    }
    let rtts: &[u32] = match extent.quick {
        true => &QUICK_RTTS_MS,
        false => &RTTS_MS,
    };
    let mut paths = Vec::new();
    for (name, rate) in links {
        let Some(mbps) = mean_mbps(&rate)? else {
            continue;
        };
        paths.extend(rtts.iter().map(|&rtt_ms| Path {
            name: format!("{name}, {rtt_ms} ms"),
            rtt_ms,
            rate: rate.clone(),
            uplink_mbps: UPLINK_MBPS.max(mbps * UPLINK_SHARE),
            duration_s: DURATION_S,
        }));
    }
    Ok(paths)
}

impl Path {
    /// The same for so many seconds.
    pub fn lasting(&self, duration_s: f64) -> Self {
        Self {
            name: format!("{}, {duration_s} s", self.name),
            duration_s,
            ..self.clone()
        }
    }

    /// A download over it, through that queue discipline.
    pub fn scenario(&self, policy: QueuePolicy, run: Run) -> Scenario {
        let delay_ms = f64::from(self.rtt_ms) / 2.0;
        Scenario {
            name: self.name.clone(),
            description: String::new(),
            duration_s: self.duration_s,
            warmup_s: WARMUP_S,
            seed: 1,
            down: link(self.rate.clone(), delay_ms, BUFFER_PACKETS, policy),
            up: link(
                RateSpec::ConstantMbps(self.uplink_mbps),
                delay_ms,
                UPLINK_PACKETS,
                QueuePolicy::DropTail,
            ),
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

fn link(rate: RateSpec, delay_ms: f64, packets: usize, policy: QueuePolicy) -> LinkSpec {
    LinkSpec {
        rate,
        delay_ms,
        delay_steps: Vec::new(),
        queue: QueueSpec {
            packets: Some(packets),
            policy,
            ..QueueSpec::default()
        },
        loss: None,
        shaper: None,
        cell: None,
        arq: None,
        disorder: None,
        middlebox: None,
    }
}

fn cells(quick: bool) -> Vec<(String, RateSpec)> {
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
        (format!("{name}-{seed}"), RateSpec::Generate(model))
    };
    kinds
        .into_iter()
        .flat_map(|(name, kind)| seeds.iter().map(move |&seed| cell(name, kind, seed)))
        .collect()
}

/// Every recording in `folder` and below, named after its place in there.
fn recordings(folder: &FilePath) -> Result<Vec<(String, RateSpec)>> {
    let mut files = Vec::new();
    collect(folder, &mut files)?;
    files.sort();
    Ok(files
        .into_iter()
        .filter_map(|file| {
            let text = file.to_string_lossy().into_owned();
            let rate = match file.extension()?.to_str()? {
                "down" | "up" => RateSpec::Trace(text),
                "csv" => RateSpec::Series(text),
                _ => return None,
            };
            let place = file.strip_prefix(folder).unwrap_or(&file);
            Some((place.to_string_lossy().into_owned(), rate))
        })
        .collect())
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

/// What the link carries on average while it counts; none if that is nothing.
fn mean_mbps(rate: &RateSpec) -> Result<Option<f64>> {
    let spec = link(rate.clone(), 0.0, 1, QueuePolicy::DropTail);
    let config = spec.resolve(FilePath::new(""), 1)?;
    let [from, to] = [WARMUP_S, DURATION_S].map(Instant::from_secs_f64);
    let bytes = Capacity::new(&config.rate).bytes(from, to);
    let mbps = bytes as f64 * 8e-6 / (DURATION_S - WARMUP_S);
    Ok((bytes > 0).then_some(mbps))
}
