//! Fig. 6, and Fig. 19 of the IMC paper: Vegas, CUBIC, CUBIC with DRWA.

use super::carriers::{ATT, LTE};
use super::downloads::{DRWA, Download, Phone};
use crate::pictures::bars;
use tidegate_study::{Claim, Figure, Quantity};

/// The figure.
pub fn figure() -> Figure {
    let carriers = [&ATT, &LTE];
    let downloads = |carrier| {
        let untouched = Download::new(carrier, Phone::Untouched);
        [
            untouched.clone().sender("vegas"),
            untouched,
            Download::new(carrier, DRWA),
        ]
    };
    let mut quantities = Vec::new();
    for carrier in carriers {
        let names = downloads(carrier).map(|d| d.name());
        let [vegas, cubic, drwa] = names.clone();
        quantities.push(
            Quantity::new(
                format!("{}: Vegas' throughput ÷ CUBIC's", carrier.name),
                "",
                Claim::at_most(0.9, 1.0),
                move |sample| sample.goodput(&vegas) / sample.goodput(&cubic),
            )
            .because(VEGAS),
        );
        let [vegas, _, drwa_] = names.clone();
        quantities.push(Quantity::new(
            format!("{}: Vegas' RTT ÷ DRWA's", carrier.name),
            "",
            Claim::at_most(1.0, 1.2),
            move |sample| sample.rtt(&vegas) / sample.rtt(&drwa_),
        ));
        let [_, cubic, _] = names.clone();
        let drwa_ = drwa.clone();
        quantities.push(Quantity::new(
            format!("{}: DRWA's throughput ÷ CUBIC's", carrier.name),
            "",
            Claim::at_least(0.96, 0.9),
            move |sample| sample.goodput(&drwa_) / sample.goodput(&cubic),
        ));
        let [_, cubic, _] = names;
        quantities.push(Quantity::new(
            format!("{}: DRWA's RTT ÷ CUBIC's", carrier.name),
            "",
            Claim::at_most(0.8, 1.0),
            move |sample| sample.rtt(&drwa) / sample.rtt(&cubic),
        ));
    }
    Figure {
        id: "fig-6",
        title: "Vegas, CUBIC, CUBIC with DRWA (IMC: Fig. 19)",
        claim: "Vegas has the lowest RTT and loses much throughput; DRWA has CUBIC's throughput at a much \
                lower RTT.",
        method: "",
        cases: carriers
            .into_iter()
            .flat_map(downloads)
            .map(Download::case)
            .collect(),
        quantities,
        draw: Box::new(move |sample| {
            let groups = carriers.map(|c| c.name.to_owned());
            let series = ["Vegas", "CUBIC", "CUBIC with DRWA"];
            let name = |g: usize, s: usize| downloads(carriers[g])[s].name();
            vec![
                bars("Throughput", "Mbit/s", &groups, &series, |g, s| {
                    sample.goodput(&name(g, s))
                }),
                bars("RTT", "ms", &groups, &series, |g, s| {
                    sample.rtt(&name(g, s))
                }),
            ]
        }),
    }
}

const VEGAS: &str = "Vegas takes jitter for queue, and what it loses grows with the jitter that the radio's \
     retransmissions make: with 30 % of failed transmissions instead of 10 it would keep 88 % of CUBIC's \
     throughput on HSPA+, with 20 ms from one to the next as well 73 %. The report does not say how much \
     there was";
