//! Fig. 2: the congestion window of downloads to untouched phones.

use super::carriers::ALL;
use super::downloads::{Download, Phone};
use crate::pictures::history;
use tidegate_study::{Claim, Figure, Quantity};

/// Segments of an Ethernet path with timestamps, in bytes.
const SEGMENT: f64 = 1448.0;

/// When the window has long reached its plateau, in seconds.
const SETTLED_S: f64 = 60.0;

/// The figure.
pub fn figure() -> Figure {
    let download = |carrier| Download::new(carrier, Phone::Untouched).curves(&["cwnd_packets"]);
    let mut quantities = Vec::new();
    for carrier in ALL {
        let name = download(carrier).name();
        quantities.push(Quantity::new(
            format!(
                "{}: largest ÷ smallest cwnd after {SETTLED_S} s",
                carrier.name
            ),
            "",
            Claim::at_most(1.02, 1.25),
            move |sample| sample.extremes(&name, "cwnd_packets", SETTLED_S, |low, high| high / low),
        ));
        let name = download(carrier).name();
        let packets = carrier.window() as f64 / SEGMENT;
        quantities.push(
            Quantity::new(
                format!("{}: cwnd there ÷ receive window", carrier.name),
                "",
                Claim::Near {
                    paper: 1.0,
                    within: 0.1,
                    neutral: 3.0,
                },
                move |sample| sample.extremes(&name, "cwnd_packets", SETTLED_S, |_, high| high / packets),
            )
            .because(
                "since Linux 3.16 a sender in slow start that is held back by the receive window goes \
                 on to twice what is in flight (tcp_is_cwnd_limited) before it stops; the paper's 2.6.35 \
                 stopped at what is in flight",
            ),
        );
    }
    Figure {
        id: "fig-2",
        title: "Congestion windows that do not move",
        claim: "cwnd grows to a static value, the receive window, and stays there: no saw-tooth.",
        method: "",
        cases: ALL.map(|carrier| download(carrier).case()).into(),
        quantities,
        draw: Box::new(move |sample| {
            let cases = ALL.map(|c| (c.name, download(c).name()));
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
