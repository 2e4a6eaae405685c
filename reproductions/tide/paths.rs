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

/// A link's name and its rate.
pub type Link = (String, RateSpec);

/// A link at a base RTT.
#[derive(Clone, Debug)]
pub struct Path {
    /// What tells it from all others: `hspa-2, 100 ms`.
    pub name: String,
    /// Its base RTT in milliseconds.
    pub rtt_ms: u32,
    /// What it carries on average, in Mbit/s.
    pub mbps: f64,
    rate: RateSpec,
}

/// All paths of that extent: the shipped cells first, then the recordings in the order of their names.
///
/// # Errors
/// When a recording cannot be read.
pub fn all(extent: &Extent) -> Result<Vec<Path>> {
    let (stride, rtts): (_, &[u32]) = match extent.quick {
        true => (QUICK_STRIDE, &QUICK_RTTS_MS),
        false => (1, &RTTS_MS),
    };
    let mut links = cells(extent.quick);
    links.extend(recordings(extent, stride)?);
    at(links, rtts)
}

/// Those links at each of those base RTTs, without links that carry nothing.
///
/// # Errors
/// When a recording cannot be read.
pub fn at(links: Vec<Link>, rtts: &[u32]) -> Result<Vec<Path>> {
    let mut paths = Vec::new();
    for (name, rate) in links {
        let Some(mbps) = mean_mbps(&rate)? else {
            continue;
        };
        paths.extend(rtts.iter().map(|&rtt_ms| Path {
            name: format!("{name}, {rtt_ms} ms"),
            rtt_ms,
            mbps,
            rate: rate.clone(),
        }));
    }
    Ok(paths)
}

impl Path {
    /// A download over it, through that queue discipline.
    pub fn scenario(&self, policy: QueuePolicy, run: Run) -> Scenario {
        let delay_ms = f64::from(self.rtt_ms) / 2.0;
        Scenario {
            name: self.name.clone(),
            description: String::new(),
            duration_s: DURATION_S,
            warmup_s: WARMUP_S,
            seed: 1,
            down: link(self.rate.clone(), delay_ms, BUFFER_PACKETS, policy),
            up: link(
                RateSpec::ConstantMbps(UPLINK_MBPS.max(self.mbps * UPLINK_SHARE)),
                delay_ms,
                UPLINK_PACKETS,
                QueuePolicy::DropTail,
            ),
            hops: Vec::new(),
            hosts: Hosts::default(),
            workloads: vec![download()],
            runs: vec![run],
        }
    }
}

/// All that TCP carries, from the start of the run to its end.
pub fn download() -> Workload {
    let bulk = WorkloadKind::Bulk {
        direction: Direction::Down,
        bytes: None,
        flows: 1,
    };
    Workload::new("download", bulk)
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

/// A link that always carries the same.
pub fn constant(mbps: f64) -> Link {
    (format!("{mbps} Mbit/s"), RateSpec::ConstantMbps(mbps))
}

/// The shipped cells; `quick`: with one seed each.
pub fn cells(quick: bool) -> Vec<Link> {
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

/// Every `stride`-th recording of that extent's folder and below, named after its place in there.
///
/// # Errors
/// When the folder cannot be read.
pub fn recordings(extent: &Extent, stride: usize) -> Result<Vec<Link>> {
    let Some(folder) = &extent.traces else {
        return Ok(Vec::new());
    };
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
        .step_by(stride)
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
