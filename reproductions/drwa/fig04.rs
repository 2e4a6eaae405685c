//! Fig. 4: web objects beside a download.

use super::carriers::ATT;
use super::downloads::{Download, Phone};
use crate::pictures::bars;
use tidegate_study::{Claim, Figure, Quantity, Sample};

/// Sizes of the objects, in bytes (section 2.3: 8, 16, 32 and 64 KB).
pub const SIZES: [u64; 4] = [8 << 10, 16 << 10, 32 << 10, 64 << 10];

/// Between the end of one fetch and the next, in seconds.
pub const PAUSE_S: f64 = 1.0;

/// The figure.
pub fn figure() -> Figure {
    let [alone, beside] = downloads().map(|download| download.name());
    let groups = SIZES.map(|bytes| format!("{} KB", bytes >> 10));
    let names = [alone.clone(), beside.clone()];
    Figure {
        id: "fig-4",
        title: "Web objects beside a download",
        claim: "Fetching takes 2.6 times as long if a download is under way.",
        method: "",
        cases: downloads().map(Download::case).into(),
        quantities: vec![
            Quantity::new(
                "fetch time beside a download ÷ alone, mean over the four sizes",
                "",
                Claim::Near {
                    paper: 2.6,
                    within: 0.5,
                    neutral: 1.0,
                },
                move |sample| mean_fetch(sample, &beside) / mean_fetch(sample, &alone),
            )
            .because(REASON),
        ],
        draw: Box::new(move |sample| {
            let series = ["alone", "beside a download"];
            vec![bars("Fetch time", "ms", &groups, &series, |g, s| {
                sample.fetch(&names[s], SIZES[g])
            })]
        }),
    }
}

const REASON: &str = "here the radio of a phone that does nothing else answers as quickly as a busy one, within the 77 \
     ms that the report's Fig. 15 implies for a download. With 174 ms for the objects alone ours would be 2.6 \
     too: an idle HSPA radio has to be given its channel first, which the model leaves out";

fn downloads() -> [Download; 2] {
    let download = Download::new(&ATT, Phone::Untouched);
    let alone = download.clone().objects_only(&SIZES, PAUSE_S);
    [alone, download.beside_objects(&SIZES, PAUSE_S)]
}

/// Mean over the sizes of the mean fetch time, in ms.
pub fn mean_fetch(sample: &Sample, case: &str) -> f64 {
    SIZES.iter().map(|&b| sample.fetch(case, b)).sum::<f64>() / SIZES.len() as f64
}
