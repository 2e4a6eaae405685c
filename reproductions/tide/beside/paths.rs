//! The paths: constant links with a deep and a shallow buffer, the shipped cells, and recordings.

use super::super::links::{self, Link};
use super::super::paths::{self, Path};
use anyhow::Result;
use tidegate_scenario::CellKind;
use tidegate_study::Extent;

/// Rates of the constant links in Mbit/s, and their base RTTs in milliseconds. A run at 300 Mbit/s takes as long as a
/// hundred at 2 Mbit/s, so there are two RTTs instead of four.
const CONSTANT: [(f64, &[u32]); 4] = [
    (10.0, &[50, 20, 100, 200]),
    (2.0, &[50, 20, 100, 200]),
    (50.0, &[50, 20, 100, 200]),
    (300.0, &RTTS_MS),
];

/// Base RTTs of cells and recordings in milliseconds; with `--quick` the second.
const RTTS_MS: [u32; 2] = [50, 100];

/// With `--quick`: number of constant links, each at its first base RTT, and stride over the recordings.
const QUICK_CONSTANT: usize = 1;
const QUICK_STRIDE: usize = 5;

/// The constant ones first.
pub fn all(extent: &Extent) -> Result<Vec<Path>> {
    let (stride, rtts) = match extent.quick {
        true => (QUICK_STRIDE, &RTTS_MS[1..]),
        false => (1, &RTTS_MS[..]),
    };
    let mut paths = constant(extent.quick)?;
    paths.extend(paths::over(links::all(extent, stride)?, rtts)?);
    Ok(paths)
}

/// Rate and base RTT of the constant link for the real kernel, and the base RTT of its cell.
const KERNELS_MBPS: f64 = 20.0;
const KERNELS_RTT_MS: u32 = 50;

/// For the real kernel: a constant link, and a cell.
pub fn on_the_kernel() -> Result<[Path; 2]> {
    let path = |link| Path::over(&link, KERNELS_RTT_MS);
    Ok([
        path(Link::constant(KERNELS_MBPS))?,
        path(Link::cell(CellKind::Lte, 1, None))?,
    ])
}

/// Each with both buffers.
fn constant(quick: bool) -> Result<Vec<Path>> {
    let (links, rtts) = match quick {
        true => (QUICK_CONSTANT, 1),
        false => (CONSTANT.len(), usize::MAX),
    };
    let mut all = Vec::new();
    for (mbps, rtts_ms) in &CONSTANT[..links] {
        let rtts_ms = &rtts_ms[..rtts_ms.len().min(rtts)];
        let deep = paths::over([Link::constant(*mbps)], rtts_ms)?;
        all.extend(deep.iter().flat_map(|path| [path.clone(), path.shallow()]));
    }
    Ok(all)
}
