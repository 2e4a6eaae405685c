//! Judges for the odds of mPath's evidence: paths that share a bottleneck, and paths that do not.

use super::emulab::Pace;
use super::{aggregation, fig3_07, fig3_08, fig3_10};
use crate::judge::{Judge, Measure};
use tidegate_study::{Extent, Figure};

/// All of them. The numbers are those of the figures.
pub fn all() -> Vec<Judge> {
    let pace = Pace::new(&Extent {
        quick: true,
        ..Extent::default()
    });
    let figures = [
        aggregation::figure(),
        fig3_07::figure(pace),
        fig3_08::figure(pace),
        fig3_10::figure(pace),
    ];
    figures.map(judge).into()
}

fn judge(figure: Figure) -> Judge {
    let measure = |quantity: tidegate_study::Quantity| Measure {
        name: format!("{}, {}", quantity.name, quantity.unit),
        better: None,
        read: quantity.read,
    };
    Judge {
        id: figure.id,
        cases: figure.cases,
        measures: figure.quantities.into_iter().map(measure).collect(),
    }
}
