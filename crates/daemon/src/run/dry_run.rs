//! Reports what the agent would do, in a dry run.

use crate::snapshot::Snapshot;
use std::collections::BTreeMap;
use std::io::{Result, Write};
use std::time::Duration;
use tidegate_agent::{Direction, FlowView, Limit, PathView, Situation};

/// A flow without packets for this long does not count as present.
const PRESENT: Duration = Duration::from_secs(1);

/// What was seen so far, by direction.
#[derive(Default)]
pub struct DryRun {
    seen: [Seen; 2],
}

/// Sums over the looks with any flow.
#[derive(Default)]
struct Seen {
    windows: Mean,
    kernels: Mean,
    queues_us: Mean,
    worst_us: u32,
}

#[derive(Default)]
struct Mean {
    sum: f64,
    count: u32,
}

impl Mean {
    fn add(&mut self, value: u32) {
        self.sum += f64::from(value);
        self.count += 1;
    }

    fn value(&self) -> f64 {
        self.sum / f64::from(self.count.max(1))
    }
}

impl DryRun {
    /// Prints what the agent would do now, once a second.
    pub fn look(&mut self, snapshot: &Snapshot) -> Result<()> {
        let mut out = tidegate_terminal::out();
        for (direction, seen) in Direction::ALL.into_iter().zip(&mut self.seen) {
            let all = of(&snapshot.flows, direction);
            let present: Vec<_> = all.filter(|f| is_present(f, snapshot.at_us)).collect();
            if !present.is_empty() {
                let line = seen.look(&present, worst(&snapshot.paths, direction));
                let why = why_not(&present, snapshot);
                writeln!(out, "{}: {line}{why}", direction.name())?;
            }
        }
        out.flush()
    }

    /// Prints the summary at the end.
    pub fn summary(&self, flows: &[FlowView]) -> Result<()> {
        let mut out = tidegate_terminal::out();
        for (direction, seen) in Direction::ALL.into_iter().zip(&self.seen) {
            let all = of(flows, direction).count();
            let steered = of(flows, direction).filter(|f| f.rewritten > 0).count();
            let lowered: u64 = of(flows, direction).map(|f| f.rewritten).sum();
            writeln!(
                out,
                "{}: would have steered {steered} of {all} flows, lowered {lowered} windows{}",
                direction.name(),
                seen.summary()
            )?;
        }
        Ok(())
    }
}

impl Seen {
    fn look(&mut self, present: &[&FlowView], queue_us: u32) -> String {
        let would: Vec<_> = present.iter().filter(|f| is_lowered(f)).collect();
        for flow in &would {
            self.windows.add(flow.window_bytes);
            self.kernels.add(flow.kernel_bytes);
        }
        self.queues_us.add(queue_us);
        self.worst_us = self.worst_us.max(queue_us);
        let sum = |bytes: fn(&FlowView) -> u32| would.iter().map(|f| f64::from(bytes(f))).sum();
        let windows = match would.is_empty() {
            true => String::new(),
            false => format!(
                ", windows {} of {}",
                kilobytes(sum(|f| f.window_bytes)),
                kilobytes(sum(|f| f.kernel_bytes))
            ),
        };
        format!(
            "would steer {} of {} flows{windows}, queue {:.0} ms",
            would.len(),
            present.len(),
            f64::from(queue_us) / 1e3
        )
    }

    fn summary(&self) -> String {
        let mut text = String::new();
        if self.windows.count > 0 {
            text += &format!(
                ", on average to {} from {}",
                kilobytes(self.windows.value()),
                kilobytes(self.kernels.value())
            );
        }
        if self.queues_us.count > 0 {
            text += &format!(
                "; the queue stood at {:.0} ms on average, {:.0} ms at most",
                self.queues_us.value() / 1e3,
                f64::from(self.worst_us) / 1e3
            );
        }
        text
    }
}

fn of(flows: &[FlowView], direction: Direction) -> impl Iterator<Item = &FlowView> {
    flows.iter().filter(move |f| f.direction == direction)
}

fn worst(paths: &[PathView], direction: Direction) -> u32 {
    let of = paths.iter().filter(|p| p.direction == direction);
    of.map(|p| p.queue_us).max().unwrap_or(0)
}

fn is_present(flow: &FlowView, at_us: u64) -> bool {
    Duration::from_micros(at_us) < Duration::from_micros(flow.seen_us) + PRESENT
}

/// How many flows would not be steered, and why, in words; empty if all would be.
fn why_not(present: &[&FlowView], snapshot: &Snapshot) -> String {
    let mut limits: BTreeMap<&str, u32> = BTreeMap::new();
    for flow in present.iter().filter(|f| !is_lowered(f)) {
        let at = Situation {
            law: snapshot.agent.law,
            record: flow.record(&snapshot.paths),
            bytes_per_s: None,
            now_us: snapshot.at_us,
        };
        *limits.entry(Limit::of(flow, at).short()).or_default() += 1;
    }
    let limits: Vec<_> = limits
        .into_iter()
        .map(|(limit, flows)| format!("{flows} {limit}"))
        .collect();
    match limits.is_empty() {
        true => String::new(),
        false => format!("; not steered: {}", limits.join(", ")),
    }
}

fn is_lowered(flow: &FlowView) -> bool {
    flow.wanted_bytes.is_some() && flow.window_bytes < flow.kernel_bytes
}

fn kilobytes(bytes: f64) -> String {
    format!("{:.0} kB", bytes / 1e3)
}
