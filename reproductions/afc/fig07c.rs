//! Fig. 7(c): sensitivity to the peak read rate.

use super::paths::{BOTH, Path, cases, label, share};
use crate::means::least;
use crate::pictures::lines;
use tidegate_report::plot;
use tidegate_scenario::FlowControl;
use tidegate_study::{Claim, Figure, Quantity, Sample};

/// Peaks, in Mbit/s.
const PEAKS: [f64; 8] = [1.0, 2.0, 4.0, 6.0, 8.0, 12.0, 16.0, 20.0];

fn path(peak: f64) -> Path {
    Path::scenario(3).reads(&[0.0, peak, peak])
}

/// Ideal, classic and AFC's throughput over `x`.
pub fn sweep(title: &str, x: (&str, &[f64]), paths: &[Path], sample: &Sample) -> plot::Figure {
    let series = [
        "ideal",
        label(FlowControl::Classic),
        label(FlowControl::Adaptive),
    ];
    lines(title, x, "Mbit/s", &series, |n, s| match s {
        0 => paths[n].ideal(),
        _ => paths[n].clone().with(BOTH[s - 1]).goodput(sample),
    })
}

/// The figure.
pub fn figure() -> Figure {
    let classic = |sample: &Sample, peak| path(peak).goodput(sample) / path(peak).ideal() * 100.0;
    let quantities = vec![
        Quantity::new(
            "classic with a peak of 1 Mbit/s, in percent of the ideal",
            "%",
            Claim::at_least(97.0, 50.0),
            move |sample| classic(sample, PEAKS[0]),
        ),
        Quantity::new(
            "classic with a peak of 20 Mbit/s, in percent of the ideal",
            "%",
            Claim::Near {
                paper: 65.0,
                within: 6.5,
                neutral: 100.0,
            },
            move |sample| classic(sample, PEAKS[7]),
        ),
        Quantity::new(
            "AFC in percent of the ideal, least over the peaks",
            "%",
            Claim::at_least(86.0, 50.0),
            |sample| least(PEAKS.map(|peak| share(sample, &path(peak))).into_iter()),
        ),
    ];
    Figure {
        id: "fig-7c",
        title: "Peak read rates from 1 to 20 Mbit/s",
        claim: "Below 2 Mbit/s classic flow control is optimal; from there on it grows to 65 % of the ideal at 20 Mbit/s. AFC has 86 % and \
                more in all cases.",
        method: "Scenario 3.",
        cases: cases(&PEAKS.map(path)),
        quantities,
        draw: Box::new(|sample| {
            let x = ("peak read rate, Mbit/s", PEAKS.as_slice());
            vec![sweep("Throughput", x, &PEAKS.map(path), sample)]
        }),
    }
}
