//! "Receiver-Side Flow Control", chapter 5 of the thesis, and the measurements of chapter 4 that motivate it.

mod both;
mod carriers;
mod client;
mod experiments;
mod fig4_14;
mod fig4_15;
mod fig4_16;
mod fig5_04;
mod fig5_05;
mod fig5_06;
mod fig5_07;
mod fig5_08;
mod fig5_09;
mod fig5_10;
mod fig5_11;
mod pages;
mod proxy;
mod sets;
mod steps;

use tidegate_study::{Extent, Figure, Paper, Seeds, Selection};

/// The thesis's chapter.
pub fn paper() -> Paper {
    Paper {
        id: "rsfc",
        title: "RSFC, reproduced",
        introduction: carriers::INTRODUCTION,
        seeds: Seeds { full: 8, quick: 1 },
        measure: None,
        lab: Selection {
            figures: &[
                "fig-5.4", "fig-5.5", "fig-5.9", "fig-5.10", "fig-5.11", "client",
            ],
            method: "Simulator and kernel did the same runs over the same link with the same seed: two places of ISP A instead of \
                     twenty, one of them for the other senders, two constant uplinks instead of seven, and downloads that are \
                     waited for for 100 s instead of 300.",
        },
        figures: |extent| Ok(figures(extent)),
    }
}

fn figures(extent: &Extent) -> Vec<Figure> {
    vec![
        fig4_14::figure(extent),
        fig4_15::figure(extent),
        fig4_16::figure(extent),
        fig5_04::figure(extent),
        fig5_05::figure(extent),
        fig5_06::figure(extent),
        fig5_07::figure(extent),
        fig5_08::figure(extent),
        fig5_09::figure(extent),
        fig5_10::figure(extent),
        fig5_11::rtt(extent),
        fig5_11::downloads(extent),
        proxy::figure(extent),
        client::figure(extent),
        both::figure(extent),
    ]
}

#[cfg(test)]
mod tests;
