//! The sampler: looks at every flow, and at the agent, at regular intervals.

use crate::steer::{HeldFlow, SteeredFlow, Steering};
use crate::term::Term;
use crate::transport::Info;
use crate::workload::Flow;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use tidegate_link::Instant;
use tidegate_measure::SAMPLE_INTERVAL;

/// A flow at one time.
#[derive(Clone, Copy, Debug)]
pub struct FlowSample {
    /// When.
    pub at: Instant,
    /// Bytes that the application had received.
    pub received: u64,
    /// The sending end; none before it was connected and after it was closed.
    pub sender: Option<Info>,
    /// The receiving end; none before it was connected and after it was closed.
    pub receiver: Option<Info>,
}

/// What the agents knew at one time.
#[derive(Clone, Debug)]
pub struct AgentSample {
    /// When.
    pub at: Instant,
    /// Every flow that they knew; those of the client's agent come first.
    pub flows: Vec<SteeredFlow>,
}

/// Everything that was sampled in a run.
#[derive(Clone, Debug, Default)]
pub struct Samples {
    /// For each flow, in their order, its samples in order of time.
    pub flows: Vec<Vec<FlowSample>>,
    /// The agents' samples, if there were agents.
    pub agent: Vec<AgentSample>,
    /// Counts of flows that may be held, by the client's port and the server's address.
    pub held: BTreeMap<(u16, SocketAddr), HeldPackets>,
}

/// Packets of a flow that may be held.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HeldPackets {
    /// Those that have waited.
    pub held: u64,
    /// Those that were signalled as congestion.
    pub signalled: u64,
    /// The agent's counts at the last sample.
    last: (u64, u64),
}

impl HeldPackets {
    /// Adds what is new. The agent's counts begin at zero again when it has released the flow, or given it another
    /// record.
    fn add(&mut self, seen: &HeldFlow) {
        let more = |before: u64, now: u64| now.checked_sub(before).unwrap_or(now);
        self.held += more(self.last.0, seen.held);
        self.signalled += more(self.last.1, seen.signalled);
        self.last = (seen.held, seen.signalled);
    }
}

impl Samples {
    /// Samples until the term is over.
    pub fn collect(flows: &[Arc<Flow>], steering: &mut [Box<dyn Steering>], term: &Term) -> Self {
        let mut samples = Self {
            flows: vec![Vec::new(); flows.len()],
            ..Self::default()
        };
        let mut next = Instant::ZERO;
        while term.sleep_until(next) {
            let at = term.clock.now();
            for (flow, log) in flows.iter().zip(&mut samples.flows) {
                if flow.began.get().is_some() {
                    log.push(look_at(flow, at));
                }
            }
            if !steering.is_empty() {
                let flows = steering.iter_mut().flat_map(|s| s.sample()).collect();
                samples.agent.push(AgentSample { at, flows });
                for flow in steering.iter_mut().flat_map(|s| s.held()) {
                    let ends = (flow.client_port, flow.server);
                    samples.held.entry(ends).or_default().add(&flow);
                }
            }
            // Keeps to the grid, so that a late sample does not delay all later ones.
            let passed = at.as_nanos() / SAMPLE_INTERVAL.as_nanos() as u64 + 1;
            next = Instant::from_nanos(passed * SAMPLE_INTERVAL.as_nanos() as u64);
        }
        samples
    }
}

fn look_at(flow: &Flow, at: Instant) -> FlowSample {
    FlowSample {
        at,
        received: flow.received(),
        sender: flow.sender_info(),
        receiver: flow.receiver_info(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_counted_before_the_agent_let_a_flow_go_counts() {
        let server = "192.0.2.1:443".parse().unwrap();
        let mut packets = HeldPackets::default();
        for (held, signalled) in [(3, 0), (9, 1), (0, 1), (0, 1), (4, 2)] {
            packets.add(&HeldFlow {
                client_port: 50_000,
                server,
                held,
                signalled,
            });
        }
        assert_eq!((packets.held, packets.signalled), (13, 2));
    }
}
