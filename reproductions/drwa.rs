//! "Improving TCP Performance in Buffer-bloated Cellular Networks via Dynamic Receive Window
//! Adjustment", the technical report, and the IMC 2012 paper that came of it.

mod carriers;
mod downloads;
mod fig02;
mod fig03;
mod fig04;
mod fig05;
mod fig06;
mod fig07;
mod fig08;
mod fig09;
mod fig10;
mod fig11;
mod fig12;
mod fig14;
mod fig15;
mod fig16;
mod fig17;
mod fig18;
mod fig20;

use tidegate_study::{Extent, Figure, Paper, Seeds, Selection};

/// The paper.
pub fn paper() -> Paper {
    Paper {
        id: "drwa",
        title: "DRWA, reproduced",
        introduction: carriers::INTRODUCTION,
        seeds: Seeds { full: 30, quick: 4 },
        measure: None,
        lab: Selection {
            figures: &["fig-8", "fig-9", "fig-11", "fig-12", "table-3", "fig-15"],
            method: "Simulator and kernel did the same runs over the same link with the same seeds: downloads of 40 s \
                     instead of 180, of which the first 10 do not count, and of Table 3 four rows.",
        },
        figures: |extent| Ok(figures(extent)),
    }
}

fn figures(extent: &Extent) -> Vec<Figure> {
    let mut figures = vec![
        fig02::figure(),
        fig03::figure(),
        fig04::figure(),
        fig05::figure(),
        fig06::figure(),
        fig07::figure(),
        fig08::figure(),
        fig09::figure(),
        fig10::figure(),
        fig11::figure(),
        fig12::figure(),
        fig14::figure(extent),
        fig15::figure(),
        fig16::figure(),
        fig17::figure(),
        fig18::figure(),
        fig20::figure(),
    ];
    if extent.lab {
        let cases = figures.iter_mut().flat_map(|figure| &mut figure.cases);
        cases.for_each(downloads::shorten);
    }
    figures
}

#[cfg(test)]
mod tests;
