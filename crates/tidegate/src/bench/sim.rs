//! Segments a second of the simulator, from scenario to result, on one core; compared with ns-3 on the same work, if
//! that is installed.

use super::Row;
use super::ns3::Ns3;
use anyhow::{Context, Result};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;
use tidegate_scenario::Scenario;
use tidegate_sim::{Options, run_scenario};
use tidegate_terminal::warn;

/// Bulk flows of CUBIC through one drop-tail bottleneck.
#[derive(Clone, Copy)]
pub struct Work {
    /// Its name in the results.
    name: &'static str,
    /// Connections.
    pub flows: u32,
    /// Rate of the bottleneck.
    pub mbps: f64,
    /// One-way delay.
    pub delay_ms: f64,
    /// Packets that the bottleneck's buffer holds.
    pub packets: u32,
    /// Simulated time.
    pub seconds: f64,
    /// Segments a second of an optimised build of ns-3.37, measured once on a machine of this kind; Debian's package,
    /// which can be measured now, may be slower.
    optimised_ns3: Option<f64>,
}

const ONE: Work = Work {
    name: "one flow, 20 Mbit/s, 40 ms, 1000 packets",
    flows: 1,
    mbps: 20.0,
    delay_ms: 20.0,
    packets: 1000,
    seconds: 120.0,
    optimised_ns3: Some(34e3),
};

/// Work that ns-3 does, too. The third shows what a window four times as large costs.
const COMPARED: [Work; 3] = [
    ONE,
    Work {
        name: "ten flows, 100 Mbit/s, 40 ms, 1000 packets",
        flows: 10,
        mbps: 100.0,
        optimised_ns3: Some(49e3),
        ..ONE
    },
    Work {
        name: "one flow, 20 Mbit/s, 40 ms, 4000 packets",
        packets: 4000,
        optimised_ns3: None,
        ..ONE
    },
];

/// The same for each flow, with few or many: 1 Mbit/s and 20 packets of buffer.
const FEW: Work = many(10, 600.0);
const MANY: Work = many(10_000, 4.0);

const fn many(flows: u32, seconds: f64) -> Work {
    Work {
        name: "",
        flows,
        mbps: flows as f64,
        packets: 20 * flows,
        seconds,
        optimised_ns3: None,
        ..ONE
    }
}

/// We report the median of this many measurements, since other load on the machine varies.
const TAKES: usize = 3;

/// Takes about two minutes with ns-3, most of them in ns-3; seconds without. `stop` ends it early with an error.
pub fn measure(stop: &Arc<AtomicBool>) -> Result<Vec<Row>> {
    // Measure memory first, before other work has used any.
    let mut rows = vec![memory(stop)?];
    let ns3 = Ns3::build()?;
    if ns3.is_none() {
        warn(format_args!(
            "tidegate: ns-3 is not installed (Debian package libns3-dev), so the simulator is \
             compared with nothing"
        ));
    }
    for work in &COMPARED {
        rows.extend(compare(work, ns3.as_ref(), stop)?);
    }
    rows.extend(crowd(stop)?);
    Ok(rows)
}

/// Measures the simulator and, if it is installed, ns-3 on the same work, one right after the other.
fn compare(work: &Work, ns3: Option<&Ns3>, stop: &Arc<AtomicBool>) -> Result<Vec<Row>> {
    let row = |who: &str, speed| Row::new(format!("{who}: {}", work.name), speed, "segments/s");
    let Some(ns3) = ns3 else {
        return Ok(vec![row("sim", segments_per_second(work, stop)?)]);
    };
    let theirs = ns3.segments_per_second(work)?;
    let ours = segments_per_second(work, stop)?;
    let name = format!("ns-3 {}", ns3.version);
    let mut rows = vec![
        row(&name, theirs),
        row("sim", ours).versus(format!("{name}, now"), ours / theirs),
    ];
    if let Some(optimised) = work.optimised_ns3 {
        let what = format!("ns-3.37 optimised, as of old: {optimised:.0} segments/s");
        rows.push(row("sim (again)", ours).versus(what, ours / optimised));
    }
    Ok(rows)
}

/// The cost of a segment with few flows, and with many.
fn crowd(stop: &Arc<AtomicBool>) -> Result<[Row; 2]> {
    let few = segments_per_second(&FEW, stop)?;
    let many = segments_per_second(&MANY, stop)?;
    let ns = |speed: f64| 1e9 / speed;
    Ok([
        Row::new("sim: cost at 10 flows", ns(few), "ns/segment"),
        Row::new("sim: cost at 10 000 flows", ns(many), "ns/segment")
            .versus("10 flows", few / many),
    ])
}

/// Peak memory with ten times the simulated time.
fn memory(stop: &Arc<AtomicBool>) -> Result<Row> {
    let peak = |seconds| -> Result<f64> {
        reset_peak_memory()?;
        simulate(&Work { seconds, ..ONE }, stop)?;
        peak_memory_mb()
    };
    let short = peak(60.0)?;
    let long = peak(600.0)?;
    let row = Row::new("sim: memory for 600 s of simulated time", long, "MB");
    Ok(row.versus("60 s", long / short))
}

fn segments_per_second(work: &Work, stop: &Arc<AtomicBool>) -> Result<f64> {
    let mut takes = Vec::new();
    for _ in 0..TAKES {
        let began = Instant::now();
        let segments = simulate(work, stop)?;
        takes.push(segments / began.elapsed().as_secs_f64());
    }
    Ok(super::median(takes))
}

/// Full data segments delivered by the link.
fn simulate(work: &Work, stop: &Arc<AtomicBool>) -> Result<f64> {
    const PACKET_BITS: f64 = 1500.0 * 8.0;
    let path = Path::new("bench.toml");
    let scenario = Scenario::parse(&scenario(work), path)?;
    let inputs = scenario.link_inputs(path)?;
    let options = Options {
        stop: Arc::clone(stop),
        ..Options::default()
    };
    let mut results = run_scenario(&scenario, &inputs, &options)?;
    let result = results.runs.pop().context("stopped")?;
    Ok(result.link.delivered_bps * work.seconds / PACKET_BITS)
}

fn scenario(work: &Work) -> String {
    let Work {
        flows,
        mbps,
        delay_ms,
        packets,
        seconds,
        ..
    } = work;
    format!(
        r#"
name = "bench"
duration_s = {seconds}
down = {{ rate = {{ constant_mbps = {mbps} }}, delay_ms = {delay_ms}, queue = {{ packets = {packets} }} }}
up = {{ rate = {{ constant_mbps = {mbps} }}, delay_ms = {delay_ms}, queue = {{ packets = {packets} }} }}
workload = [{{ name = "bulk", does = {{ bulk = {{ flows = {flows} }} }} }}]
run = [{{ name = "cubic", congestion_control = "cubic" }}]
"#
    )
}

/// Resets this process's peak memory (proc(5), `clear_refs`).
fn reset_peak_memory() -> Result<()> {
    std::fs::write("/proc/self/clear_refs", "5").context("cannot reset the peak of memory in use")
}

/// Reads `VmHWM` (proc(5)).
fn peak_memory_mb() -> Result<f64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let kilobytes = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .and_then(|rest| rest.trim().trim_end_matches(" kB").parse::<f64>().ok())
        .context("/proc/self/status does not tell the peak of memory in use")?;
    Ok(kilobytes / 1024.0)
}
