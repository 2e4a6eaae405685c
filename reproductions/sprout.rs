//! "Stochastic Forecasts Achieve High Throughput and Low Delay over Cellular Networks" (Winstein, Sivaraman, Balakrishnan,
//! NSDI 2013).

mod links;
mod loss;
mod table;

use anyhow::Result;
use tidegate_study::{Extent, Figure, Paper, Seeds, Selection};

/// The paper.
pub fn paper() -> Paper {
    Paper {
        id: "sprout",
        title: "Sprout, reproduced",
        introduction: "Sprout and Sprout-EWMA in both directions at once over links as the paper's emulator makes them: a packet waits 20 ms, \
                       then for an opportunity to leave, in a queue without a bound. The first minute does not count. Delay is the age \
                       of the newest packet that has arrived, of which the 95th percentile over time is taken; self-inflicted is what \
                       is beyond that of a sender that knows the future. The paper's recordings are not part of this: with \
                       `--traces FOLDER` those that are found there by their names in Mahimahi are run whole, without it generated \
                       cells.",
        seeds: Seeds { full: 4, quick: 1 },
        measure: None,
        lab: Selection::NONE,
        figures,
    }
}

fn figures(extent: &Extent) -> Result<Vec<Figure>> {
    let links = links::all(extent)?;
    let mut figures = vec![table::averages(&links), loss::figure(extent)?];
    figures.extend(table::links(&links));
    Ok(figures)
}
