//! Links that play recordings, with known buffers.

use super::buffers::{CURVES, FEW_LOSSES};
use super::links::{Carries, DOWNLINKS, Kind, Known, Truth, UPLINKS};
use super::read::numbers;
use crate::pictures::bars;
use crate::tide::links::recordings;
use anyhow::Result;
use std::path::Path;
use std::sync::Arc;
use tidegate_scenario::RateSpec;
use tidegate_study::{Case, Claim, Figure, Quantity, Sample};

/// One buffer of each kind, of a size that the recordings can fill.
const BUFFERS: [Truth; 4] = [DOWNLINKS[3], DOWNLINKS[2], UPLINKS[2], DOWNLINKS[1]];

/// The figure, of every packet trace in that folder.
///
/// # Errors
/// When the folder cannot be read.
pub fn figure(folder: &Path) -> Result<Figure> {
    let links = recordings(folder)?.into_iter();
    // A rate series has a rate each second, not packets.
    let traces = links.filter(|link| matches!(link.rate, RateSpec::Trace(_)));
    let cases: Vec<(Truth, Case)> = traces
        .flat_map(|link| BUFFERS.map(|truth| (truth, case(truth, &link.name, &link.rate))))
        .collect();
    let known: Arc<[(Truth, String)]> = cases.iter().map(|(t, c)| (*t, c.name.clone())).collect();
    let mut quantities = Vec::new();
    for truth in BUFFERS {
        let names = of(&known, truth);
        let again = names.clone();
        quantities.push(Quantity::new(
            format!("{}: told", truth.kind.words()),
            "%",
            Claim::at_least(100.0, 50.0),
            move |sample| share(sample, &names, "kind", |code| is(code, truth.kind)),
        ));
        quantities.push(
            Quantity::new(
                format!("{}: size within 10 %", truth.kind.words()),
                "%",
                Claim::at_least(100.0, 50.0),
                move |sample| {
                    share(sample, &again, "size", |size| {
                        (size / truth.size - 1.0).abs() <= 0.1
                    })
                },
            )
            .because(FEW_LOSSES),
        );
    }
    Ok(Figure {
        id: "recorded",
        title: "Recorded links",
        claim: "Unit and policy right in every one, size within 10 %.",
        method: "The recordings in the folder that --traces names, each with a buffer of every kind; the round trip is 60 ms.",
        cases: cases.into_iter().map(|(_, case)| case).collect(),
        quantities,
        draw: Box::new(move |sample| {
            let names: Vec<String> = BUFFERS.map(|t| t.kind.words().into()).into();
            let mut taken: Vec<&str> = Kind::ALL.iter().map(|k| k.words()).collect();
            taken.push("neither");
            vec![bars(
                "Recorded links by what they are, and are taken for",
                "links",
                &names,
                &taken,
                |nth, as_what| {
                    let codes = of(&known, BUFFERS[nth]).into_iter();
                    let codes = codes.flat_map(|name| numbers(sample, &name, "kind"));
                    codes
                        .filter(|&code| code as usize == as_what && !code.is_nan())
                        .count() as f64
                },
            )]
        }),
    })
}

fn case(truth: Truth, recording: &str, rate: &RateSpec) -> Case {
    let known = Known {
        test: "recorded",
        truth,
        carries: Carries::Smoothly,
        mbps: 1.0,
        rtt_ms: 60.0,
    };
    let mut case = known.case(&CURVES);
    case.name = format!("recorded: {recording}, {}", truth.name);
    case.scenario.name.clone_from(&case.name);
    case.scenario.down.rate = rate.clone();
    case
}

/// The names of the cases with that buffer.
fn of(known: &[(Truth, String)], truth: Truth) -> Vec<String> {
    let these = known.iter().filter(|(is, _)| *is == truth);
    these.map(|(_, name)| name.clone()).collect()
}

fn is(code: f64, kind: Kind) -> bool {
    !code.is_nan() && Kind::ALL.get(code as usize) == Some(&kind)
}

/// Share of the runs in which `holds` is true, in %; a value that was not found does not hold.
fn share(sample: &Sample, names: &[String], quantity: &str, holds: impl Fn(f64) -> bool) -> f64 {
    let found: Vec<f64> = names
        .iter()
        .flat_map(|name| numbers(sample, name, quantity))
        .collect();
    let right = found.iter().filter(|&&value| holds(value)).count();
    100.0 * right as f64 / found.len() as f64
}
