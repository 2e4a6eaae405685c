//! Figs 5.11 and 5.12: other senders.

use super::carriers;
use super::experiments::{Experiment, Steered, median, ratios, repetitions};
use super::sets::{Set, cases};
use crate::pictures::cumulative;
use std::sync::Arc;
use tidegate_report::plot::{self, Axis, Scale};
use tidegate_study::{Claim, Extent, Figure, Quantity, Sample};

/// The thesis's senders, and BBR beyond it.
const SENDERS: [(&str, &str); 5] = [
    ("cubic", "CUBIC"),
    ("reno", "New Reno"),
    ("westwood", "Westwood"),
    ("vegas", "Vegas"),
    ("bbr", "BBR"),
];

/// Senders that many kernels lack; on a real kernel's network our own TCP stands in for them.
const RARE: [&str; 2] = ["westwood", "vegas"];

const CUBIC: usize = 0;
const VEGAS: usize = 3;

/// The same experiments from one sender, to a plain receiver and to RSFC.
#[derive(Clone)]
struct Sender {
    label: &'static str,
    plain: Set,
    rsfc: Set,
}

fn senders(
    extent: &Extent,
    make: impl Fn(&super::carriers::Place, &str, Steered) -> Experiment,
) -> Arc<[Sender]> {
    // In real time one place has to serve for ten runs.
    let count = if extent.lab { 1 } else { repetitions(extent) };
    let places = carriers::A.places(count);
    let set = |name, steered| Set::new(&places, |place| make(place, name, steered));
    SENDERS
        .map(|(name, label)| Sender {
            label,
            plain: set(name, Steered::Untouched),
            rsfc: set(name, Steered::Rsfc),
        })
        .into()
}

/// Fig. 5.11.
pub fn rtt(extent: &Extent) -> Figure {
    let senders = senders(extent, |place, name, steered| {
        let upload = Experiment::upload(place, name, steered);
        match RARE.contains(&name) {
            true => upload.sent_by_ours(),
            false => upload,
        }
    });
    let mut quantities: Vec<Quantity> = (0..SENDERS.len())
        .map(|nth| {
            let senders = senders.clone();
            Quantity::new(
                format!("{}: RTT with RSFC ÷ without, median", senders[nth].label),
                "",
                improved_rtt(nth),
                move |sample| {
                    let Sender { plain, rsfc, .. } = &senders[nth];
                    median(ratios(
                        &upload_rtt(rsfc, sample),
                        &upload_rtt(plain, sample),
                    ))
                },
            )
        })
        .collect();
    let compared = senders.clone();
    quantities.push(Quantity::new(
        "RTT of Vegas without RSFC ÷ of CUBIC with it, median",
        "",
        Claim::at_most(1.0, 2.0),
        move |sample| {
            median(ratios(
                &upload_rtt(&compared[VEGAS].plain, sample),
                &upload_rtt(&compared[CUBIC].rsfc, sample),
            ))
        },
    ));
    Figure {
        id: "fig-5.11",
        title: "RTT of uploads from other senders",
        claim: "If the receiver uses RSFC, the RTT is improved regardless of the algorithm used at the sender; Vegas with a plain \
                receiver is slightly better than CUBIC with RSFC.",
        method: "BBR is beyond the thesis. \"Improved\" is by a quarter at least. Vegas alone keeps its queue short; of it is asked \
                 only that RSFC does not make it longer. On the kernel Westwood and Vegas are our own TCP's.",
        cases: all_cases(&senders),
        quantities,
        draw: Box::new(move |sample| pictures(&senders, "RTT", "s", |set| upload_rtt(set, sample))),
    }
}

/// Fig. 5.12.
pub fn downloads(extent: &Extent) -> Figure {
    let senders = senders(extent, |place, name, steered| {
        Experiment::both(place, name, steered, extent)
    });
    let mut quantities: Vec<Quantity> = (0..SENDERS.len())
        .map(|nth| {
            let senders = senders.clone();
            Quantity::new(
                format!(
                    "{}: download beside it with RSFC ÷ without, median",
                    senders[nth].label
                ),
                "",
                improved_download(nth),
                move |sample| {
                    let Sender { plain, rsfc, .. } = &senders[nth];
                    median(ratios(&down(rsfc, sample), &down(plain, sample)))
                },
            )
        })
        .collect();
    let compared = senders.clone();
    quantities.push(Quantity::new(
        "download beside Vegas without RSFC ÷ beside CUBIC with it, median",
        "",
        Claim::at_least(1.0, 0.5),
        move |sample| {
            median(ratios(
                &down(&compared[VEGAS].plain, sample),
                &down(&compared[CUBIC].rsfc, sample),
            ))
        },
    ));
    Figure {
        id: "fig-5.12",
        title: "Downloads beside uploads from other senders",
        claim: "As long as RSFC is enabled at the receiver, the downlink's utilisation is improved.",
        method: "As in Fig. 5.11.",
        cases: all_cases(&senders),
        quantities,
        draw: Box::new(move |sample| {
            pictures(&senders, "Download", "kbit/s", |set| down(set, sample))
        }),
    }
}

/// RTT shorter by a quarter at least; only Vegas keeps its queue short anyway, and must not lose.
fn improved_rtt(sender: usize) -> Claim {
    match sender {
        VEGAS => Claim::at_most(1.05, 2.0),
        _ => Claim::at_most(0.75, 1.0),
    }
}

/// Downloads faster by a quarter at least; with Vegas they must not lose.
fn improved_download(sender: usize) -> Claim {
    match sender {
        VEGAS => Claim::at_least(0.95, 0.5),
        _ => Claim::at_least(1.25, 1.0),
    }
}

fn upload_rtt(set: &Set, sample: &Sample) -> Vec<f64> {
    set.rtt_s(sample, "upload")
}

fn down(set: &Set, sample: &Sample) -> Vec<f64> {
    set.kbps(sample, "download")
}

fn all_cases(senders: &[Sender]) -> Vec<tidegate_study::Case> {
    cases(
        senders
            .iter()
            .flat_map(|sender| [&sender.plain, &sender.rsfc]),
    )
}

fn pictures(
    senders: &[Sender],
    what: &str,
    unit: &str,
    read: impl Fn(&Set) -> Vec<f64>,
) -> Vec<plot::Figure> {
    let picture = |title: String, of: fn(&Sender) -> &Set| {
        let series = senders.iter().map(|s| (s.label.into(), read(of(s))));
        cumulative(&title, Axis::new(unit, Scale::FromZero), series.collect())
    };
    vec![
        picture(format!("{what}, plain receiver"), |sender| &sender.plain),
        picture(format!("{what}, RSFC"), |sender| &sender.rsfc),
    ]
}
