//! Goals of `tide`: every link there is, against DRWA, and on the plane of throughput and delay; several downloads,
//! paths that change, uploads, starts, short flows, pages and videos, mixes, company, traffic without a window.

mod aftermath;
mod against;
mod beside;
mod change;
mod changes;
mod contenders;
mod fairness;
mod frontier;
pub mod judges;
mod laboratory;
pub(crate) mod links;
mod mixed;
mod mixes;
pub(crate) mod paths;
mod plane;
mod score;
mod short;
mod stampless;
mod starlink;
mod start;
mod trials;
mod uploads;
mod windowless;

use anyhow::Result;
use tidegate_study::{Extent, Figure, Paper, Seeds, Selection};

/// The law.
pub fn paper() -> Paper {
    Paper {
        id: "tide",
        title: "tide, held against the others",
        introduction: "One download of a minute over each link and each base RTT, from CUBIC and from BBR senders, through a \
                       drop-tail buffer of 2000 packets; the first 5 s are not counted. The links are the shipped cells with \
                       two seeds each and every recording in the folder that --traces names, from its start. A rate \
                       series is interpolated between its seconds and handed out in bursts every 4 ms, as the shipped LTE \
                       cell is, 5G or not; a delay recorded beside a rate comes, less its minimum, on top of the base \
                       RTT; the uplink carries a tenth of the downlink's mean \
                       rate, at least 5 Mbit/s. The column \"paper\" holds the goal. The page's coordinates are the \
                       link's own queueing delay and utilisation: nothing of them is estimated. The figures \
                       after the first three have links and workloads of their own, told there, all but the mixes with CUBIC senders.",
        seeds: Seeds::ONE,
        measure: None,
        lab: Selection {
            figures: &["laboratory", "mixes", "beside", "windowless"],
            method: "Simulator and kernel did the same runs over the same links; of the samples, each for 30 s after its warm-up, but for company, which takes 165 s.",
        },
        figures,
    }
}

fn figures(extent: &Extent) -> Result<Vec<Figure>> {
    let paths = paths::all(extent)?;
    let mut figures = vec![
        against::cubic(&paths),
        against::bbr(&paths),
        plane::figure(&paths),
        fairness::figure(extent)?,
        changes::figure()?,
        uploads::figure(extent)?,
        starlink::figure(extent)?,
        stampless::figure(extent)?,
        start::figure(extent)?,
        short::figure(extent)?,
        mixed::figure(extent)?,
        mixes::figure(extent)?,
        beside::figure(extent)?,
        windowless::figure(extent)?,
        windowless::uploads::figure(extent)?,
    ];
    if extent.lab {
        figures.push(laboratory::figure(&paths));
    }
    Ok(figures)
}

#[cfg(test)]
mod tests;
