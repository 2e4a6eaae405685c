//! Fig. 5's dumbbell: ten connections over one link whose rate changes, each with its own access links.

use super::paths::{DURATION_S, KB, RTT_S, hosts, label, link, rate, run};
use tidegate_scenario::{
    Direction, FlowControl, Hop, RateSpec, ReadRate, RunResult, Scenario, Side, Workload,
    WorkloadKind,
};
use tidegate_study::{Case, Sample};

/// Mbit/s of each slot that the link in the middle carries, and that each application reads.
const NETWORK: [f64; 3] = [2.0, 4.0, 4.0];
const READS: [f64; 3] = [0.0, 6.0, 6.0];

/// Delay of the link in the middle, and of each access link, in seconds.
const MIDDLE_S: f64 = 0.255;
const ACCESS_S: f64 = 0.005;

/// Rate of an access link, in Mbit/s.
const ACCESS_MBPS: f64 = 10.0;

/// Packets in front of the link in the middle: for each connection as many as a lone one has.
const QUEUE: usize = 1000;

/// The buffer of all connections together.
const BUFFER: u64 = 213 * KB;

/// That many connections; the first `adaptive` have AFC.
#[derive(Clone, Copy, Debug)]
pub struct Dumbbell {
    /// All of them.
    pub flows: usize,
    /// Those with AFC.
    pub adaptive: usize,
}

impl Dumbbell {
    /// The case's name.
    pub fn name(self) -> String {
        format!("{} of {} connections with AFC", self.adaptive, self.flows)
    }

    /// The case.
    pub fn case(self) -> Case {
        let flows = 1..=self.flows;
        let hops = flows.clone().flat_map(access_links).collect();
        let down = link(rate(&NETWORK, RTT_S, 0.0), MIDDLE_S, QUEUE);
        let up = link(
            RateSpec::ConstantMbps(ACCESS_MBPS),
            MIDDLE_S + 2.0 * ACCESS_S,
            QUEUE,
        );
        let workloads = flows.map(|n| self.workload(n)).collect();
        let run = run(BUFFER / self.flows as u64, FlowControl::Classic);
        Case::new(Scenario {
            hops,
            hosts: hosts(),
            ..Scenario::new(self.name(), DURATION_S, [down, up], workloads, vec![run])
        })
    }

    fn workload(self, n: usize) -> Workload {
        let reads = ReadRate::Slots {
            mbps: READS.to_vec(),
            slot_s: RTT_S,
        };
        let does = WorkloadKind::Reader {
            direction: Direction::Down,
            reads,
        };
        Workload {
            links: Some(vec!["down".into(), "up".into(), sender(n), receiver(n)]),
            flow_control: (n <= self.adaptive).then_some(FlowControl::Adaptive),
            ..Workload::new(format!("{n}"), does)
        }
    }

    /// Throughput of each connection with AFC, in Mbit/s.
    pub fn with_afc(self, sample: &Sample) -> Vec<f64> {
        self.goodputs(sample, 0..self.adaptive)
    }

    /// Throughput of each of the others.
    pub fn classic(self, sample: &Sample) -> Vec<f64> {
        self.goodputs(sample, self.adaptive..self.flows)
    }

    fn goodputs(self, sample: &Sample, which: std::ops::Range<usize>) -> Vec<f64> {
        let name = self.name();
        let goodput =
            |n: usize| sample.mean(&name, |run: &RunResult| run.flows[n].goodput_bps / 1e6);
        which.map(goodput).collect()
    }
}

fn sender(n: usize) -> String {
    format!("S{n}")
}

fn receiver(n: usize) -> String {
    format!("R{n}")
}

fn access_links(n: usize) -> [Hop; 2] {
    [(sender(n), Side::Server), (receiver(n), Side::Client)].map(|(name, side)| Hop {
        name,
        direction: Direction::Down,
        side,
        link: link(RateSpec::ConstantMbps(ACCESS_MBPS), ACCESS_S, QUEUE),
    })
}

/// How pictures call the two.
pub fn labels() -> [&'static str; 2] {
    [FlowControl::Classic, FlowControl::Adaptive].map(label)
}
