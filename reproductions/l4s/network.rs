//! Simple networks: a bottleneck, a return path that never is one, and senders.

use tidegate_scenario::{Hop, LinkSpec, QueueSpec, RateSpec, Run, Scenario, Workload};
use tidegate_study::{Case, Sample};

/// Bytes of a full IP packet.
pub const PACKET_BYTES: f64 = 1500.0;

/// Seconds at the start that do not count.
pub const WARMUP_S: f64 = 5.0;

/// A bottleneck with its queue and the senders' links.
pub struct Network {
    /// Mbit/s of the bottleneck.
    pub mbps: f64,
    /// The round trip without queues.
    pub rtt_ms: f64,
    /// The bottleneck's queue.
    pub queue: QueueSpec,
    /// Links of the senders' own.
    pub hops: Vec<Hop>,
}

impl Network {
    /// A run of `duration_s` seconds over it.
    pub fn case(self, name: String, duration_s: f64, workloads: Vec<Workload>) -> Case {
        let delay_ms = self.rtt_ms / 2.0;
        let link = |queue| LinkSpec {
            queue,
            ..LinkSpec::new(RateSpec::ConstantMbps(self.mbps), delay_ms)
        };
        let links = [link(self.queue), link(QueueSpec::default())];
        let run = Run::new(name.clone(), tidegate_scenario::Law::None);
        Case::new(Scenario {
            warmup_s: WARMUP_S.min(duration_s / 4.0),
            hops: self.hops,
            ..Scenario::new(name, duration_s, links, workloads, vec![run])
        })
    }
}

/// A download for the whole run, with that congestion control.
pub fn flow(name: &str, congestion_control: &str) -> Workload {
    Workload {
        name: name.into(),
        congestion_control: Some(congestion_control.into()),
        ..crate::workloads::download()
    }
}

/// Goodput of that flow in Mbit/s, and its mean round trip in ms.
pub fn of_flow(sample: &Sample, case: &str, name: &str) -> [f64; 2] {
    let find = |read: fn(&tidegate_scenario::FlowResult) -> f64| {
        sample.mean(case, |run| {
            let flow = run.flows.iter().find(|flow| flow.name == name);
            read(flow.unwrap_or_else(|| panic!("{case} has no flow {name}")))
        })
    };
    [
        find(|flow| flow.goodput_bps / 1e6),
        find(|flow| flow.rtt_ms.mean),
    ]
}
