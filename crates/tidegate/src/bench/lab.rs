//! Throughput and timing of the laboratory.

use super::Row;
use anyhow::Result;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use tidegate_lab::{IDLE_RTT_MS, capability};

/// Takes some 20 seconds of real time.
pub fn measure(stop: &Arc<AtomicBool>) -> Result<Vec<Row>> {
    let lab = capability(stop)?;
    Ok(vec![
        Row::new(
            "lab: one TCP flow, unlimited link",
            lab.throughput_bps / 1e6,
            "Mbit/s",
        ),
        Row::new(
            "lab: packets lost in its own plumbing",
            lab.plumbing_losses as f64,
            "packets",
        ),
        Row::new(
            "lab: emulator at that rate",
            100.0 * lab.emulator_cpu,
            "% of a core",
        ),
        Row::new(
            "lab: idle RTT at 40 ms, bias, median",
            lab.idle_rtt_ms.p50 - IDLE_RTT_MS,
            "ms",
        ),
        Row::new(
            "lab: idle RTT at 40 ms, bias, p99",
            lab.idle_rtt_ms.p99 - IDLE_RTT_MS,
            "ms",
        ),
        Row::new(
            "lab: timing error at 100 Mbit/s, p50",
            lab.timing_error_ms.p50,
            "ms",
        ),
        Row::new(
            "lab: timing error at 100 Mbit/s, p99",
            lab.timing_error_ms.p99,
            "ms",
        ),
        Row::new(
            "lab: emulator at 100 Mbit/s",
            100.0 * lab.emulator_cpu_at_100_mbps,
            "% of a core",
        ),
    ])
}
