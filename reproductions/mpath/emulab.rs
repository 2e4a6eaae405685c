//! The thesis's Emulab topologies (Figs. 3.6, 3.9 and 3.12), and numbers read from their runs.

use super::network::{self, MPATH, Network, over};
use crate::means::mean;
use crate::spans::Span;
use tidegate_report::colour::Pen;
use tidegate_report::plot::{self, Axis, Curve, Mark, Scale};
use tidegate_scenario::{
    Direction, Hop, LinkSpec, MpathSpec, ProxySpec, Side, Workload, WorkloadKind,
};
use tidegate_study::{Case, Extent, Sample};

/// The runs, in words.
pub const INTRODUCTION: &str = "Chapter 3 of the thesis, on its Emulab topologies: an access link of 20 Mbit/s at the sender, a direct path \
     over a core link of 10 Mbit/s, and ways through proxies over the same core link, one that is larger than the third's and one of \
     5 Mbit/s. Round trips, queues, the second core link's rate and where the access link lies are not in the text. The second core link has \
     10 Mbit/s: more than 5, enough with one TCP flow of 6 Mbit/s on it and not with another of 8. TCP's 7.21 Mbit/s leave hardly any \
     queue; of the round trips and queues tried with which TCP alone comes within a tenth of its numbers, 240 ms and 15 packets are \
     those with which mPath, too, comes near most of its own. TCP is New Reno, as there; goodput is payload.";

/// Round trip without queues in ms, the same on every path.
const ROUND_TRIP_MS: f64 = 240.0;

/// Packets in front of every link.
const QUEUE: usize = 15;

/// The access link's share of the one-way delay.
const ACCESS_SHARE: f64 = 0.2;

/// Rates in Mbit/s: the access link, the direct path's core link, proxy 2's and proxy 3's.
pub const ACCESS: f64 = 20.0;
/// See [`ACCESS`].
pub const CORE: f64 = 10.0;
const LARGER: f64 = 10.0;
const SMALLER: f64 = 5.0;

/// The three proxies of Fig. 3.6 and the links on the way through them.
const PROXIES: [(&str, &str); 3] = [
    ("proxy 1", "core"),
    ("proxy 2", "larger core"),
    ("proxy 3", "smaller core"),
];

/// Links in the direction of the data behind the access link, which is the scenario's `down`: the
/// sender is the scenario's server.
pub fn cores(mbps: f64) -> Vec<Hop> {
    vec![
        core("core", mbps),
        core("larger core", LARGER),
        core("smaller core", SMALLER),
    ]
}

/// A core link.
pub fn core(name: &str, mbps: f64) -> Hop {
    network::hop(name, Side::Client, link(mbps, 1.0 - ACCESS_SHARE))
}

/// The access link of another host.
pub fn access(name: &str, mbps: f64) -> Hop {
    network::hop(name, Side::Server, link(mbps, ACCESS_SHARE))
}

/// A link with that share of the one-way delay.
fn link(mbps: f64, share: f64) -> LinkSpec {
    network::link(mbps, ROUND_TRIP_MS / 2.0 * share, QUEUE)
}

/// A run over those core links and an access link of `access` Mbit/s, with a return path that never is the bottleneck.
pub fn case(
    name: &str,
    duration_s: f64,
    access_mbps: f64,
    hops: Vec<Hop>,
    workloads: Vec<Workload>,
) -> Case {
    let network = Network {
        down: link(access_mbps, ACCESS_SHARE),
        up: network::wide(ROUND_TRIP_MS / 2.0),
        hops,
    };
    let curves = vec!["path_packets", "path_bps", "cwnd_packets", "goodput_bps"];
    network.case(name, duration_s, curves, workloads)
}

/// The direct path, there and back.
const DIRECT: [&str; 3] = ["core", "down", "up"];

/// An mPath transfer with the first, second, third of the proxies.
pub fn mpath(proxies: &[usize]) -> Workload {
    let ways = proxies.iter().map(|&n| {
        let (name, core) = PROXIES[n - 1];
        ProxySpec {
            name: name.into(),
            links: vec!["down".into(), core.into()],
        }
    });
    let transfer = MpathSpec {
        proxies: ways.collect(),
        ..MpathSpec::default()
    };
    over(&DIRECT, Workload::new(MPATH, WorkloadKind::Mpath(transfer)))
}

/// A TCP flow beside it, over the direct path.
pub fn tcp(name: &str) -> Workload {
    over(
        &DIRECT,
        crate::workloads::bulk(name, Direction::Down, None, 1),
    )
}

/// Length of one of the thesis's minutes: shorter on the kernel, which runs in real time.
#[derive(Clone, Copy)]
pub struct Pace {
    seconds: f64,
}

impl Pace {
    /// Twelve seconds on the kernel.
    pub fn new(extent: &Extent) -> Self {
        Self {
            seconds: if extent.lab { 12.0 } else { 60.0 },
        }
    }

    /// So many minutes in seconds.
    pub fn seconds(self, minutes: f64) -> f64 {
        minutes * self.seconds
    }

    /// Those minutes in seconds.
    pub fn minutes(self, from: f64, to: f64) -> Span {
        Span(self.seconds(from), self.seconds(to))
    }

    /// The workload in those minutes.
    pub fn within(self, (from, to): (f64, f64), workload: Workload) -> Workload {
        Workload {
            start_s: self.seconds(from),
            stop_s: Some(self.seconds(to)),
            ..workload
        }
    }
}

/// The mean of a flow's curve over a span; 0 if there is no point.
pub fn average(sample: &Sample, case: &str, flow: &str, quantity: &str, span: Span) -> f64 {
    let bins = span.length_s() / crate::spans::BIN_S;
    let curves = sample.flow_curves(case, flow, quantity);
    mean(curves.map(|curve| span.values(&curve).sum::<f64>() / bins))
}

/// A flow's goodput in Mbit/s.
pub fn goodput(sample: &Sample, case: &str, flow: &str, span: Span) -> f64 {
    average(sample, case, flow, "goodput_bps", span) / 1e6
}

/// Delivery rate of one of the transfer's paths, in Mbit/s: `direct`, `proxy 1` …
pub fn delivered(sample: &Sample, case: &str, path: &str, span: Span) -> f64 {
    average(sample, case, &path_name(path), "path_bps", span) / 1e6
}

/// The name of a path's curves.
pub fn path_name(path: &str) -> String {
    format!("{MPATH} {path}")
}

/// Curves of the first seed over minutes, each a mean of ten seconds.
pub fn picture(
    sample: &Sample,
    title: &str,
    unit: &str,
    scale: f64,
    curves: &[(&str, String, String, &str)],
) -> plot::Figure {
    let curves = curves
        .iter()
        .enumerate()
        .map(|(n, (label, case, flow, quantity))| {
            let curve = sample
                .flow_curves(case, flow, quantity)
                .next()
                .unwrap_or_default();
            Curve::new(*label, Pen::nth(n), Mark::Line, smooth(&curve, scale))
        });
    plot::Figure {
        title: title.into(),
        x: Axis::new("time, min", Scale::FromZero),
        y: Axis::new(unit, Scale::FromZero),
        curves: curves.collect(),
        size: plot::Figure::WIDE,
    }
}

fn smooth(curve: &[(f64, f64)], scale: f64) -> Vec<(f64, f64)> {
    const POINTS: usize = 100;
    let point = |points: &[(f64, f64)]| {
        let values = points.iter().map(|point| point.1 * scale);
        (points[0].0 / 60.0, mean(values))
    };
    curve.chunks(POINTS).map(point).collect()
}
