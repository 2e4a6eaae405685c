//! The first seconds of a download, beside a call.

use super::contenders::Rival;
use super::experiment::{self, Experiment, Waits};
use crate::tide::paths::Path;
use anyhow::Result;
use std::sync::Arc;
use tidegate_scenario::{Direction, Scenario, Workload};
use tidegate_study::Figure;

/// Length of the start, in seconds.
const START_S: f64 = 5.0;

/// When the download begins: the call, and probes of the link if any, are under way.
const FROM_S: f64 = 5.0;

/// The figure.
///
/// # Errors
/// When a recording cannot be read.
pub fn figure(paths: &[Path]) -> Result<Figure> {
    let experiment = Arc::new(Experiment {
        subject: "start",
        rivals: Rival::ALL.into(),
        paths: paths.into(),
        happens: start,
        uploads: false,
        waits: Waits::Call,
    });
    Ok(Figure {
        id: "starts",
        title: "The first five seconds of a download",
        claim: "A download begins as fast as with untouched Linux, and the call beside it waits less.",
        method: "As for downloads, but the download begins when the call is five seconds old, and the run ends five seconds later: \
                 these five count.",
        cases: experiment.cases()?,
        quantities: experiment::beside_all(&experiment),
        draw: Box::new(move |sample| vec![experiment.plane(sample)]),
    })
}

fn start(rival: Rival, _: &Path, scenario: &mut Scenario) {
    (scenario.duration_s, scenario.warmup_s) = (FROM_S + START_S, FROM_S);
    let download = Workload {
        start_s: FROM_S,
        ..rival.bulk(Direction::Down)
    };
    scenario.workloads = vec![download, experiment::call()];
}
