//! Fig. 5.10: RSFC while the network's delay falls and rises.

use super::experiments::Steered;
use super::steps::{
    AFTER, BEFORE, FACTORS, METHOD, SMALL, UPLINK_KBPS, pictures, steered, throughput,
};
use tidegate_study::{Claim, Extent, Figure, Quantity};

/// Why the update of RDmin and RTTmin does not happen.
const SWINGS: &str = "the one-way delay rises by 168 ms, less than T, which is 216 ms by then, so the law stays in case (i) of section \
     5.1.3: slow and fast alternate within a round trip of 480 ms. Rho is measured over a round trip, anew in each state, so \
     no cycle has two values to compare, nothing is taken for an increase, and RDmin stays. Measured over RTTmin instead, \
     through all states, it is 0.98; but then the turns of three flows that share a full link pass for increases, and they \
     keep a queue of 250 ms over a path of 40, where the bound is 120";

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
            )
            .because(SWINGS),
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
