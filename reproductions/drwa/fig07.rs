//! Fig. 7: phones and PCs without a static limit.

use super::carriers::{ATT, LTE};
use super::downloads::{Download, Phone};
use crate::pictures::history;
use tidegate_study::{Claim, Figure, Quantity};

/// End of the first slow start, in seconds.
const SETTLED_S: f64 = 30.0;

/// The figure.
pub fn figure() -> Figure {
    let carriers = [&ATT, &LTE];
    let open = |carrier| Download::new(carrier, Phone::Open).curves(&["cwnd_packets", "rtt_ms"]);
    let mut cases: Vec<_> = carriers.map(|c| open(c).case()).into();
    let mut quantities = Vec::new();
    for carrier in carriers {
        let untouched = Download::new(carrier, Phone::Untouched);
        let names = [open(carrier).name(), untouched.name()];
        cases.push(untouched.case());
        let name = names[0].clone();
        quantities.push(Quantity::new(
            format!(
                "{}: largest ÷ smallest cwnd after {SETTLED_S} s",
                carrier.name
            ),
            "",
            Claim::at_least(1.3, 1.05),
            move |sample| sample.extremes(&name, "cwnd_packets", SETTLED_S, |low, high| high / low),
        ));
        quantities.push(Quantity::new(
            format!("{}: RTT ÷ the RTT with the static limit", carrier.name),
            "",
            Claim::at_least(2.0, 1.0),
            move |sample| sample.rtt(&names[0]) / sample.rtt(&names[1]),
        ));
    }
    Figure {
        id: "fig-7",
        title: "Receivers with a very large limit",
        claim: "The saw-tooth is back, with extremely long RTTs.",
        method: "",
        cases,
        quantities,
        draw: Box::new(move |sample| {
            let cases = carriers.map(|c| (c.name, open(c).name()));
            vec![
                history(
                    sample,
                    "Congestion window",
                    "cwnd_packets",
                    "packets",
                    &cases,
                ),
                history(sample, "RTT at the sender", "rtt_ms", "ms", &cases),
            ]
        }),
    }
}
