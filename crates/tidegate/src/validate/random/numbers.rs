//! The numbers of a run that are compared.

use std::collections::BTreeMap;
use tidegate_scenario::{FlowDirection, FlowResult, LinkResult, Quantiles, RunResult, Series};

/// The unit of a number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Unit {
    /// Bits per second.
    Bps,
    /// Milliseconds; the laboratory's clock and its packets' processing.
    Ms,
    /// Packets.
    Packets,
    /// Bytes.
    Bytes,
}

impl Unit {
    /// Its name in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bps => "bps",
            Self::Ms => "ms",
            Self::Packets => "packets",
            Self::Bytes => "bytes",
        }
    }

    /// The largest difference that never counts, whatever the number's size.
    pub const fn slack(self) -> f64 {
        match self {
            Self::Bps => 10_000.0,
            Self::Ms => 1.0,
            Self::Packets => 3.0,
            Self::Bytes => 4500.0,
        }
    }
}

/// A number of one run.
#[derive(Clone, Debug, PartialEq)]
pub struct Number {
    /// The kind of number, as reports call it.
    pub kind: &'static str,
    /// The name of a workload or a link.
    pub of: String,
    /// Its unit.
    pub unit: Unit,
    /// Its value.
    pub value: f64,
    /// Whether it is a mean of samples taken during a connection: a short connection has none.
    pub sampled: bool,
}

/// How many points of a curve a mean needs; there are ten a second.
const ENOUGH: f64 = 10.0;

/// Collects the numbers of a run.
#[derive(Default)]
struct Numbers(Vec<Number>);

impl Numbers {
    fn add(&mut self, kind: &'static str, of: &str, unit: Unit, value: f64) {
        self.0.push(Number {
            kind,
            of: of.to_owned(),
            unit,
            value,
            sampled: false,
        });
    }

    /// Adds a round trip or another sampled number; 0 means there are no samples.
    fn add_sampled(&mut self, kind: &'static str, of: &str, unit: Unit, value: f64) {
        if value > 0.0 {
            self.add(kind, of, unit, value);
            self.0.last_mut().expect("just added").sampled = true;
        }
    }
}

/// All numbers of a run without its first `warmup_s`, in the same order for all runs of a scenario.
pub fn numbers(run: &RunResult, warmup_s: f64) -> Vec<Number> {
    let mut all = Numbers::default();
    for (name, flows) in by_workload(run) {
        match flows[0].direction {
            FlowDirection::Echo => echo(&mut all, &name, flows[0]),
            _ => workload(&mut all, &name, &flows),
        }
    }
    for ((kind, of), (unit, mean)) in windows(&run.series, warmup_s) {
        all.add_sampled(kind, &of, unit, mean);
    }
    for fetch in &run.fetches {
        let of = format!("{}, {} bytes", fetch.name, fetch.bytes);
        all.add("fetch, mean", &of, Unit::Ms, fetch.time_ms.mean);
        all.add("fetch, p95", &of, Unit::Ms, fetch.time_ms.p95);
    }
    link(&mut all, "down", &run.link);
    link(&mut all, "up", &run.uplink);
    for hop in &run.hops {
        link(&mut all, &hop.name, &hop.link);
    }
    all.0
}

/// Numbers of all connections of a workload together: which of them is which is chance.
fn workload(all: &mut Numbers, name: &str, flows: &[&FlowResult]) {
    let sum = |of: fn(&FlowResult) -> f64| flows.iter().map(|f| of(f)).sum::<f64>();
    let count = flows.len() as f64;
    let goodputs = || flows.iter().map(|f| f.goodput_bps);
    all.add("goodput", name, Unit::Bps, sum(|f| f.goodput_bps));
    if flows.len() > 1 {
        let least = goodputs().fold(f64::INFINITY, f64::min);
        let largest = goodputs().fold(0.0, f64::max);
        all.add("least flow's goodput", name, Unit::Bps, least);
        all.add("largest flow's goodput", name, Unit::Bps, largest);
    }
    // Connections that ended before their first sample have no round trip.
    let sampled = flows.iter().filter(|f| f.rtt_ms.p50 > 0.0).count().max(1) as f64;
    let (median, p95) = (
        sum(|f| f.rtt_ms.p50) / sampled,
        sum(|f| f.rtt_ms.p95) / sampled,
    );
    all.add_sampled("round trip, median", name, Unit::Ms, median);
    all.add_sampled("round trip, p95", name, Unit::Ms, p95);
    let again = sum(|f| f.retransmits as f64);
    all.add("segments sent again", name, Unit::Packets, again);
    let completions: Option<Vec<f64>> = flows.iter().map(|f| f.completion_s).collect();
    if let Some(completions) = completions {
        let mean = completions.iter().sum::<f64>() / count;
        all.add("completion", name, Unit::Ms, mean * 1e3);
    }
}

fn echo(all: &mut Numbers, name: &str, ping: &FlowResult) {
    all.add_sampled("echo, median", name, Unit::Ms, ping.rtt_ms.p50);
    all.add_sampled("echo, p95", name, Unit::Ms, ping.rtt_ms.p95);
}

fn link(all: &mut Numbers, name: &str, link: &LinkResult) {
    let Quantiles { mean, p50, p95, .. } = link.queue_delay_ms;
    all.add("queue, mean", name, Unit::Ms, mean);
    all.add("queue, median", name, Unit::Ms, p50);
    all.add("queue, p95", name, Unit::Ms, p95);
    all.add("drops", name, Unit::Packets, link.drops as f64);
    all.add("marks", name, Unit::Packets, link.marks as f64);
}

/// Connections grouped by workload.
fn by_workload(run: &RunResult) -> BTreeMap<String, Vec<&FlowResult>> {
    let mut workloads: BTreeMap<String, Vec<_>> = BTreeMap::new();
    for flow in &run.flows {
        workloads
            .entry(workload_of(&flow.name).to_owned())
            .or_default()
            .push(flow);
    }
    workloads
}

/// The workload that the connection of this name belongs to.
fn workload_of(flow: &str) -> &str {
    flow.split('#').next().unwrap_or_default().trim_end()
}

/// The windows of each workload: means over its connections after the warm-up.
fn windows(series: &[Series], warmup_s: f64) -> BTreeMap<(&'static str, String), (Unit, f64)> {
    let mut means: BTreeMap<_, (Unit, f64, f64)> = BTreeMap::new();
    for curve in series {
        let (kind, unit) = match curve.quantity.as_str() {
            "cwnd_packets" => ("congestion window", Unit::Packets),
            "window_bytes" => ("receive window", Unit::Bytes),
            _ => continue,
        };
        let of = workload_of(&curve.flow).to_owned();
        let mean = means.entry((kind, of)).or_insert((unit, 0.0, 0.0));
        let points = curve.t_s.iter().zip(&curve.value);
        for (_, value) in points.filter(|(t_s, _)| **t_s >= warmup_s) {
            mean.1 += value;
            mean.2 += 1.0;
        }
    }
    means.retain(|_, (_, _, points)| *points >= ENOUGH);
    let mean = |(unit, sum, points): (Unit, f64, f64)| (unit, sum / points);
    means
        .into_iter()
        .map(|(of, sums)| (of, mean(sums)))
        .collect()
}
