//! §5.6: random losses.

use super::links::{self, Link};
use anyhow::Result;
use tidegate_scenario::{CellKind, Direction, SproutForecast};
use tidegate_study::{Case, Claim, Extent, Figure, Quantity, Sample};

/// Share of packets lost in each direction.
const LOSSES: [f64; 3] = [0.0, 0.05, 0.1];

/// The paper's numbers for Verizon's LTE: throughput in kbit/s down and up.
const PRINTED: [[f64; 3]; 2] = [[4741.0, 3971.0, 2768.0], [3703.0, 2598.0, 1163.0]];

/// Tolerance of ours, as a share of the paper's number.
const WITHIN: f64 = 0.2;

/// A cell's throughput with losses ÷ without.
fn kept(sample: &Sample, link: &Link, direction: Direction, loss: f64) -> f64 {
    let kbps = |loss| link.read(sample, SproutForecast::Cautious, direction, loss)[0];
    kbps(loss) / kbps(0.0)
}

/// The figure.
///
/// # Errors
/// Never: a generated cell reads no file.
pub fn figure(extent: &Extent) -> Result<Figure> {
    let link = links::cell(CellKind::Lte, extent)?;
    let case = |loss: f64| -> Case { link.case(SproutForecast::Cautious, loss) };
    let cases = LOSSES.map(case).into();
    let lossy = LOSSES.into_iter().enumerate().skip(1);
    let quantities = lossy.flat_map(|(nth, loss)| {
        let link = link.clone();
        let printed = Direction::ALL.into_iter().zip(PRINTED);
        printed.map(move |(direction, printed)| {
            let (link, paper) = (link.clone(), printed[nth] / printed[0]);
            let claim = Claim::Near {
                paper,
                within: WITHIN * paper,
                neutral: 0.0,
            };
            let name = format!(
                "{} % lost, {}: throughput ÷ without",
                loss * 100.0,
                direction.name()
            );
            Quantity::new(name, "", claim, move |s| kept(s, &link, direction, loss)).because(CELL)
        })
    });
    Ok(Figure {
        id: "loss",
        title: "Losses at random (§5.6)",
        claim: "With 5 % of all packets lost Sprout keeps 84 % of its throughput down and 70 % up, with 10 % lost 58 % and 31 %.",
        method: "A generated LTE cell in place of Verizon's recordings, losses in both directions.",
        cases,
        quantities: quantities.collect(),
        draw: Box::new(|_| Vec::new()),
    })
}

const CELL: &str = "the cell is another link; in the paper a loss also takes a forecast with it, which the packets of the other direction \
                    carry, where here the next one comes a tick later";
