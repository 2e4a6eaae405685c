//! The cases for which the real kernel has time, with a QUIC connection as the download.

use super::super::links::Link;
use super::super::paths::{self, Path};
use anyhow::Result;
use tidegate_scenario::CellKind;
use tidegate_study::Extent;

/// When numbers begin to count, unless others join, and for how long.
pub const WARMUP_S: f64 = 10.0;
pub const COUNTED_S: f64 = 30.0;

/// Base RTTs of the lone download in milliseconds, and the base RTT of all other cases.
const RTTS_MS: [u32; 3] = [20, 50, 100];
const RTT_MS: u32 = 50;

const STEADY_MBPS: [f64; 2] = [20.0, 5.0];

/// Every path of the download alone; with `--quick` the first link at one base RTT.
///
/// # Errors
/// When a link cannot be read.
pub fn paths(extent: &Extent) -> Result<Vec<Path>> {
    match extent.quick {
        true => paths_of_one_rtt(extent),
        false => paths::over(links(extent), &RTTS_MS),
    }
}

/// The same at one base RTT.
///
/// # Errors
/// When a link cannot be read.
pub fn paths_of_one_rtt(extent: &Extent) -> Result<Vec<Path>> {
    paths::over(links(extent), &[RTT_MS])
}

fn links(extent: &Extent) -> Vec<Link> {
    let cells = [CellKind::Lte, CellKind::Hspa].map(|kind| Link::cell(kind, 1, None));
    let all = cells.into_iter().chain(STEADY_MBPS.map(Link::constant));
    all.take(if extent.quick { 1 } else { usize::MAX })
        .collect()
}
