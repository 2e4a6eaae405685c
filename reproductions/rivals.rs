//! Remedies against bufferbloat on such links, those in use and those of the best papers, beside `tide`.

mod changes;
mod contenders;
mod downloads;
mod experiment;
mod pages;
mod senders;
mod starts;
mod uploads;

use crate::tide::paths;
use anyhow::Result;
use tidegate_study::{Extent, Figure, Paper, Seeds, Selection};

/// The rivals.
pub fn paper() -> Paper {
    Paper {
        id: "rivals",
        title: "tide beside its rivals",
        introduction: "A download and a call over each link and each base RTT of `reproduce tide`: a minute; the first 5 s \
                       are not counted, a drop-tail buffer of 2000 packets, an uplink of a tenth of the downlink's mean rate, \
                       at least 5 Mbit/s. The call is a packet of 200 bytes every 20 ms and its echo; what delays it, delays \
                       games and clicks as well. Rivals do what they do at their place: cake-autorate and a shaper set by \
                       hand at the client's router, BBR at the sender, CoDel at the link itself. The column \"paper\" holds \
                       the goal.",
        seeds: Seeds::ONE,
        measure: None,
        lab: Selection::NONE,
        figures,
    }
}

fn figures(extent: &Extent) -> Result<Vec<Figure>> {
    let paths = paths::all(extent)?;
    Ok(vec![
        downloads::figure(&paths)?,
        uploads::figure(&paths)?,
        pages::figure(&paths)?,
        starts::figure(&paths)?,
        changes::figure(extent)?,
        senders::figure(&paths)?,
    ])
}
