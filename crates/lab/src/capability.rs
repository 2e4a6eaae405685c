//! Measures how fast and how punctual the laboratory is on this machine.

use crate::run::{Options, run_scenario};
use anyhow::{Context, Result};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use tidegate_scenario::{Quantiles, RunResult, Scenario};

/// How fast and how punctual the laboratory is on this machine, now.
#[derive(Clone, Debug)]
pub struct Capability {
    /// Payload of one TCP flow in packets of 1500 bytes through a link that does not limit it, in
    /// bit/s.
    pub throughput_bps: f64,
    /// Packets that the laboratory's own devices lost during that.
    pub plumbing_losses: u64,
    /// Share of one core that the emulator used during that.
    pub emulator_cpu: f64,
    /// Round trip of an echo over an idle link of [`IDLE_RTT_MS`].
    pub idle_rtt_ms: Quantiles,
    /// Delivered minus due on a link of 100 Mbit/s with one bottlenecked flow.
    pub timing_error_ms: Quantiles,
    /// Share of one core that the emulator used during that.
    pub emulator_cpu_at_100_mbps: f64,
}

/// Round trip for which the idle link is configured, in milliseconds.
pub const IDLE_RTT_MS: f64 = 40.0;

const UNLIMITED: &str = r#"
name = "unlimited"
duration_s = 6
warmup_s = 1
down = { rate = { constant_mbps = 10_000 }, delay_ms = 0, queue = { packets = 100_000 } }
up = { rate = { constant_mbps = 10_000 }, delay_ms = 0, queue = { packets = 100_000 } }
workload = [{ name = "bulk", does = { bulk = {} } }]
run = [{ name = "linux" }]
"#;

const IDLE: &str = r#"
name = "idle"
duration_s = 6
warmup_s = 1
down = { rate = { constant_mbps = 1000 }, delay_ms = 20 }
up = { rate = { constant_mbps = 1000 }, delay_ms = 20 }
workload = [{ name = "ping", does = { ping = { interval_ms = 10 } } }]
run = [{ name = "linux" }]
"#;

const SATURATED: &str = r#"
name = "saturated"
duration_s = 6
warmup_s = 1
down = { rate = { constant_mbps = 100 }, delay_ms = 20 }
up = { rate = { constant_mbps = 100 }, delay_ms = 20 }
workload = [{ name = "bulk", does = { bulk = {} } }]
run = [{ name = "linux" }]
"#;

/// Measures; takes about 20 seconds, and `stop` ends it early with an error.
///
/// # Errors
/// As for [`run_scenario`].
pub fn capability(stop: &Arc<AtomicBool>) -> Result<Capability> {
    let unlimited = measure(UNLIMITED, stop)?;
    let idle = measure(IDLE, stop)?;
    let saturated = measure(SATURATED, stop)?;
    Ok(Capability {
        throughput_bps: unlimited.flows[0].goodput_bps,
        plumbing_losses: unlimited.health.plumbing_losses,
        emulator_cpu: unlimited.health.emulator_cpu,
        idle_rtt_ms: idle.flows[0].rtt_ms,
        timing_error_ms: saturated.health.timing_error_ms,
        emulator_cpu_at_100_mbps: saturated.health.emulator_cpu,
    })
}

fn measure(scenario: &str, stop: &Arc<AtomicBool>) -> Result<RunResult> {
    let path = Path::new("capability.toml");
    let scenario = Scenario::parse(scenario, path)?;
    let inputs = scenario.link_inputs(path)?;
    let options = Options {
        stop: stop.clone(),
        ..Options::default()
    };
    let mut results = run_scenario(&scenario, &inputs, &options)?;
    results.runs.pop().context("stopped")
}
