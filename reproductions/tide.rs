//! What `tide` has to show: every link there is, against DRWA, and on the plane of throughput and delay.

mod against;
mod beside;
mod contenders;
mod frontier;
mod mixed;
mod paths;
mod plane;
mod score;

use anyhow::Result;
use tidegate_reproduce::{Extent, Figure, Paper, Seeds};

/// The law.
pub fn paper() -> Paper {
    Paper {
        id: "tide",
        title: "tide, held against the others",
        introduction: "One download of a minute over each link and each base RTT, from CUBIC and from BBR senders, through a \
                       drop-tail buffer of 2000 packets; the first 5 s are not counted. The links are the shipped cells with \
                       two seeds each and every recording in the folder that --traces names, from its start. A rate \
                       series is taken as it is, a step a second; the uplink carries a tenth of the downlink's mean \
                       rate, at least 5 Mbit/s. The column \"paper\" holds the goal. The page's coordinates are the \
                       link's own queueing delay and utilisation: nothing of them is estimated.",
        seeds: Seeds::ONE,
        figures,
    }
}

fn figures(extent: &Extent) -> Result<Vec<Figure>> {
    let paths = paths::all(extent)?;
    Ok(vec![
        against::cubic(&paths),
        against::bbr(&paths),
        plane::figure(&paths),
        mixed::figure(extent)?,
        beside::figure(extent)?,
    ])
}

#[cfg(test)]
mod tests;
