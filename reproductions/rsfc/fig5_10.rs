//! Fig. 5.10: RSFC while the network's delay falls and rises.

use super::experiments::Steered;
use super::steps::{
    AFTER, BEFORE, FACTORS, METHOD, SMALL, UPLINK_KBPS, pictures, steered, throughput,
};
use tidegate_reproduce::{Claim, Extent, Figure, Quantity};

/// The figure.
pub fn figure(_extent: &Extent) -> Figure {
    let quantities = FACTORS.into_iter().flat_map(|factor| {
        let name = steered(factor, Steered::Rsfc).name();
        let small = name.clone();
        [
            Quantity::new(
                format!("delay {factor} times as long: throughput after the rise ÷ at the start"),
                "",
                Claim::at_least(0.95, 0.5),
                move |sample| throughput(sample, &name, AFTER) / throughput(sample, &name, BEFORE),
            ),
            Quantity::new(
                format!("delay {factor} times as long: throughput while it is small ÷ uplink"),
                "",
                Claim::at_least(0.95, 0.5),
                move |sample| throughput(sample, &small, SMALL) / (UPLINK_KBPS / 1e3),
            ),
        ]
    });
    Figure {
        id: "fig-5.10",
        title: "An upload while the network's delay falls and rises",
        claim: "The delay falls at 5 s and rises at 20 s. With the update of RDmin and RTTmin the link is used as before.",
        method: METHOD,
        cases: FACTORS
            .into_iter()
            .flat_map(|factor| {
                [Steered::Untouched, Steered::Rsfc].map(|by| steered(factor, by).case())
            })
            .collect(),
        quantities: quantities.collect(),
        draw: Box::new(|sample| pictures(sample, Steered::Rsfc)),
    }
}
