//! "Copa: Practical Delay-Based Congestion Control for the Internet" (Arun, Balakrishnan, NSDI 2018).

mod alone;
mod beside;
mod cells;
mod flows;
mod paths;

use anyhow::Result;
use tidegate_study::{Extent, Figure, Paper, Seeds, Selection};

/// The paper.
pub fn paper() -> Paper {
    Paper {
        id: "copa",
        title: "Copa, reproduced",
        introduction: "Senders of Copa with its default δ of 1/2 and its detector of others that fill the buffer. Numbers that the paper \
                       prints are those of its analysis (§3); of its evaluation it prints pictures, and what is held to account here \
                       is what it says of them in words. A packet is 1500 bytes; a queue's packets are its delay in the times that \
                       the link takes for one.",
        seeds: Seeds { full: 4, quick: 1 },
        measure: None,
        lab: Selection::NONE,
        figures,
    }
}

fn figures(extent: &Extent) -> Result<Vec<Figure>> {
    Ok(vec![
        alone::equilibrium(),
        alone::cycle(),
        flows::joining(),
        flows::round_trips(),
        beside::losses(),
        beside::cubic(),
        cells::figure(extent)?,
    ])
}
