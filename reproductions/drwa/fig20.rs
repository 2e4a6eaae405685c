//! Fig. 20 of the IMC paper: shaping at the sender instead.

use super::carriers::ATT;
use super::downloads::{Download, Phone};
use crate::pictures::bars;
use tidegate_study::{Claim, Figure, Quantity, Sample};

/// Rates of the shaper, in Mbit/s.
const RATES: [f64; 6] = [8.0, 6.0, 4.0, 2.0, 0.8, 0.6];

/// The figure.
pub fn figure() -> Figure {
    let names = RATES.map(|mbps| shaped(mbps).name());
    let [eight, _, four, two, _, _] = names.clone();
    let (best, halved, lower) = (
        four.clone(),
        (two.clone(), four.clone()),
        (four, eight.clone()),
    );
    let lowest = (two, eight.clone());
    Figure {
        id: "fig-20",
        title: "Shaping at the sender (IMC)",
        claim: "A lower rate means a lower RTT and less throughput; 4 Mbit/s balances.",
        method: "The RTT is without the wait in the shaper, behind which the server's tcpdump looks on: base RTT plus \
                 queueing delay of the cellular link.",
        cases: RATES.map(|mbps| shaped(mbps).case()).into(),
        quantities: vec![
            Quantity::new(
                "throughput at 4 Mbit/s ÷ at 8",
                "",
                Claim::at_least(0.9, 0.7),
                move |sample| sample.goodput(&best) / sample.goodput(&eight),
            ),
            Quantity::new(
                "throughput at 2 Mbit/s ÷ at 4",
                "",
                Claim::at_most(0.8, 1.0),
                move |sample| sample.goodput(&halved.0) / sample.goodput(&halved.1),
            ),
            Quantity::new(
                "RTT at 2 Mbit/s ÷ at 8",
                "",
                Claim::at_most(0.9, 1.0),
                move |sample| rtt(sample, &lowest.0) / rtt(sample, &lowest.1),
            ),
            Quantity::new(
                "RTT at 4 Mbit/s ÷ at 8",
                "",
                Claim::at_most(0.9, 1.0),
                move |sample| rtt(sample, &lower.0) / rtt(sample, &lower.1),
            )
            .because(
                "the capacity that Table 3 implies is 3.5 Mbit/s: a shaper of 4 is not noticed. Fig. 20, \
                 whose axis goes to 5 Mbit/s, was taken at a faster hour",
            ),
        ],
        draw: Box::new(move |sample| {
            let groups = RATES.map(|mbps| format!("{mbps}"));
            vec![
                bars(
                    "Throughput over the shaped rate, Mbit/s",
                    "Mbit/s",
                    &groups,
                    &["throughput"],
                    |g, _| sample.goodput(&names[g]),
                ),
                bars(
                    "RTT over the shaped rate, Mbit/s",
                    "ms",
                    &groups,
                    &["RTT"],
                    |g, _| rtt(sample, &names[g]),
                ),
            ]
        }),
    }
}

/// Base RTT and mean queueing delay on the cellular link, in ms.
fn rtt(sample: &Sample, case: &str) -> f64 {
    ATT.near_ms() + sample.mean(case, |run| run.link.queue_delay_ms.mean)
}

fn shaped(mbps: f64) -> Download {
    Download::new(&ATT, Phone::Untouched).shaped(mbps)
}
