//! Prague's rate as a function of the share of marks.

use super::network::{Network, PACKET_BYTES, flow};
use crate::pictures::lines;
use tidegate_reproduce::{Claim, Extent, Figure, Quantity, Sample};
use tidegate_scenario::{QueuePolicy, QueueSpec};

/// Mbit/s of the link, which is the flow's rate; with `--quick` the first two.
const MBPS: [f64; 4] = [10.0, 20.0, 40.0, 80.0];

/// The round trip: less than the 25 ms of a virtual one.
const RTT_MS: f64 = 10.0;

const DURATION_S: f64 = 120.0;

/// The figure.
pub fn figure(extent: &Extent) -> Figure {
    let rates: Vec<f64> = match extent.quick {
        true => MBPS[..2].into(),
        false => MBPS.into(),
    };
    let case = |&mbps: &f64| {
        let network = Network {
            mbps,
            rtt_ms: RTT_MS,
            queue: QueueSpec {
                packets: Some(10_000),
                policy: QueuePolicy::DualPi2,
                ..QueueSpec::default()
            },
            hops: Vec::new(),
        };
        network.case(name(mbps), DURATION_S, vec![flow("prague", "prague")])
    };
    let quantity = |&mbps: &f64| {
        let paper = printed(mbps);
        let claim = Claim::Near {
            paper,
            within: 0.2 * paper,
            neutral: 0.0,
        };
        let what = format!("packets marked at {mbps} Mbit/s");
        Quantity::new(what, "%", claim, move |s| marked(s, mbps))
    };
    let drawn = rates.clone();
    Figure {
        id: "prague-rate",
        title: "Prague's rate and the share of marks",
        claim: "Up to round trips of 25 ms \"the resulting rate equation is very close to r [Mbps] = 1/p − 1\", so that a flow of r Mbit/s \
                needs p = 1/(r + 1) of its packets marked (the L4S team's TCP Prague, `tcp_prague.c`, at its head).",
        method: "A flow alone over DualPI2: its rate is the link's, and the share of marks is what the queue has to give it for that.",
        cases: rates.iter().map(case).collect(),
        quantities: rates.iter().map(quantity).collect(),
        draw: Box::new(move |sample| {
            vec![lines(
                "Packets marked",
                ("Mbit/s", &drawn),
                "%",
                &["ours", "1/(r + 1)"],
                |nth, which| match which {
                    0 => marked(sample, drawn[nth]),
                    _ => printed(drawn[nth]),
                },
            )]
        }),
    }
}

fn name(mbps: f64) -> String {
    format!("Prague alone at {mbps} Mbit/s")
}

/// p in percent, as it is printed.
fn printed(mbps: f64) -> f64 {
    100.0 / (mbps + 1.0)
}

/// Of a whole run's packets those that were marked, in percent.
fn marked(sample: &Sample, mbps: f64) -> f64 {
    sample.mean(&name(mbps), |run| {
        let packets = run.link.delivered_bps * DURATION_S / (8.0 * PACKET_BYTES);
        100.0 * run.link.marks as f64 / packets
    })
}
