//! mPath, chapter 3 of the thesis: bulk transfer around congested core links.

mod aggregation;
mod emulab;
mod fig3_07;
mod fig3_08;
mod fig3_10;
mod fig3_11;
mod fig3_13;
mod fig3_24;
mod overlay;
mod pairs;
#[cfg(test)]
mod tests;

use tidegate_reproduce::{Extent, Figure, Paper, Seeds, Selection};

/// The thesis's chapter.
pub fn paper() -> Paper {
    Paper {
        id: "mpath",
        title: "mPath, reproduced",
        introduction: emulab::INTRODUCTION,
        seeds: Seeds { full: 8, quick: 2 },
        measure: None,
        lab: Selection {
            figures: &[],
            method: "",
        },
        figures: |extent| Ok(figures(extent)),
    }
}

fn figures(extent: &Extent) -> Vec<Figure> {
    let pairs = pairs::Pairs::new(extent);
    vec![
        aggregation::figure(),
        fig3_07::figure(),
        fig3_08::figure(),
        fig3_10::figure(),
        fig3_11::figure(),
        fig3_13::figure(),
        pairs::transfers(&pairs),
        pairs::offered(&pairs),
        fig3_24::figure(),
        pairs::patiences(&pairs),
    ]
}
