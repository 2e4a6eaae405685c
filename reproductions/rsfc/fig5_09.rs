//! Fig. 5.9: the same without the update of RDmin and RTTmin.

use super::experiments::Steered;
use super::steps::{AFTER, BEFORE, FACTORS, METHOD, UPLINK_KBPS, pictures, steered, throughput};
use tidegate_study::{Claim, Extent, Figure, Quantity};

/// Limit for "lower" that stands out from noise.
const LOWER: f64 = 0.95;

/// Why the effect is small.
const SMALL_RISE: &str = "the one-way delay rises by 56 ms, a quarter of T; that the slow state's growth makes up for it is a guess, not tried";
const NO_UPDATE: &str = "there is no update to compare with: it does not come, see Fig. 5.10";

/// The figure.
pub fn figure(_extent: &Extent) -> Figure {
    let quantities = FACTORS.into_iter().flat_map(|factor| {
        let name = steered(factor, Steered::RsfcWithoutUpdate).name();
        let updated = steered(factor, Steered::Rsfc).name();
        let [start, after, against] = [name.clone(), name.clone(), name];
        [
            Quantity::new(
                format!("delay {factor} times as long: throughput at the start ÷ uplink"),
                "",
                Claim::at_least(0.95, 0.5),
                move |sample| throughput(sample, &start, BEFORE) / (UPLINK_KBPS / 1e3),
            ),
            Quantity::new(
                format!("delay {factor} times as long: throughput after the rise ÷ at the start"),
                "",
                Claim::at_most(LOWER, 1.0),
                move |sample| {
                    throughput(sample, &after, AFTER) / throughput(sample, &after, BEFORE)
                },
            )
            .because(SMALL_RISE),
            Quantity::new(
                format!(
                    "delay {factor} times as long: throughput after the rise ÷ with the update"
                ),
                "",
                Claim::at_most(LOWER, 1.0),
                move |sample| {
                    throughput(sample, &against, AFTER) / throughput(sample, &updated, AFTER)
                },
            )
            .because(if factor == FACTORS[0] {
                SMALL_RISE
            } else {
                NO_UPDATE
            }),
        ]
    });
    Figure {
        id: "fig-5.9",
        title: "The same upload without the update of RDmin and RTTmin",
        claim: "At the start the uplink is fully utilised; after 25 s the throughput is lower than during the first 10 s, since the \
                delays decreased and increased, but their estimates were not updated. The update is necessary.",
        method: METHOD,
        cases: FACTORS
            .into_iter()
            .flat_map(|factor| {
                [Steered::RsfcWithoutUpdate, Steered::Rsfc].map(|by| steered(factor, by).case())
            })
            .collect(),
        quantities: quantities.collect(),
        draw: Box::new(|sample| pictures(sample, Steered::RsfcWithoutUpdate)),
    }
}
