//! "Rethinking TCP flow control for smartphones and tablets" (2014): adaptive flow control.

mod eq27;
mod fig04;
mod fig06a;
mod fig06b;
mod fig06c;
mod fig07a;
mod fig07b;
mod fig07c;
mod fig07d;
mod fig07f;
mod paths;
mod positions;
mod server;
mod shared;

use tidegate_study::{Extent, Figure, Paper, Seeds, Selection};

/// The paper.
pub fn paper() -> Paper {
    Paper {
        id: "afc",
        title: "AFC, reproduced",
        introduction: paths::INTRODUCTION,
        // Nothing is random.
        seeds: Seeds::ONE,
        measure: None,
        lab: Selection::NONE,
        figures: |extent| Ok(figures(extent)),
    }
}

fn figures(extent: &Extent) -> Vec<Figure> {
    let mut figures = vec![
        fig04::figure(),
        eq27::figure(),
        fig06a::figure(),
        fig06b::figure(),
        fig06c::figure(),
        fig07a::figure(),
        fig07b::figure(),
        fig07c::figure(),
        fig07d::slow(),
        fig07d::fast(),
        fig07f::figure(),
        positions::figure(),
    ];
    if extent.quick {
        let cases = figures.iter_mut().flat_map(|figure| &mut figure.cases);
        cases.for_each(|case| case.scenario.duration_s = paths::SHORT_S);
    }
    figures.push(server::figure(extent));
    figures
}

#[cfg(test)]
mod tests;
