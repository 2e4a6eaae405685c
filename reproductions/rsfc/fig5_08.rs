//! Fig. 5.8: two uploads with RSFC.

use super::carriers;
use super::experiments::{Experiment, Steered, kbps, median, ratios, repetitions, share};
use super::sets::{Set, cases};
use crate::pictures::cumulative;
use tidegate_report::plot::{Axis, Scale};
use tidegate_study::{Claim, Extent, Figure, Quantity, Sample};

/// The uploads of the figure.
#[derive(Clone)]
struct Uploads {
    /// One with CUBIC, C.
    one: Set,
    /// Two with RSFC.
    two: Set,
    /// Two with CUBIC.
    parallel: Set,
}

/// The figure.
pub fn figure(extent: &Extent) -> Figure {
    let places = carriers::A.places(repetitions(extent));
    let set = |steered, flows| {
        Set::new(&places, |place| {
            Experiment::uploads(place, "cubic", steered, flows)
        })
    };
    let uploads = Uploads {
        one: set(Steered::Untouched, 1),
        two: set(Steered::Rsfc, 2),
        parallel: set(Steered::Untouched, 2),
    };
    Figure {
        id: "fig-5.8",
        title: "Fairness and efficiency of two uploads",
        claim: "Two RSFC flows achieve very similar throughput, and perform no worse than a single CUBIC flow about 80 % of the \
                time; so do two CUBIC flows.",
        method: "1 MB in all. \"Very similar\" is Jain's index of at least 0.95, \"no worse\" an efficiency of at least 0.95.",
        cases: cases([&uploads.one, &uploads.two, &uploads.parallel]),
        quantities: quantities(&uploads),
        draw: Box::new(move |sample| {
            vec![cumulative(
                "Fairness and efficiency",
                Axis::new("", Scale::Linear),
                vec![
                    ("fairness, RSFC".into(), fairness(&uploads.two, sample)),
                    (
                        "efficiency, RSFC".into(),
                        efficiency(&uploads, &uploads.two, sample),
                    ),
                    (
                        "efficiency, CUBIC".into(),
                        efficiency(&uploads, &uploads.parallel, sample),
                    ),
                ],
            )]
        }),
    }
}

/// Both throughputs of each experiment, in kbit/s.
fn both(set: &Set, sample: &Sample) -> Vec<[f64; 2]> {
    let [first, second] =
        ["upload#1", "upload#2"].map(|flow| set.all(sample, |run| kbps(run, flow)));
    let pairs = first.into_iter().zip(second);
    pairs.map(|(first, second)| [first, second]).collect()
}

/// Jain's index.
fn fairness(set: &Set, sample: &Sample) -> Vec<f64> {
    let index = |[a, b]: [f64; 2]| (a + b) * (a + b) / (2.0 * (a * a + b * b));
    both(set, sample).into_iter().map(index).collect()
}

/// (R1 + R2) ÷ C.
fn efficiency(uploads: &Uploads, set: &Set, sample: &Sample) -> Vec<f64> {
    let sums: Vec<f64> = both(set, sample).iter().map(|[a, b]| a + b).collect();
    ratios(&sums, &uploads.one.kbps(sample, "upload"))
}

fn quantities(uploads: &Uploads) -> Vec<Quantity> {
    let quantity = |name: &str, unit, claim, read: fn(&Uploads, &Sample) -> f64| {
        let uploads = uploads.clone();
        Quantity::new(name, unit, claim, move |sample| read(&uploads, sample))
    };
    vec![
        quantity(
            "Jain's index of two RSFC uploads, median",
            "",
            Claim::at_least(0.95, 0.5),
            |uploads, sample| median(fairness(&uploads.two, sample)),
        ),
        quantity(
            "two RSFC uploads no worse than one of CUBIC's",
            "%",
            Claim::at_least(80.0, 0.0),
            |uploads, sample| share(&efficiency(uploads, &uploads.two, sample), |e| e >= 0.95),
        ),
        quantity(
            "two CUBIC uploads no worse than one",
            "%",
            Claim::at_least(80.0, 0.0),
            |uploads, sample| {
                share(&efficiency(uploads, &uploads.parallel, sample), |e| {
                    e >= 0.95
                })
            },
        ),
    ]
}
