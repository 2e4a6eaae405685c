//! The links: constant ones, the shipped cells, and recordings.

use anyhow::{Context, Result};
use std::path::{Path as FilePath, PathBuf};
use tidegate_scenario::{
    CellKind, GenerateSpec, LinkSpec, QueuePolicy, QueueSpec, RateSpec, ScheduledSpec,
};
use tidegate_study::Extent;

/// Milliseconds between a rate series' bursts: those of the shipped LTE cell.
const BURST_MS: f64 = 4.0;

/// Seeds of the shipped cells; with `--quick` the first.
const CELL_SEEDS: [u64; 2] = [1, 2];

/// The source of a downlink's rate and delay.
#[derive(Clone, Debug)]
pub struct Link {
    /// Identifies the link: `hspa-2`.
    pub name: String,
    /// Its rate over time.
    pub rate: RateSpec,
    /// A recording of the one-way delay, if there is one.
    delay_trace: Option<String>,
}

impl Link {
    /// A link of that name and rate.
    pub fn new(name: String, rate: RateSpec) -> Self {
        Self {
            name,
            rate,
            delay_trace: None,
        }
    }

    /// A link of one rate.
    pub fn constant(mbps: f64) -> Self {
        Self::new(format!("{mbps} Mbit/s"), RateSpec::ConstantMbps(mbps))
    }

    /// A shipped cell, with the mean rate of its technology unless another one is given in Mbit/s.
    pub fn cell(kind: CellKind, seed: u64, mean_mbps: Option<f64>) -> Self {
        let mean = mean_mbps.map(|mbps| format!(" of {mbps} Mbit/s"));
        Self {
            name: format!("{kind}-{seed}{}", mean.unwrap_or_default()),
            rate: RateSpec::Generate(GenerateSpec {
                kind,
                mean_mbps,
                seed: Some(seed),
            }),
            delay_trace: None,
        }
    }

    /// A downlink of at least that one-way delay in milliseconds; its buffer is the path's.
    pub fn down(&self, delay_ms: f64) -> LinkSpec {
        LinkSpec {
            delay_trace: self.delay_trace.clone(),
            ..LinkSpec::new(self.rate.clone(), delay_ms)
        }
    }
}

/// A queue with a limit in packets, and that policy.
pub fn queue(packets: usize, policy: QueuePolicy) -> QueueSpec {
    QueueSpec {
        packets: Some(packets),
        policy,
        ..QueueSpec::default()
    }
}

/// The shipped cells: LTE, HSPA and EVDO.
pub fn cells(quick: bool) -> Vec<Link> {
    let seeds = &CELL_SEEDS[..if quick { 1 } else { CELL_SEEDS.len() }];
    let kinds = [CellKind::Lte, CellKind::Hspa, CellKind::Evdo];
    kinds
        .into_iter()
        .flat_map(|kind| seeds.iter().map(move |&seed| Link::cell(kind, seed, None)))
        .collect()
}

/// The shipped cells, and every `stride`th of that extent's recordings.
///
/// # Errors
/// When the folder of recordings cannot be read.
pub fn all(extent: &Extent, stride: usize) -> Result<Vec<Link>> {
    let mut links = cells(extent.quick);
    if let Some(folder) = &extent.traces {
        links.extend(recordings(folder)?.into_iter().step_by(stride));
    }
    Ok(links)
}

/// Every recording in `folder` and below, named after its place in there, in the order of names.
///
/// # Errors
/// When the folder cannot be read.
pub fn recordings(folder: &FilePath) -> Result<Vec<Link>> {
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
            Some(Link {
                name: place.to_string_lossy().into_owned(),
                rate,
                delay_trace: delay_beside(&file),
            })
        })
        .collect())
}

/// The recording of a downlink's delay, if it lies beside the recording of its rate.
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
