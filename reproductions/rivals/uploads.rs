//! An upload with a call beside it, over every path with its directions exchanged.

use super::contenders::Rival;
use super::experiment::{self, Experiment, Waits};
use crate::tide::paths::Path;
use anyhow::Result;
use std::sync::Arc;
use tidegate_scenario::{Direction, Scenario};
use tidegate_study::Figure;

/// The figure.
///
/// # Errors
/// When a recording cannot be read.
pub fn figure(paths: &[Path]) -> Result<Figure> {
    let experiment = Arc::new(Experiment {
        subject: "upload",
        rivals: Rival::ALL.into(),
        paths: paths.into(),
        happens: upload_and_call,
        uploads: true,
        waits: Waits::Call,
    });
    Ok(Figure {
        id: "uploads",
        title: "An upload and a call",
        claim: "What holds of downloads holds of uploads.",
        method: "As for downloads, with the two directions exchanged: the recording, its buffer and what a rival does to them \
                 are the uplink's. tide steers at the sender, which is behind the link here.",
        cases: experiment.cases()?,
        quantities: experiment::beside_all(&experiment),
        draw: Box::new(move |sample| vec![experiment.plane(sample)]),
    })
}

fn upload_and_call(rival: Rival, _: &Path, scenario: &mut Scenario) {
    scenario.workloads = vec![rival.bulk(Direction::Up), experiment::call()];
}
