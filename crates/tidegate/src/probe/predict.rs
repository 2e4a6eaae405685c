//! Predicts what `tidegate run` would gain: the simulator plays the recorded link with the measured buffer.

use std::path::Path;
use tidegate_link::{Rate, Trace};
use tidegate_probe::analysis::buffer::{Buffer, Unit};
use tidegate_probe::analysis::gain::{Gain, Transfer};
use tidegate_probe::analysis::policy::DropPolicy;
use tidegate_scenario::{
    Direction, Law, LinkSpec, QueuePolicy, QueueSpec, RateSpec, Run, Scenario, Workload,
    WorkloadKind,
};
use tidegate_sim::{Options, run_one};

/// Simulated seconds, and how many of the first do not count.
const DURATION_S: f64 = 30.0;
const WARMUP_S: f64 = 5.0;

/// Rate of the other direction if it is unknown: acknowledgements need little.
const OTHER_MBPS: f64 = 20.0;

/// A measured direction: its trace in Mahimahi's format, its buffer, and the smallest round trip.
pub struct Known<'a> {
    /// The direction.
    pub direction: Direction,
    pub trace: &'a str,
    pub buffer: &'a Buffer,
    pub base_ms: f64,
    /// Rate of the other direction.
    pub other_bps: Option<f64>,
}

/// None if the trace is too short to be played.
pub fn predict(known: &Known) -> Option<Gain> {
    let trace = Trace::parse(known.trace).ok()?;
    let scenario = scenario(known, trace.mean_bps());
    let mut inputs = scenario.link_inputs(Path::new(".")).ok()?;
    let studied = match known.direction {
        Direction::Down => &mut inputs.down,
        Direction::Up => &mut inputs.up,
    };
    studied.rate = Rate::from(trace);
    let options = Options::default();
    let transfer = |run| {
        let result = run_one(&scenario, &inputs, run, &options).ok()??;
        let flow = result.flows.first()?;
        Some(Transfer {
            rtt_ms: flow.rtt_ms.mean,
            goodput_bps: flow.goodput_bps,
        })
    };
    Some(Gain {
        linux: transfer(&scenario.runs[0])?,
        steered: transfer(&scenario.runs[1])?,
    })
}

fn scenario(known: &Known, mean_bps: f64) -> Scenario {
    let link = |mbps| LinkSpec::new(RateSpec::ConstantMbps(mbps), known.base_ms / 2.0);
    let studied = LinkSpec {
        queue: queue(known.buffer, mean_bps),
        ..link(mean_bps / 1e6)
    };
    let other = link(known.other_bps.map_or(OTHER_MBPS, |bps| bps / 1e6));
    let (down, up) = match known.direction {
        Direction::Down => (studied, other),
        Direction::Up => (other, studied),
    };
    let bulk = WorkloadKind::Bulk {
        direction: known.direction,
        bytes: None,
        flows: 1,
    };
    let workloads = vec![Workload::new("transfer", bulk)];
    let runs = vec![Run::new("linux", Law::None), Run::new("tide", Law::Tide)];
    Scenario {
        warmup_s: WARMUP_S,
        ..Scenario::new("prediction", DURATION_S, [down, up], workloads, runs)
    }
}

fn queue(buffer: &Buffer, mean_bps: f64) -> QueueSpec {
    let unlimited = QueueSpec {
        packets: None,
        policy: match buffer.policy {
            DropPolicy::Head => QueuePolicy::DropHead,
            _ => QueuePolicy::DropTail,
        },
        ..QueueSpec::default()
    };
    match (buffer.unit, buffer.policy) {
        // The only AQM that needs no parameter but one limit.
        (_, DropPolicy::Aqm) => QueueSpec {
            policy: QueuePolicy::Codel,
            codel_target_ms: buffer.size * 1e3,
            bytes: Some(1 << 30),
            ..unlimited
        },
        (Unit::Packets, _) => QueueSpec {
            packets: Some(buffer.size as usize),
            ..unlimited
        },
        (Unit::Bytes | Unit::Unclear, _) => QueueSpec {
            bytes: Some(buffer.size as usize),
            ..unlimited
        },
        (Unit::Time, _) => QueueSpec {
            bytes: Some((buffer.size * mean_bps / 8.0) as usize),
            ..unlimited
        },
    }
}
