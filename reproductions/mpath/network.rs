//! Parts common to all cases of the chapter: links with short queues, a return path without a bottleneck, New Reno,
//! and one run that counts from its start.

use tidegate_scenario::{
    Direction, Hop, Hosts, Law, LinkSpec, QueueSpec, RateSpec, Run, Scenario, Side, Workload,
};
use tidegate_study::Case;

/// Names of the mPath transfer and of the benchmark's flow.
pub const MPATH: &str = "mPath";
/// See [`MPATH`].
pub const TCP: &str = "TCP";

/// The links.
pub struct Network {
    /// The last link towards the receiver.
    pub down: LinkSpec,
    /// The first link of the return path.
    pub up: LinkSpec,
    /// All others.
    pub hops: Vec<Hop>,
}

impl Network {
    /// A run of that many seconds over it, with those curves.
    pub fn case(
        self,
        name: impl Into<String>,
        duration_s: f64,
        curves: Vec<&'static str>,
        workloads: Vec<Workload>,
    ) -> Case {
        let name = name.into();
        let links = [self.down, self.up];
        let run = Run::new(name.clone(), Law::None);
        let scenario = Scenario {
            hops: self.hops,
            hosts: Hosts {
                congestion_control: "reno".into(),
                ..Hosts::default()
            },
            ..Scenario::new(name, duration_s, links, workloads, vec![run])
        };
        Case {
            curves,
            ..Case::new(scenario)
        }
    }
}

/// A link with a queue of `packets` packets.
pub fn link(mbps: f64, delay_ms: f64, packets: usize) -> LinkSpec {
    LinkSpec {
        queue: QueueSpec {
            packets: Some(packets),
            ..QueueSpec::default()
        },
        ..LinkSpec::new(RateSpec::ConstantMbps(mbps), delay_ms)
    }
}

/// A link that never is the bottleneck.
pub fn wide(delay_ms: f64) -> LinkSpec {
    LinkSpec::new(RateSpec::ConstantMbps(1000.0), delay_ms)
}

/// A link in the direction of the data, before or behind `down`.
pub fn hop(name: impl Into<String>, side: Side, link: LinkSpec) -> Hop {
    Hop {
        name: name.into(),
        direction: Direction::Down,
        side,
        link,
    }
}

/// The workload over those links.
pub fn over(links: &[&str], workload: Workload) -> Workload {
    Workload {
        links: Some(links.iter().map(|&link| link.into()).collect()),
        ..workload
    }
}
