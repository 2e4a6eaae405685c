//! CPU time of the gate's process and of the hold's thread, as the scheduler counts it.

use super::super::agent_process::AgentProcess;
use anyhow::{Context, Result};
use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// The name of the thread.
const THREAD: &str = "hold";

/// CPU time of both so far, and the packets that have come to the gate.
pub struct Usage {
    at: Instant,
    gate: Duration,
    thread: Duration,
    packets: u64,
}

/// The difference between two times.
pub struct Spent {
    lasted: Duration,
    gate: Duration,
    thread: Duration,
    packets: u64,
}

impl Usage {
    pub fn of(agent: &AgentProcess) -> Result<Self> {
        let gate = agent.child()?.context("the agent has no gate")?;
        let of_gate = threads(gate)?.into_iter();
        let of_agent = threads(agent.id())?.into_iter();
        Ok(Self {
            at: Instant::now(),
            gate: of_gate.map(|(_, time)| time).sum(),
            thread: of_agent
                .filter(|(name, _)| name == THREAD)
                .map(|(_, time)| time)
                .sum(),
            packets: packets(gate)?,
        })
    }

    pub fn since(&self, before: &Self) -> Spent {
        Spent {
            lasted: self.at - before.at,
            gate: self.gate - before.gate,
            thread: self.thread - before.thread,
            packets: self.packets - before.packets,
        }
    }
}

impl Spent {
    pub fn gate_share(&self) -> f64 {
        self.gate.as_secs_f64() / self.lasted.as_secs_f64()
    }

    pub fn thread_share(&self) -> f64 {
        self.thread.as_secs_f64() / self.lasted.as_secs_f64()
    }

    pub fn packets_a_second(&self) -> f64 {
        self.packets as f64 / self.lasted.as_secs_f64()
    }

    pub fn gate_us(&self) -> f64 {
        self.gate.as_secs_f64() * 1e6 / self.packets.max(1) as f64
    }
}

/// Name and time on a CPU of each of a process's threads (proc_pid_schedstat(5)).
fn threads(process: u32) -> Result<Vec<(String, Duration)>> {
    let mut threads = Vec::new();
    for thread in fs::read_dir(format!("/proc/{process}/task"))? {
        let thread = thread?.path();
        // The thread may have ended meanwhile.
        let read = |file: &str| fs::read_to_string(thread.join(file)).unwrap_or_default();
        let ns = read("schedstat")
            .split_whitespace()
            .next()
            .and_then(|ns| ns.parse().ok());
        threads.push((
            read("comm").trim_end().to_owned(),
            Duration::from_nanos(ns.unwrap_or(0)),
        ));
    }
    Ok(threads)
}

/// How many packets have come to the queues of the process's namespace: the seventh number of a line is the id of the
/// last packet, counted from 1.
fn packets(process: u32) -> Result<u64> {
    let file = PathBuf::from(format!("/proc/{process}/net/netfilter/nfnetlink_queue"));
    let queues = fs::read_to_string(&file).with_context(|| format!("read {}", file.display()))?;
    let numbers = queues
        .lines()
        .filter_map(|queue| queue.split_whitespace().nth(7));
    Ok(numbers.filter_map(|n| n.parse::<u64>().ok()).sum())
}
