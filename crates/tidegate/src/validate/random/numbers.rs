//! What of a run is held against what chance makes of it.

use std::collections::BTreeMap;
use tidegate_scenario::{FlowDirection, LinkResult, Quantiles, RunResult};

/// How much of a number is too little to speak of, whatever its size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Unit {
    /// Bits per second.
    Bps,
    /// Milliseconds; the laboratory's clock and its packets' processing.
    Ms,
    /// Packets.
    Packets,
}

impl Unit {
    /// Differences up to this one do not count.
    pub const fn slack(self) -> f64 {
        match self {
            Self::Bps => 10_000.0,
            Self::Ms => 1.0,
            Self::Packets => 3.0,
        }
    }
}

/// A number of one run: its kind, whose it is, unit, value.
#[derive(Clone, Debug, PartialEq)]
pub struct Number {
    /// What is measured, as reports call it.
    pub kind: &'static str,
    /// A workload's name, or a link's.
    pub of: String,
    /// In what it is measured.
    pub unit: Unit,
    /// How much.
    pub value: f64,
}

/// All numbers of a run, in an order that is the same for all runs of a scenario.
pub fn numbers(run: &RunResult) -> Vec<Number> {
    let mut numbers = Vec::new();
    let mut add = |kind, of: &str, unit, value| {
        numbers.push(Number {
            kind,
            of: of.to_owned(),
            unit,
            value,
        });
    };
    for (name, flows) in by_workload(run) {
        let sum = |of: fn(&tidegate_scenario::FlowResult) -> f64| {
            flows.iter().map(|f| of(f)).sum::<f64>()
        };
        let count = flows.len() as f64;
        let goodputs = || flows.iter().map(|f| f.goodput_bps);
        add("goodput", &name, Unit::Bps, sum(|f| f.goodput_bps));
        if flows.len() > 1 {
            // Which of them is which is chance.
            add(
                "least flow's goodput",
                &name,
                Unit::Bps,
                goodputs().fold(f64::INFINITY, f64::min),
            );
            add(
                "largest flow's goodput",
                &name,
                Unit::Bps,
                goodputs().fold(0.0, f64::max),
            );
        }
        add(
            "round trip, median",
            &name,
            Unit::Ms,
            sum(|f| f.rtt_ms.p50) / count,
        );
        add(
            "round trip, p95",
            &name,
            Unit::Ms,
            sum(|f| f.rtt_ms.p95) / count,
        );
        add(
            "segments sent again",
            &name,
            Unit::Packets,
            sum(|f| f.retransmits as f64),
        );
    }
    for fetch in &run.fetches {
        let of = format!("{}, {} bytes", fetch.name, fetch.bytes);
        add("fetch, mean", &of, Unit::Ms, fetch.time_ms.mean);
        add("fetch, p95", &of, Unit::Ms, fetch.time_ms.p95);
    }
    for (
        name,
        LinkResult {
            queue_delay_ms,
            drops,
            ..
        },
    ) in [("down", &run.link), ("up", &run.uplink)]
    {
        let Quantiles { mean, p50, p95, .. } = *queue_delay_ms;
        add("queue, mean", name, Unit::Ms, mean);
        add("queue, median", name, Unit::Ms, p50);
        add("queue, p95", name, Unit::Ms, p95);
        add("drops", name, Unit::Packets, *drops as f64);
    }
    numbers
}

/// Connections by the workload that they are of.
fn by_workload(run: &RunResult) -> BTreeMap<String, Vec<&tidegate_scenario::FlowResult>> {
    let mut workloads: BTreeMap<String, Vec<_>> = BTreeMap::new();
    for flow in run
        .flows
        .iter()
        .filter(|f| f.direction != FlowDirection::Echo)
    {
        let name = flow.name.split('#').next().unwrap_or_default().trim_end();
        workloads.entry(name.to_owned()).or_default().push(flow);
    }
    workloads
}
