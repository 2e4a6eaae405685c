//! Fig. 12 (IMC: 16): client in the US, server in Korea.

use super::carriers::{ATT, LTE, korea_ms};
use super::downloads::{DRWA, Download, Phone, gain};
use crate::pictures::bars;
use tidegate_study::{Claim, Figure, Quantity};

/// Why a server in Korea makes little difference on HSPA+.
pub const TOO_NEAR: &str = "with the way to Korea that LTE's gain implies (167 ms) the RTT on HSPA+ is 243 ms, and \
     the report's own Table 3 has no gain up to 347 ms there; 23 % would need 555 ms. The two figures were \
     not taken over the same path, or not at the same rate";

/// The figure.
pub fn figure() -> Figure {
    let carriers = [(&ATT, 23.21), (&LTE, 30.36)];
    let downloads = |carrier| {
        [Phone::Untouched, DRWA]
            .map(|p| Download::new(carrier, p).rtt(carrier.near_ms() + korea_ms()))
    };
    let quantities = carriers.map(|(carrier, paper)| {
        let [untouched, drwa] = downloads(carrier).map(|d| d.name());
        let quantity = Quantity::new(
            format!("{}: throughput", carrier.name),
            "%",
            Claim::Near {
                paper,
                within: 8.0,
                neutral: 0.0,
            },
            move |sample| gain(sample, &drwa, &untouched),
        );
        // The distance to Korea is derived from LTE's gain.
        let is_lte = carrier.name == LTE.name;
        let quantity = quantity.input(is_lte);
        quantity.because(if is_lte { "" } else { TOO_NEAR })
    });
    Figure {
        id: "fig-12",
        title: "Server in Korea (IMC: Fig. 16)",
        claim: "DRWA's throughput is 23.21 % higher on HSPA+ and 30.36 % on LTE.",
        method: "The RTT to Korea is where Table 3 has LTE's gain: LTE's number is an input of the model, HSPA+'s \
                 a prediction.",
        cases: carriers
            .into_iter()
            .flat_map(|(c, _)| downloads(c))
            .map(Download::case)
            .collect(),
        quantities: quantities.into(),
        draw: Box::new(move |sample| {
            let groups = carriers.map(|(c, _)| c.name.to_owned());
            let series = ["untouched", "DRWA"];
            vec![bars("Throughput", "Mbit/s", &groups, &series, |g, s| {
                sample.goodput(&downloads(carriers[g].0)[s].name())
            })]
        }),
    }
}
