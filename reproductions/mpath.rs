//! mPath, chapter 3 of the thesis: bulk transfer around congested core links.

mod aggregation;
mod crowd;
mod emulab;
mod fig3_07;
mod fig3_08;
mod fig3_10;
mod fig3_11;
mod fig3_13;
mod fig3_17;
mod fig3_19;
mod fig3_20;
mod fig3_21;
mod fig3_24;
mod fig3_25;
mod fig3_26;
pub mod judges;
mod network;
mod overlay;
mod pairs;
#[cfg(test)]
mod tests;

use emulab::Pace;
use tidegate_study::{Extent, Figure, Paper, Seeds, Selection};

/// The thesis's chapter.
pub fn paper() -> Paper {
    Paper {
        id: "mpath",
        title: "mPath, reproduced",
        introduction: emulab::INTRODUCTION,
        seeds: Seeds { full: 8, quick: 2 },
        measure: None,
        lab: Selection {
            figures: &["fig-3.7", "fig-3.8", "fig-3.10"],
            method: "Simulator and kernel did the same runs: a minute of the thesis's lasts 12 s. On the kernel mPath is the real \
                     program's: encrypted packets over UDP, proxies in namespaces of their own, a registry; TCP is Linux's New Reno.",
        },
        figures: |extent| Ok(figures(extent)),
    }
}

fn figures(extent: &Extent) -> Vec<Figure> {
    let pairs = pairs::Pairs::new(extent);
    let pace = Pace::new(extent);
    let mut figures = vec![
        aggregation::figure(),
        fig3_07::figure(pace),
        fig3_08::figure(pace),
        fig3_10::figure(pace),
        fig3_11::figure(pace),
        fig3_13::figure(pace),
        fig3_17::figure(&pairs),
        fig3_19::figure(&pairs),
        fig3_20::figure(&pairs),
    ];
    figures.extend(fig3_21::figures(extent));
    figures.extend([
        fig3_24::figure(),
        fig3_25::figure(&pairs),
        fig3_26::figure(&pairs),
    ]);
    figures
}
