//! Fig. 16: the same in weak signal.

use super::carriers::{ATT, LTE};
use super::downloads::{DRWA, Download, Phone, gain, reduction};
use crate::pictures::bars;
use crate::radio::WEAK_DB;
use tidegate_study::{Claim, Figure, Quantity};

/// Why DRWA loses throughput on a slow link.
pub const SWING: &str = "at a tenth of the rate DRWA's window is nine packets, and Algorithm 3 swings (RTTest answers to a \
     window a round trip late), so that the queue runs empty: at a constant rate of that size it loses 10 % \
     as well, and fades twice that. The report's weak signal cannot have been as slow; it does not say how \
     slow it was";

/// The figure.
pub fn figure() -> Figure {
    let carriers = [&ATT, &LTE];
    let downloads = |carrier| {
        let weak = |phone| Download::new(carrier, phone).signal(vec![[0.0, WEAK_DB]]);
        [Phone::Untouched, DRWA].map(weak)
    };
    let mut cases: Vec<_> = carriers
        .into_iter()
        .flat_map(downloads)
        .map(Download::case)
        .collect();
    let mut quantities = Vec::new();
    for carrier in carriers {
        let good = Download::new(carrier, Phone::Untouched);
        let [untouched, drwa] = downloads(carrier).map(|d| d.name());
        let names = [good.name(), untouched.clone(), drwa.clone()];
        let good_drwa = Download::new(carrier, DRWA);
        let growth = [
            good.name(),
            untouched.clone(),
            good_drwa.name(),
            drwa.clone(),
        ];
        cases.push(good_drwa.case());
        cases.push(good.case());
        let [good, weak, _] = names.clone();
        quantities.push(Quantity::new(
            format!("{}: untouched throughput, weak ÷ good signal", carrier.name),
            "",
            Claim::at_most(0.5, 1.0),
            move |sample| sample.goodput(&weak) / sample.goodput(&good),
        ));
        quantities.push(Quantity::new(
            format!(
                "{}: growth of the RTT from good to weak signal, DRWA ÷ untouched",
                carrier.name
            ),
            "",
            Claim::at_most(0.5, 1.0),
            move |sample| {
                let [good, weak, good_drwa, weak_drwa] = growth.each_ref().map(|n| sample.rtt(n));
                weak_drwa / good_drwa / (weak / good)
            },
        ));
        let [_, untouched_, drwa_] = names;
        quantities.push(Quantity::new(
            format!("{}: RTT reduction", carrier.name),
            "%",
            Claim::at_least(20.0, 0.0),
            move |sample| reduction(sample, &drwa, &untouched),
        ));
        quantities.push(
            Quantity::new(
                format!("{}: throughput", carrier.name),
                "%",
                Claim::at_least(-4.0, -20.0),
                move |sample| gain(sample, &drwa_, &untouched_),
            )
            .because(SWING),
        );
    }
    Figure {
        id: "fig-16",
        title: "RTT and throughput in weak signal",
        claim: "Throughput and RTT are much worse; DRWA still lowers the RTT, without losing throughput.",
        method: "",
        cases,
        quantities,
        draw: Box::new(move |sample| {
            let groups = carriers.map(|c| c.name.to_owned());
            let series = ["untouched", "DRWA"];
            let name = |g: usize, s: usize| downloads(carriers[g])[s].name();
            vec![
                bars("RTT", "ms", &groups, &series, |g, s| {
                    sample.rtt(&name(g, s))
                }),
                bars("Throughput", "Mbit/s", &groups, &series, |g, s| {
                    sample.goodput(&name(g, s))
                }),
            ]
        }),
    }
}
