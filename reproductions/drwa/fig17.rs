//! Fig. 17: losses in front of a middlebox that puts packets in order, and without one.

use super::carriers::{ATT, EVDO};
use super::downloads::{Download, Phone};
use crate::pictures::history;
use tidegate_study::{Claim, Figure, Quantity, Sample};

/// Share of packets lost.
const LOSS: f64 = 0.005;

/// The figure.
pub fn figure() -> Figure {
    let carriers = [&ATT, &EVDO];
    let lossy = |carrier| {
        let download = Download::new(carrier, Phone::Untouched).lossy(LOSS);
        download.curves(&["cwnd_packets", "timeouts"])
    };
    let [att, evdo] = carriers.map(|carrier| lossy(carrier).name());
    Figure {
        id: "fig-17",
        title: "0.5 % loss, with a middlebox that holds what is out of order and without",
        claim: "On AT&T's HSPA+ a loss ends in a retransmission timeout nearly always; on Verizon's EVDO fast \
                retransmit repairs it.",
        method: "Losses come in runs of two packets on the mean, in front of the middlebox.",
        cases: carriers.map(|carrier| lossy(carrier).case()).into(),
        quantities: vec![
            Quantity::new(
                "AT&T HSPA+: retransmission timeouts for each run of losses",
                "",
                Claim::at_least(0.5, 0.1),
                move |sample| timeouts(sample, &att),
            ),
            Quantity::new(
                "Verizon EVDO: retransmission timeouts for each run of losses",
                "",
                Claim::at_most(0.1, 0.5),
                move |sample| timeouts(sample, &evdo),
            ),
        ],
        draw: Box::new(move |sample| {
            let cases = carriers.map(|c| (c.name, lossy(c).name()));
            vec![history(
                sample,
                "Congestion window",
                "cwnd_packets",
                "packets",
                &cases,
            )]
        }),
    }
}

/// Timeouts ÷ runs of losses, over all seeds.
fn timeouts(sample: &Sample, case: &str) -> f64 {
    let counted = sample.curves(case, "timeouts");
    let timeouts: f64 = counted.filter_map(|curve| Some(curve.last()?.1)).sum();
    let lost: u64 = sample.runs(case).map(|run| run.hops[0].link.losses).sum();
    timeouts / (lost as f64 / 2.0)
}
