//! The agent's RTT against the link's.

use crate::emulator::{Record, Ways};
use crate::sample::AgentSample;
use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use tidegate_link::Instant;
use tidegate_measure::{BIN, quantiles};
use tidegate_scenario::{Direction, RttAccuracy};

/// Compares, for each flow and bin of time after the warm-up, the mean of the agent's samples with the round trip over
/// the flow's links. None without an agent, or if it never had a sample.
///
/// Delays in a host (scheduling, a delayed acknowledgement) count as the agent's error.
///
/// `ways` are the links for each of the server's addresses; connections of commands to other addresses are not
/// compared.
pub fn rtt_accuracy(
    (record, ways): (&Record, &BTreeMap<IpAddr, Ways>),
    agent: &[AgentSample],
    warmup: Instant,
) -> Option<RttAccuracy> {
    let mut errors_ms = Vec::new();
    let mut relative = Vec::new();
    let mut truths_ms = Vec::new();
    for ((bin, (_, server, _)), samples) in by_bin_and_flow(agent, warmup) {
        let middle = Instant::from_nanos(bin * BIN.as_nanos() as u64) + BIN / 2;
        let way = ways.get(&server.ip());
        let Some(truth) = way.and_then(|way| record.round_trip(way, middle)) else {
            continue;
        };
        let truth_ms = truth.as_secs_f64() * 1e3;
        let agent_ms = samples.iter().sum::<f64>() / samples.len() as f64;
        let error = (agent_ms - truth_ms).abs();
        errors_ms.push(error);
        relative.push(error / truth_ms);
        truths_ms.push(truth_ms);
    }
    (!truths_ms.is_empty()).then(|| RttAccuracy {
        bins: truths_ms.len() as u64,
        median_error_ms: quantiles(errors_ms).p50,
        median_relative_error: quantiles(relative).p50,
        median_truth_ms: quantiles(truths_ms).p50,
    })
}

/// A flow's ends, and whether it is an upload.
type FlowKey = (u16, SocketAddr, bool);

/// Samples in milliseconds by number of the bin and by flow.
fn by_bin_and_flow(agent: &[AgentSample], warmup: Instant) -> BTreeMap<(u64, FlowKey), Vec<f64>> {
    let mut bins: BTreeMap<_, Vec<f64>> = BTreeMap::new();
    for sample in agent.iter().filter(|s| s.at >= warmup) {
        let bin = sample.at.as_nanos() / BIN.as_nanos() as u64;
        for flow in &sample.flows {
            if let Some(rtt_us) = flow.rtt_us {
                let up = flow.direction == Direction::Up;
                bins.entry((bin, (flow.client_port, flow.server, up)))
                    .or_default()
                    .push(f64::from(rtt_us) / 1e3);
            }
        }
    }
    bins
}

#[cfg(test)]
mod tests;
