//! Chapter 4 of the thesis: a prober's findings on links whose properties are known.

mod aqm;
mod buffers;
mod bursts;
mod devices;
mod fig4_04;
mod fig4_06;
mod fig4_16;
mod links;
mod matrix;
mod perform;
mod read;
mod recorded;

use anyhow::Result;
use tidegate_study::{Extent, Figure, Paper, Seeds, Selection};

/// The thesis's chapter.
pub fn paper() -> Paper {
    Paper {
        id: "measurements",
        title: "What a link does to packets, measured",
        introduction: "Emulated links whose buffer, policy, bursts and clocks are known, measured by the prober in virtual time: its packets \
                       over the link model, without the kernel. Each link loses 0.1 % of its packets by chance, and the client's \
                       clock is 10 s ahead and 50 ppm fast. What is claimed of each quantity is what the link was made of, after the \
                       thesis's tables.",
        seeds: Seeds { full: 4, quick: 1 },
        measure: Some(perform::perform),
        lab: Selection::NONE,
        figures,
    }
}

fn figures(extent: &Extent) -> Result<Vec<Figure>> {
    let mut figures = vec![
        bursts::figure(),
        fig4_04::figure(),
        fig4_06::figure(),
        buffers::downlinks(extent),
        buffers::uplinks(extent),
        devices::queues(),
        devices::shares(),
        fig4_16::figure(),
        matrix::figure(extent),
        aqm::figure(extent),
    ];
    if let Some(folder) = &extent.traces {
        figures.push(recorded::figure(folder)?);
    }
    Ok(figures)
}

#[cfg(test)]
mod tests;
