//! Fig. 13 of the DCTCP paper: two flows into one port of a switch.

use super::network::{Network, PACKET_BYTES, flow};
use crate::pictures::bars;
use tidegate_scenario::{Hop, LinkSpec, QueuePolicy, QueueSpec, RateSpec, Side, Workload};
use tidegate_study::{Claim, Figure, Quantity, Sample};

/// Mbit/s of every port, and the round trip without queues (§4.1).
const PORT_MBPS: f64 = 1000.0;
const RTT_MS: f64 = 0.1;

/// Queue in packets from which on the switch marks (§3.4 and §4.1, at 1 Gbit/s).
const K: f64 = 20.0;

/// Flows, each from a port of its own.
const FLOWS: usize = 2;

/// Packets that a port can take of the switch's memory: 700 KB (Fig. 1).
const MOST_PACKETS: usize = 466;

const DURATION_S: f64 = 4.0;

/// The two senders.
const SENDERS: [(&str, &str); 2] = [("DCTCP", "dctcp"), ("TCP", "reno")];

/// The figure.
pub fn figure() -> Figure {
    let cases = SENDERS.map(|(name, sender)| {
        let network = Network {
            mbps: PORT_MBPS,
            rtt_ms: RTT_MS,
            queue: queue(sender == "dctcp"),
            hops: (0..FLOWS).map(port).collect(),
        };
        let flows = (0..FLOWS).map(|nth| Workload {
            links: Some(vec![port_name(nth), "down".into(), "up".into()]),
            ..flow(&format!("flow {nth}"), sender)
        });
        network.case(name.into(), DURATION_S, flows.collect())
    });
    let within = |paper: f64, share: f64| Claim::Near {
        paper,
        within: paper * share,
        neutral: 0.0,
    };
    let throughput = |case: &'static str| {
        let name = format!("{case}: throughput");
        Quantity::new(name, "Gbit/s", within(0.95, 0.05), move |s| {
            s.goodput(case) / 1e3
        })
    };
    Figure {
        id: "dctcp-13",
        title: "Two flows into one port at 1 Gbit/s",
        claim: "\"DCTCP's queue length is stable around 20 packets (i.e., equal to K + n, as predicted in § 3.3)\"; TCP's is ten times as \
                long and varies widely; \"both achieve the maximum throughput of 0.95Gbps\" (§4.1).",
        method: "A step of 20 packets is RED whose thresholds are both 20 and whose average is the queue itself, as there. Each sender has \
                 a port of its own; hosts and their interrupts take no time. TCP is Reno; the switch's dynamic buffer is one of 700 KB \
                 (Fig. 1). The queue is that which packets meet: their delay in it, in packets of 1500 bytes.",
        cases: cases.into(),
        quantities: vec![
            Quantity::new(
                "DCTCP: the queue's median",
                "packets",
                within(K + FLOWS as f64, 0.2),
                |s| packets(s, "DCTCP", 0.5),
            ),
            throughput("DCTCP"),
            throughput("TCP"),
            Quantity::new("TCP's queue ÷ DCTCP's", "", within(10.0, 0.5), |s| {
                packets(s, "TCP", 0.5) / packets(s, "DCTCP", 0.5)
            })
            .because(
                "no host's jitter stands between ports of one speed: a flow that has filled the buffer keeps it full, loses nothing \
                 and shuts the other out, where the testbed's took turns",
            ),
        ],
        draw: Box::new(|sample| {
            let quantiles = ["median".to_owned(), "95th percentile".to_owned()];
            let series = SENDERS.map(|(name, _)| name);
            vec![bars(
                "Queue at the port",
                "packets",
                &quantiles,
                &series,
                |quantile, sender| packets(sample, series[sender], [0.5, 0.95][quantile]),
            )]
        }),
    }
}

/// The port's queue, with or without a marking step.
fn queue(marks: bool) -> QueueSpec {
    let tail = QueueSpec {
        packets: Some(MOST_PACKETS),
        ..QueueSpec::default()
    };
    match marks {
        false => tail,
        true => QueueSpec {
            policy: QueuePolicy::Red,
            red_min_packets: Some(K),
            red_max_packets: Some(K + 1e-3),
            red_max_probability: 1.0,
            red_weight: 1.0,
            ecn: true,
            ..tail
        },
    }
}

fn port_name(nth: usize) -> String {
    format!("port {nth}")
}

/// A sender's own port.
fn port(nth: usize) -> Hop {
    Hop {
        name: port_name(nth),
        direction: tidegate_scenario::Direction::Down,
        side: Side::Server,
        link: LinkSpec {
            queue: QueueSpec {
                packets: Some(10_000),
                ..QueueSpec::default()
            },
            ..LinkSpec::new(RateSpec::ConstantMbps(PORT_MBPS), 0.0)
        },
    }
}

/// A quantile of the queue that packets find on arrival: the median, or the 95th percentile.
fn packets(sample: &Sample, case: &str, quantile: f64) -> f64 {
    let ms = sample.mean(case, |run| match quantile < 0.9 {
        true => run.link.queue_delay_ms.p50,
        false => run.link.queue_delay_ms.p95,
    });
    ms * PORT_MBPS * 1e3 / (PACKET_BYTES * 8.0)
}
