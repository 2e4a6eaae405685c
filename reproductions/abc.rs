//! "ABC: A Simple Explicit Congestion Controller for Wireless Networks" (Goyal, Agarwal, Netravali, Alizadeh, Balakrishnan,
//! NSDI 2020).

mod cells;
mod flows;
mod links;

use anyhow::Result;
use tidegate_study::{Extent, Figure, Paper, Seeds, Selection};

/// The paper.
pub fn paper() -> Paper {
    Paper {
        id: "abc",
        title: "ABC, reproduced",
        introduction: "ABC's sender and its router, and what the paper compares them with, over links as the paper's emulator makes \
                       them: a round trip of 100 ms, a queue of 250 packets, 140 s, and 12 Mbit/s for the way back. The queue's \
                       numbers are those of the authors' published script: η = 0.98, δ = 133 ms, d_t = 50 ms, and for CoDel a target of \
                       50 ms with an interval of 100 ms. Delays are those of every packet in the queue, as the emulator logs them. The \
                       paper's recordings are not part of this: with `--traces FOLDER` those of its eight that are found there by \
                       their names in Mahimahi are run, without it generated cells.",
        seeds: Seeds::ONE,
        measure: None,
        lab: Selection::NONE,
        figures,
    }
}

fn figures(extent: &Extent) -> Result<Vec<Figure>> {
    let links = links::all(extent);
    Ok(vec![
        cells::schemes(&links),
        cells::feedback(&links),
        flows::fairness(extent),
        flows::equilibrium(extent),
        flows::elsewhere(),
    ])
}
