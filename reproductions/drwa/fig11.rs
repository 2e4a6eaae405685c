//! Fig. 11 (IMC: 15): web objects beside a download, with and without DRWA.

use super::carriers::ATT;
use super::downloads::{DRWA, Download, Phone, reduction};
use super::fig04::{PAUSE_S, SIZES, mean_fetch};
use crate::pictures::bars;
use tidegate_study::{Claim, Figure, Quantity};

/// The figure.
pub fn figure() -> Figure {
    let [untouched, drwa] = downloads().map(|download| download.name());
    let names = [untouched.clone(), drwa.clone()];
    let rtts = names.clone();
    let (queue, alone) = (names.clone(), objects_alone().name());
    Figure {
        id: "fig-11",
        title: "Web objects beside a download, with DRWA (IMC: Fig. 15)",
        claim: "The RTT of all flows falls by 41.72 %, which makes fetching 39.46 % faster.",
        method: "The RTT is that of the download, whose queue the objects share.",
        cases: downloads()
            .into_iter()
            .chain([objects_alone()])
            .map(Download::case)
            .collect(),
        quantities: vec![
            Quantity::new(
                "RTT reduction",
                "%",
                Claim::Near {
                    paper: 41.72,
                    within: 8.0,
                    neutral: 0.0,
                },
                move |sample| reduction(sample, &rtts[1], &rtts[0]),
            ),
            Quantity::new(
                "fetch time reduction, mean over the four sizes",
                "%",
                Claim::Near {
                    paper: 39.46,
                    within: 8.0,
                    neutral: 0.0,
                },
                move |sample| {
                    (1.0 - mean_fetch(sample, &drwa) / mean_fetch(sample, &untouched)) * 100.0
                },
            )
            .because(FETCH),
            Quantity::new(
                "reduction of what the download adds to the fetch time",
                "%",
                Claim::Near {
                    paper: 39.46 * 2.6 / 1.6,
                    within: 8.0,
                    neutral: 0.0,
                },
                move |sample| {
                    let [untouched, drwa] = queue.each_ref().map(|name| mean_fetch(sample, name));
                    (untouched - drwa) / (untouched - mean_fetch(sample, &alone)) * 100.0
                },
            )
            .derived("39.46 % of all the time; in Fig. 4 the download adds 1.6 of 2.6: 39.46 · 2.6 ÷ 1.6"),
        ],
        draw: Box::new(move |sample| {
            let groups = SIZES.map(|bytes| format!("{} KB", bytes >> 10));
            let series = ["untouched", "DRWA"];
            vec![bars(
                "Fetch time beside a download",
                "ms",
                &groups,
                &series,
                |g, s| sample.fetch(&names[s], SIZES[g]),
            )]
        }),
    }
}

const FETCH: &str = "of a fetch beside a download, 38 % would also be needed without one in the report (1 ÷ 2.6, \
     Fig. 4), and only 17 % here, where an idle radio is as quick as a busy one; of the rest, DRWA cuts the \
     same share";

fn objects_alone() -> Download {
    Download::new(&ATT, Phone::Untouched).objects_only(&SIZES, PAUSE_S)
}

fn downloads() -> [Download; 2] {
    [Phone::Untouched, DRWA].map(|phone| Download::new(&ATT, phone).beside_objects(&SIZES, PAUSE_S))
}
