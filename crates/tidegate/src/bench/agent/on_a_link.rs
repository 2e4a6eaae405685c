//! CPU use of the agent at the rate of an access link: of its programs as the kernel counts them, and of its process as
//! the scheduler does.

use crate::bench::agent_process::AgentProcess;
use crate::bench::{Row, aside};
use anyhow::Result;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};
use tidegate_agent::count_program_time;

/// In Mbit/s.
const RATE: u32 = 100;

/// How many downloads at once.
const FLOWS: [u32; 3] = [1, 8, 100];

/// Length of each run, with its start.
const LASTS: Duration = Duration::from_secs(16);

/// CPU time of the agent so far.
struct Taken {
    at: Instant,
    programs: Duration,
    runs: u64,
    process: Duration,
}

fn taken(agent: &AgentProcess) -> Result<Taken> {
    let resources = agent.resources()?;
    Ok(Taken {
        at: Instant::now(),
        programs: resources.programs_cpu,
        runs: resources.programs_runs,
        process: resources.cpu,
    })
}

/// Downloads in packets of 1500 B through the laboratory; 45 seconds in all.
pub fn measure(stop: &Arc<AtomicBool>) -> Result<Vec<Row>> {
    let _counting = count_program_time()?;
    let mut rows = Vec::new();
    for flows in FLOWS {
        rows.extend(downloads(flows, stop)?);
    }
    Ok(rows)
}

fn downloads(flows: u32, stop: &Arc<AtomicBool>) -> Result<[Row; 4]> {
    let lasts = LASTS.as_secs();
    let scenario = format!(
        r#"
        name = "link"
        duration_s = {lasts}
        [down]
        rate = {{ constant_mbps = {RATE} }}
        delay_ms = 10
        queue = {{ packets = 3000 }}
        [up]
        rate = {{ constant_mbps = {RATE} }}
        delay_ms = 10
        queue = {{ packets = 3000 }}
        [[workload]]
        name = "download"
        does = {{ bulk = {{ flows = {flows} }} }}
        [[run]]
        name = "steered"
        law = "tide"
        "#
    );
    let (run, [from, to]) = aside::run(&[], taken, &scenario, stop)?;
    let seconds = (to.at - from.at).as_secs_f64();
    let share = |time: Duration| 100.0 * time.as_secs_f64() / seconds;
    let goodput_bps: f64 = run.flows.iter().map(|flow| flow.goodput_bps).sum();
    let row = |what: &str, value: f64, unit| {
        let connections = super::connections(flows as usize);
        let name = format!("agent: {what}, link of {RATE} Mbit/s, {connections}");
        Row::new(name, value, unit)
    };
    Ok([
        row("goodput", goodput_bps / 1e6, "Mbit/s"),
        row(
            "runs of its programs",
            (to.runs - from.runs) as f64 / seconds,
            "/s",
        ),
        row(
            "its programs",
            share(to.programs - from.programs),
            "% of a CPU",
        ),
        row(
            "its process",
            share(to.process - from.process),
            "% of a CPU",
        ),
    ])
}
