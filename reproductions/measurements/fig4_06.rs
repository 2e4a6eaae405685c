//! Fig. 4.6: the rate over ten minutes.

use super::links::{Carries, Kind, Known, Truth};
use super::read::number;
use crate::pictures::history;
use tidegate_scenario::CellKind;
use tidegate_study::{Claim, Figure, Quantity};

/// The figure.
pub fn figure() -> Figure {
    let link = Known {
        test: "minutes",
        truth: Truth {
            name: "2000 packets",
            size: 2000.0,
            kind: Kind::PacketsTail,
        },
        carries: Carries::Generated(CellKind::Hspa),
        mbps: 3.0,
        rtt_ms: 60.0,
    };
    let name = link.name();
    let shown = name.clone();
    Figure {
        id: "fig-4.6",
        title: "The rate over ten minutes",
        claim: "The rate, from 50 bursts, varies by two orders of magnitude.",
        method: "A generated HSPA cell, 1420 KB in flight.",
        cases: vec![link.case(&["least_mbps", "most_mbps", "rate_mbps"])],
        quantities: vec![Quantity::new(
            "largest rate ÷ smallest",
            "",
            Claim::at_least(100.0, 1.0),
            move |sample| number(sample, &name, "most_mbps") / number(sample, &name, "least_mbps"),
        )],
        draw: Box::new(move |sample| {
            vec![history(
                sample,
                "Rate",
                "rate_mbps",
                "Mbit/s",
                &[("", shown.clone())],
            )]
        }),
    }
}
