//! Cellular links: Copa beside the paper's other senders.

use crate::means::{geometric_mean, mean};
use crate::tide::paths::{self, Path};
use anyhow::Result;
use std::sync::Arc;
use tidegate_scenario::{Law, QueuePolicy, Run};
use tidegate_study::{Case, Claim, Extent, Figure, Listing, Quantity, Sample};

/// The senders compared.
const CONTROLS: [&str; 3] = ["copa", "cubic", "bbr"];

/// Lower bound for mean delays, in ms: shorter ones count as this.
const FLOOR_MS: f64 = 0.5;

fn case(path: &Path, control: &str) -> Case {
    let mut run = Run::new(control, Law::None);
    run.congestion_control = Some(control.into());
    let mut scenario = path.scenario(QueuePolicy::DropTail, run);
    scenario.name = format!("{}, {control}", path.name);
    Case::new(scenario)
}

/// Mean use of the links, in percent, and the geometric mean of the mean queueing delays, in ms.
fn reached(sample: &Sample, paths: &[Path], control: &str) -> [f64; 2] {
    let cases: Vec<String> = paths.iter().map(|path| case(path, control).name).collect();
    let used = |case: &String| sample.mean(case, |run| 100.0 * run.link.utilisation);
    let waits = |case: &String| sample.mean(case, |run| run.link.queue_delay_ms.mean.max(FLOOR_MS));
    [
        mean(cases.iter().map(used)),
        geometric_mean(cases.iter().map(waits)),
    ]
}

/// The figure.
///
/// # Errors
/// When a recording cannot be read.
pub fn figure(extent: &Extent) -> Result<Figure> {
    let paths: Arc<[Path]> = paths::all(extent)?.into();
    let cases = paths
        .iter()
        .flat_map(|path| CONTROLS.map(|control| case(path, control)));
    let cases = cases.collect();
    let ratio = |nth: usize| {
        let paths = paths.clone();
        move |s: &Sample, other: &str| {
            reached(s, &paths, "copa")[nth] / reached(s, &paths, other)[nth]
        }
    };
    let [of_use, of_delay, beside_bbr] = [ratio(0), ratio(1), ratio(1)];
    let listed = paths.clone();
    Ok(Figure {
        id: "cells",
        title: "Cellular links",
        claim: "Copa has a throughput similar to CUBIC's, and a much shorter delay; BBR's delay is longer than Copa's.",
        method: "A download of a minute over each link and base round trip of `reproduce tide`: the generated cells, and with `--traces` \
                 every recording; the paper's own cellular runs are over recordings as well.",
        cases,
        quantities: vec![
            Quantity::new(
                "Copa's use of the links ÷ CUBIC's",
                "",
                Claim::at_least(0.8, 0.5),
                move |s| of_use(s, "cubic"),
            )
            .listing(move |s| Listing {
                title: "Over all paths".into(),
                heads: ["", "use of the link, %", "mean queueing delay, ms"]
                    .map(str::to_owned)
                    .into(),
                rows: CONTROLS
                    .iter()
                    .map(|control| {
                        let [used, waits] = reached(s, &listed, control);
                        vec![(*control).into(), used.into(), waits.into()]
                    })
                    .collect(),
            })
            .because(OUTAGES),
            Quantity::new(
                "Copa's mean delay ÷ CUBIC's",
                "",
                Claim::at_most(0.5, 1.0),
                move |s| of_delay(s, "cubic"),
            )
            .because(OUTAGES),
            Quantity::new(
                "Copa's mean delay ÷ BBR's",
                "",
                Claim::at_most(1.0, 1.5),
                move |s| beside_bbr(s, "bbr"),
            )
            .because(OUTAGES),
        ],
        draw: Box::new(|_| Vec::new()),
    })
}

const OUTAGES: &str = "where the rate falls to a fraction within a few round trips, the queue does not empty within five of them, and Copa \
                       takes the link's for a sender that fills the buffer: 1/δ grows until a loss, which a buffer of 2000 packets \
                       seldom has";
