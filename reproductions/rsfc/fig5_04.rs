//! Fig. 5.4: RTT and throughput of uploads.

use super::carriers;
use super::experiments::{median, ratios, share};
use super::sets::{Flows, cases};
use crate::pictures::cumulative;
use tidegate_report::plot::{Axis, Scale};
use tidegate_study::{Claim, Extent, Figure, Quantity, Sample};

/// "Close to 1 s".
const CLOSE_S: f64 = 1.25;

/// Why some uploads with RSFC take longer.
const BOUND: &str = "a segment takes 0.15 to 0.24 s on the slower half of the uplinks, so RTTmin is 0.26 to 0.35 s and the law's own \
     bound of 4 RTTmin above 1 s. On a constant rate the RTT is three of them; where the radio fades, and RTTmin is \
     of a better moment, more";

/// The figure.
pub fn figure(extent: &Extent) -> Figure {
    let flows = Flows::at(&carriers::A, extent);
    Figure {
        id: "fig-5.4",
        title: "RTT and throughput of CUBIC's and RSFC's uploads",
        claim: "TCP CUBIC's RTT is greater than 6 s 50 % of the time, with RSFC it is close to 1 s more than 90 % of the \
                time; the upload throughput is almost identical.",
        method: "The RTT is an upload's mean smoothed RTT at the sender. \"Close to 1 s\" is below 1.25 s.",
        cases: cases([&flows.u0, &flows.rsfc]),
        quantities: quantities(&flows),
        draw: Box::new(move |sample| {
            let series = [("CUBIC", &flows.u0), ("RSFC", &flows.rsfc)];
            vec![
                cumulative(
                    "RTT",
                    Axis::new("s", Scale::FromZero),
                    series
                        .map(|(label, set)| (label.into(), set.rtt_s(sample, "upload")))
                        .into(),
                ),
                cumulative(
                    "Throughput",
                    Axis::new("kbit/s", Scale::FromZero),
                    series
                        .map(|(label, set)| (label.into(), set.kbps(sample, "upload")))
                        .into(),
                ),
            ]
        }),
    }
}

fn quantities(flows: &Flows) -> Vec<Quantity> {
    let quantity = |name: &str, unit, claim, read: fn(&Flows, &Sample) -> f64| {
        let flows = flows.clone();
        Quantity::new(name, unit, claim, move |sample| read(&flows, sample))
    };
    vec![
        quantity(
            "CUBIC: uploads with an RTT above 6 s",
            "%",
            Claim::Near {
                paper: 50.0,
                within: 15.0,
                neutral: 0.0,
            },
            |flows, sample| share(&flows.u0.rtt_s(sample, "upload"), |s| s > 6.0),
        )
        .input(true),
        quantity(
            "RSFC: uploads with an RTT close to 1 s",
            "%",
            Claim::at_least(90.0, 0.0),
            |flows, sample| share(&flows.rsfc.rtt_s(sample, "upload"), |s| s < CLOSE_S),
        )
        .derived("it says \"close to 1 s\"; below 1.25 s is our bound")
        .because(BOUND),
        quantity(
            "slower half of the uplinks: RTT with RSFC ÷ CUBIC's, median",
            "",
            Claim::at_most(1.0 / 6.0, 1.0),
            |flows, sample| {
                let shares = ratios(
                    &flows.rsfc.rtt_s(sample, "upload"),
                    &flows.u0.rtt_s(sample, "upload"),
                );
                // Places are in the order of their uplinks.
                median(shares[..shares.len() / 2].to_vec())
            },
        )
        .derived("above 6 s becomes close to 1 s: 1 ÷ 6")
        .because(BOUND),
        quantity(
            "throughput with RSFC ÷ CUBIC's, median",
            "",
            Claim::same(1.0, 0.05),
            |flows, sample| {
                median(ratios(
                    &flows.rsfc.kbps(sample, "upload"),
                    &flows.u0.kbps(sample, "upload"),
                ))
            },
        ),
    ]
}
