//! A download by CUBIC and one by BBR beside each other, with a call.

use super::contenders::Rival;
use super::experiment::{self, Experiment, Waits};
use crate::means::mean;
use crate::tide::paths::Path;
use crate::workloads::bulk;
use anyhow::Result;
use std::sync::Arc;
use tidegate_report::jain;
use tidegate_scenario::{Direction, RunResult, Scenario, Workload};
use tidegate_study::{Claim, Figure, Listing, Quantity, Sample};

/// The two senders.
const SENDERS: [&str; 2] = ["cubic", "bbr"];

/// The figure.
///
/// # Errors
/// When a recording cannot be read.
pub fn figure(paths: &[Path]) -> Result<Figure> {
    let rivals = Rival::ALL.into_iter().filter(|rival| !rival.is_sender());
    let experiment = Arc::new(Experiment {
        subject: "cubic and bbr",
        rivals: rivals.collect(),
        paths: paths.into(),
        happens: both_and_call,
        uploads: false,
        waits: Waits::Call,
    });
    Ok(Figure {
        id: "senders",
        title: "CUBIC and BBR beside each other",
        claim: "Steered, a CUBIC sender and a BBR sender share a link more evenly than by themselves.",
        method: "As for downloads, with two of them, one of each sender. Rivals that are senders themselves are left out.",
        cases: experiment.cases()?,
        quantities: quantities(&experiment),
        draw: Box::new(move |sample| vec![experiment.plane(sample)]),
    })
}

fn both_and_call(_: Rival, _: &Path, scenario: &mut Scenario) {
    let download = |sender: &str| Workload {
        congestion_control: Some(sender.into()),
        ..bulk(sender, Direction::Down, None, 1)
    };
    scenario.workloads = SENDERS.map(download).into();
    scenario.workloads.push(experiment::call());
}

fn quantities(experiment: &Arc<Experiment>) -> Vec<Quantity> {
    let [one, other, listed] = [experiment.clone(), experiment.clone(), experiment.clone()];
    let mut quantities = vec![
        Quantity::new(
            "tide: Jain's index of the two, mean",
            "",
            Claim::at_least(0.9, 0.5),
            move |s| even(s, &one, Rival::Tide),
        )
        .listing(move |s| parts(s, &listed)),
        Quantity::new(
            "Jain's index of the two, tide less untouched Linux",
            "",
            Claim::at_least(0.0, -0.5),
            move |s| even(s, &other, Rival::Tide) - even(s, &other, Rival::Linux),
        ),
    ];
    quantities.extend(experiment::beside_all(experiment));
    quantities
}

fn goodputs(run: &RunResult) -> [f64; 2] {
    SENDERS.map(|sender| {
        let flow = run.flows.iter().find(|flow| flow.name == sender);
        flow.map_or(0.0, |flow| flow.goodput_bps)
    })
}

/// Jain's index of the two, mean over the paths.
fn even(sample: &Sample, experiment: &Experiment, rival: Rival) -> f64 {
    let of = |path: &Path| {
        sample.mean(&experiment.case_name(rival, path), |run| {
            jain(&goodputs(run)).unwrap_or(0.0)
        })
    };
    mean(experiment.paths.iter().map(of))
}

/// CUBIC's share of both goodputs, in percent, mean over the paths.
fn cubics_part(sample: &Sample, experiment: &Experiment, rival: Rival) -> f64 {
    let of = |path: &Path| {
        sample.mean(&experiment.case_name(rival, path), |run| {
            let [cubic, bbr] = goodputs(run);
            100.0 * cubic / (cubic + bbr).max(1.0)
        })
    };
    mean(experiment.paths.iter().map(of))
}

/// Each sender's share, by contender.
fn parts(sample: &Sample, experiment: &Experiment) -> Listing {
    let row = |&rival: &Rival| {
        vec![
            rival.name().into(),
            cubics_part(sample, experiment, rival).into(),
            even(sample, experiment, rival).into(),
        ]
    };
    Listing {
        title: "How the two share, mean over all paths".into(),
        heads: ["", "CUBIC's part, %", "Jain's index"]
            .map(str::to_owned)
            .into(),
        rows: experiment.rivals.iter().map(row).collect(),
    }
}
