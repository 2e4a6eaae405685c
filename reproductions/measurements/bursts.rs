//! Figs. 4.1 to 4.3: packets arrive in bursts.

use super::links::{Carries, Kind, Known, Truth};
use super::read::number;
use crate::pictures::cumulative;
use tidegate_report::colour::Pen;
use tidegate_report::plot::{Axis, Curve, Figure as Picture, Mark, Scale};
use tidegate_scenario::CellKind;
use tidegate_study::{Claim, Figure, Quantity};

/// Large enough for many bursts.
const BUFFER: Truth = Truth {
    name: "2000 packets",
    size: 2000.0,
    kind: Kind::PacketsTail,
};

/// HSPA, HSPA+ and LTE of the thesis's plans, a changing rate, and a link without bursts. Two links are so slow that
/// not every turn is used, or that a packet takes as long as a turn.
pub fn links() -> Vec<Known> {
    let link = |carries, mbps| Known {
        test: "bursts",
        truth: BUFFER,
        carries,
        mbps,
        rtt_ms: 60.0,
    };
    vec![
        link(Carries::InTurns(10.0), 3.6),
        link(Carries::InTurns(4.0), 7.2),
        link(Carries::InTurns(4.0), 20.0),
        link(Carries::InTurns(10.0), 0.5),
        link(Carries::Generated(CellKind::Lte), 12.0),
        link(Carries::Generated(CellKind::Hspa), 3.0),
        link(Carries::Smoothly, 0.5),
        link(Carries::Smoothly, 1.136),
        link(Carries::Smoothly, 7.2),
        link(Carries::Smoothly, 50.0),
        // An opportunity in every millisecond, as recorded links have.
        link(Carries::InTurns(1.0), 12.0),
    ]
}

/// The curves kept of them.
pub const CURVES: [&str; 7] = [
    "period_ms",
    "rate_mbps",
    "gap_ms",
    "gaps_ms",
    "burst_packets",
    "error",
    "deviation",
];

/// The figure.
pub fn figure() -> Figure {
    let links = links();
    let quantities = links.iter().map(|link| {
        let name = link.name();
        let bursts = link.carries.period_ms();
        // The prober does not look for bursts closer than 2 ms.
        let expected = if bursts < 2.0 { 0.0 } else { bursts };
        Quantity::new(
            format!(
                "interval of bursts, {} Mbit/s, {}",
                link.mbps,
                link.carries.words()
            ),
            "ms",
            Claim::Near {
                paper: expected,
                within: 0.1,
                neutral: if expected == 0.0 { 4.0 } else { 0.0 },
            },
            move |sample| number(sample, &name, "period_ms"),
        )
    });
    let rates = links
        .iter()
        .filter(|l| !matches!(l.carries, Carries::Generated(_)))
        .map(|link| {
            let name = link.name();
            Quantity::new(
                format!(
                    "rate from 50 bursts, {} Mbit/s, {}",
                    link.mbps,
                    link.carries.words()
                ),
                "Mbit/s",
                Claim::Near {
                    paper: link.mbps,
                    within: link.mbps / 10.0,
                    neutral: 0.0,
                },
                move |sample| number(sample, &name, "rate_mbps"),
            )
        });
    Figure {
        id: "fig-4.1",
        title: "Packets arrive in bursts (Figs. 4.1 to 4.3)",
        claim: "Packets arrive within 1 ms of each other, in bursts every 10 ms on HSPA and every 4 ms on HSPA+ and LTE.",
        method: "0 ms: none is reported. A link without bursts must have none, however slow; of 1 ms nothing is said.",
        cases: links.iter().map(|link| link.case(&CURVES)).collect(),
        quantities: quantities.chain(rates).collect(),
        draw: Box::new(move |sample| {
            let first = links[0].name();
            let shown = [0, 1, 4, 8].map(|n: usize| &links[n]);
            let of = |quantity: &'static str| {
                shown.map(|link| {
                    let values = sample.curve(&link.name(), quantity);
                    let name = format!("{} Mbit/s, {}", link.mbps, link.carries.words());
                    (name, values.into_iter().map(|p| p.1).collect::<Vec<f64>>())
                })
            };
            vec![
                Picture {
                    title: "Time from one packet to the next".into(),
                    x: Axis::new("time, s", Scale::FromZero),
                    y: Axis::new("ms", Scale::FromZero),
                    curves: vec![Curve::new(
                        first.clone(),
                        Pen::nth(0),
                        Mark::Dots,
                        sample.curve(&first, "gap_ms"),
                    )],
                    size: Picture::STRIP,
                },
                cumulative(
                    "Time from one packet to the next",
                    Axis::new("ms", Scale::FromZero),
                    of("gaps_ms").into(),
                ),
                cumulative(
                    "Packets in a burst",
                    Axis::new("packets", Scale::FromZero),
                    of("burst_packets").into(),
                ),
            ]
        }),
    }
}
