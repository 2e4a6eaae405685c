//! Results that the papers of DCTCP, Prague and DualPI2 print: senders and a queue that a network could have if
//! carriers cooperated.

mod dctcp;
mod dualq;
mod network;
mod prague;

use tidegate_study::{Extent, Figure, Paper, Seeds, Selection};

/// The papers.
pub fn paper() -> Paper {
    Paper {
        id: "l4s",
        title: "DCTCP, Prague and DualPI2",
        introduction: "Senders that answer each mark a little, and queues that mark early: \"Data Center TCP\" (Alizadeh et al., SIGCOMM \
                       2010), \"Dual Queue Coupled AQM: Deployable Very Low Queuing Delay for All\" (De Schepper et al., arXiv \
                       2209.01078, 2022) with RFC 9332, and the Prague draft (draft-briscoe-iccrg-prague-congestion-control). Delays \
                       are those of every packet in the bottleneck's queue, goodput is payload.",
        seeds: Seeds { full: 4, quick: 1 },
        measure: None,
        lab: Selection::NONE,
        figures,
    }
}

fn figures(extent: &Extent) -> anyhow::Result<Vec<Figure>> {
    Ok(vec![
        dctcp::figure(),
        dualq::delays(extent),
        dualq::rates(extent),
        prague::figure(extent),
    ])
}
