//! Fig. 10: the choice of λ.

use super::carriers::{ALL, Carrier, korea_ms};
use super::downloads::{Download, Phone};
use crate::pictures::lines;
use crate::radio::WEAK_DB;
use tidegate_study::{Claim, Figure, Quantity, Sample};

/// The λ tried; the fourth is the paper's choice.
const LAMBDAS: [f64; 6] = [1.0, 1.5, 2.0, 3.0, 4.0, 5.0];
const CHOSEN: usize = 3;

/// The figure.
pub fn figure() -> Figure {
    let all = || {
        ALL.into_iter()
            .flat_map(|c| LAMBDAS.map(|l| scenes(c, l)))
            .flatten()
    };
    let mut quantities = Vec::new();
    for carrier in ALL {
        quantities.push(Quantity::new(
            format!("{}: throughput with λ = 3 ÷ the best", carrier.name),
            "",
            Claim::at_least(0.95, 0.8),
            move |sample| {
                let best = LAMBDAS.map(|l| goodput(sample, carrier, l));
                goodput(sample, carrier, LAMBDAS[CHOSEN]) / best.into_iter().fold(0.0, f64::max)
            },
        ));
        quantities.push(Quantity::new(
            format!("{}: throughput with λ = 1 ÷ with λ = 3", carrier.name),
            "",
            Claim::at_most(0.95, 1.0),
            move |sample| {
                goodput(sample, carrier, LAMBDAS[0]) / goodput(sample, carrier, LAMBDAS[CHOSEN])
            },
        ));
        quantities.push(Quantity::new(
            format!("{}: RTT with λ = 3 ÷ with λ = 5", carrier.name),
            "",
            Claim::at_most(0.9, 1.0),
            move |sample| rtt(sample, carrier, LAMBDAS[CHOSEN]) / rtt(sample, carrier, LAMBDAS[5]),
        ));
    }
    Figure {
        id: "fig-10",
        title: "λ",
        claim: "λ = 3 balances throughput and RTT on all networks: less loses throughput, more adds delay only.",
        method: "Mean over three scenes: near server in good signal, near server in weak, server in Korea. The \
                 paper's fifth carrier, SK Telecom, is left out: the report prints no number of it.",
        cases: all().map(Download::case).collect(),
        quantities,
        draw: Box::new(|sample| {
            let names = ALL.map(|c| c.name);
            let x = ("λ", LAMBDAS.as_slice());
            vec![
                lines("Throughput ÷ with λ = 5", x, "", &names, |i, c| {
                    goodput(sample, ALL[c], LAMBDAS[i]) / goodput(sample, ALL[c], LAMBDAS[5])
                }),
                lines("RTT", x, "ms", &names, |i, c| {
                    rtt(sample, ALL[c], LAMBDAS[i])
                }),
            ]
        }),
    }
}

/// From local to remote, from good signal to weak (section 4.3).
fn scenes(carrier: &'static Carrier, lambda: f64) -> [Download; 3] {
    let near = Download::new(carrier, Phone::Drwa(lambda));
    [
        near.clone(),
        near.clone().signal(vec![[0.0, WEAK_DB]]),
        near.rtt(carrier.near_ms() + korea_ms()),
    ]
}

fn goodput(sample: &Sample, carrier: &'static Carrier, lambda: f64) -> f64 {
    mean(carrier, lambda, |name| sample.goodput(name))
}

fn rtt(sample: &Sample, carrier: &'static Carrier, lambda: f64) -> f64 {
    mean(carrier, lambda, |name| sample.rtt(name))
}

fn mean(carrier: &'static Carrier, lambda: f64, read: impl Fn(&str) -> f64) -> f64 {
    let values = scenes(carrier, lambda).map(|download| read(&download.name()));
    values.iter().sum::<f64>() / values.len() as f64
}
