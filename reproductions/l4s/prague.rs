//! Prague's rate as a function of the share of marks.

use super::network::{Network, PACKET_BYTES, flow, of_flow};
use crate::pictures::lines;
use tidegate_scenario::{QueuePolicy, QueueSpec};
use tidegate_study::{Claim, Extent, Figure, Quantity, Sample};

/// Mbit/s of the link, which Prague shares with CUBIC; with `--quick` the first two.
const MBPS: [f64; 3] = [40.0, 120.0, 200.0];

/// The round trip, and the smallest virtual one, in milliseconds.
const RTT_MS: f64 = 50.0;
const VIRTUAL_RTT_MS: f64 = 25.0;

const DURATION_S: f64 = 120.0;

/// Payload of a full packet.
const PAYLOAD_BYTES: f64 = 1448.0;

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
        let flows = vec![flow("prague", "prague"), flow("cubic", "cubic")];
        network.case(name(mbps), DURATION_S, flows)
    };
    let quantity = |&mbps: &f64| {
        let claim = Claim::same(1.0, 0.2);
        let what = format!("marks ÷ those of the equation, {mbps} Mbit/s");
        Quantity::new(what, "", claim, move |s| marked(s, mbps) / printed(s, mbps)).because(
            "a reduction ends with its round trip, and the next begins with the next mark: of two to three marks in a round trip that takes a \
             third to a half of one more",
        )
    };
    let drawn = rates.clone();
    Figure {
        id: "prague-rate",
        title: "Prague's rate and the share of marks",
        claim: "\"The resulting rate equation is very close to r [Mbps] = 1/p − 1\" up to 25 ms, times 25 ms / RTT above (the L4S team's TCP \
                Prague, `tcp_prague.c`, at its head): a flow of r Mbit/s needs p = 1/(1 + r RTT / 25 ms) of its packets marked.",
        method: "Beside CUBIC over DualPI2, so that most marks are the coupling's, spread at random, as the equation has them. The link marks \
                 nothing but Prague's packets. Its rate is that of its IP packets.",
        cases: rates.iter().map(case).collect(),
        quantities: rates.iter().map(quantity).collect(),
        draw: Box::new(move |sample| {
            vec![lines(
                "Packets marked",
                ("Mbit/s", &drawn),
                "%",
                &["ours", "the equation's"],
                |nth, which| match which {
                    0 => 100.0 * marked(sample, drawn[nth]),
                    _ => 100.0 * printed(sample, drawn[nth]),
                },
            )]
        }),
    }
}

fn name(mbps: f64) -> String {
    format!("Prague beside CUBIC at {mbps} Mbit/s")
}

/// Prague's rate in Mbit/s, headers included, and its mean round trip in ms.
fn prague(sample: &Sample, mbps: f64) -> [f64; 2] {
    let [goodput, rtt] = of_flow(sample, &name(mbps), "prague");
    [goodput * PACKET_BYTES / PAYLOAD_BYTES, rtt]
}

/// The share of marks by the paper's equation at its rate.
fn printed(sample: &Sample, mbps: f64) -> f64 {
    let [rate, rtt] = prague(sample, mbps);
    1.0 / (1.0 + rate * rtt / VIRTUAL_RTT_MS)
}

/// The share of Prague's packets of the whole run that were marked.
fn marked(sample: &Sample, mbps: f64) -> f64 {
    let packets = prague(sample, mbps)[0] * 1e6 * DURATION_S / (8.0 * PACKET_BYTES);
    sample.mean(&name(mbps), |run| run.link.marks as f64) / packets
}
