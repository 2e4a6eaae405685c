//! What the hold costs: its programs, the gate's process and the agent's thread. QUIC downloads pass the laboratory,
//! where `tidegate run --udp hold` runs in its own process, as it does for users.

mod usage;

use super::agent_process::AgentProcess;
use super::{Row, aside, packets};
use anyhow::{Result, ensure};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tidegate_lab::EmulatedHosts;
use tidegate_link::Config;
use usage::Usage;

/// Length of each download, with its start.
const LASTS: Duration = Duration::from_secs(18);

/// How long an agent that has nothing to hold is watched.
const REST: Duration = Duration::from_secs(5);

/// Rate in Mbit/s, buffer in packets, and number of downloads.
const DOWNLOADS: [(u32, u32, u32); 3] = [(20, 1000, 1), (100, 3000, 1), (100, 3000, 100)];

/// Takes a minute and a half; `stop` ends it early with an error.
pub fn measure(against: Option<&Path>, stop: &Arc<AtomicBool>) -> Result<Vec<Row>> {
    let mut rows = packets::measure_hold(against, stop)?;
    rows.extend(at_rest(stop)?);
    for (mbps, buffer, flows) in DOWNLOADS {
        rows.extend(download(mbps, buffer, flows, stop)?);
    }
    Ok(rows)
}

/// Costs without any flow to hold.
fn at_rest(stop: &AtomicBool) -> Result<[Row; 2]> {
    let hosts = EmulatedHosts::new(Config::default(), Config::default(), 1)?;
    let agent = hosts
        .client()
        .run(|| AgentProcess::start_here(&["--udp", "hold"]))?;
    let from = Usage::of(&agent)?;
    let until = Instant::now() + REST;
    while Instant::now() < until {
        ensure!(!stop.load(Ordering::Relaxed), "stopped");
        std::thread::sleep(Duration::from_millis(50));
    }
    let spent = Usage::of(&agent)?.since(&from);
    agent.stop()?;
    let row = |what: &str, share: f64| {
        Row::new(
            format!("hold: {what}, at rest"),
            100.0 * share,
            "% of a CPU",
        )
    };
    Ok([
        row("the gate's process", spent.gate_share()),
        row("the agent's thread", spent.thread_share()),
    ])
}

/// Costs while this many downloads over one link are held.
fn download(mbps: u32, buffer: u32, flows: u32, stop: &Arc<AtomicBool>) -> Result<Vec<Row>> {
    let lasts = LASTS.as_secs();
    let scenario = format!(
        r#"
        name = "held"
        duration_s = {lasts}
        [down]
        rate = {{ constant_mbps = {mbps} }}
        delay_ms = 20
        queue = {{ packets = {buffer} }}
        [up]
        rate = {{ constant_mbps = 50 }}
        delay_ms = 20
        queue = {{ packets = 1000 }}
        [[workload]]
        name = "download"
        windowless = true
        does = {{ bulk = {{ flows = {flows} }} }}
        [[run]]
        name = "held"
        law = "tide"
        udp = "hold"
        "#
    );
    let (run, [settled, end]) = aside::run(&["--udp", "hold"], Usage::of, &scenario, stop)?;
    let spent = end.since(&settled);
    let goodput_bps: f64 = run.flows.iter().map(|flow| flow.goodput_bps).sum();
    let name = |what: &str| format!("hold: {what}, QUIC at {mbps} Mbit/s, {flows} flows");
    Ok(vec![
        Row::new(name("goodput"), goodput_bps / 1e6, "Mbit/s"),
        Row::new(
            name("packets through the gate"),
            spent.packets_a_second(),
            "packets/s",
        ),
        Row::new(name("the gate's process"), spent.gate_us(), "µs/packet"),
        Row::new(
            name("the gate's process"),
            100.0 * spent.gate_share(),
            "% of a CPU",
        ),
        Row::new(
            name("the agent's thread"),
            100.0 * spent.thread_share(),
            "% of a CPU",
        ),
    ])
}
