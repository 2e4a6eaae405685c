//! Pages, alone and beside a download.

use super::contenders::Rival;
use super::experiment::{self, Experiment, Waits};
use crate::tide::paths::Path;
use crate::workloads::median_page;
use anyhow::Result;
use std::sync::Arc;
use tidegate_scenario::{Direction, Scenario, Workload};
use tidegate_study::{Claim, Figure, Quantity};

/// Slower links, in Mbit/s, cannot carry such pages under any contender.
const LEAST_MBPS: f64 = 1.0;

/// Long enough for several pages. In seconds.
const DURATION_S: f64 = 180.0;

/// When the first page is requested and the run begins to count; the download is under way by then.
const FROM_S: f64 = 10.0;

/// From the end of a page to the next request, in seconds.
const PAUSE_S: f64 = 5.0;

/// The figure.
///
/// # Errors
/// When a recording cannot be read.
pub fn figure(paths: &[Path]) -> Result<Figure> {
    let paths: Vec<Path> = paths
        .iter()
        .filter(|path| path.mean_mbps >= LEAST_MBPS)
        .cloned()
        .collect();
    let experiment = |subject, rivals, happens| {
        Arc::new(Experiment {
            subject,
            rivals,
            paths: paths.clone(),
            happens,
            uploads: false,
            waits: Waits::Page {
                all_s: DURATION_S - FROM_S,
                pause_s: PAUSE_S,
            },
        })
    };
    // Sprout carries no pages.
    let of_pages = Rival::ALL.into_iter().filter(|&r| r != Rival::Sprout);
    let alone = experiment("pages", of_pages.collect(), alone);
    let beside = experiment("pages and a download", Rival::ALL.into(), beside_download);
    let mut cases = alone.cases()?;
    cases.extend(beside.cases()?);
    let mut quantities = alone_quantities(&alone);
    quantities.extend(experiment::beside_all(&beside));
    Ok(Figure {
        id: "pages",
        title: "Pages, alone and beside a download",
        claim: "Beside a download a page comes sooner than with any rival that the receiver's side can have, and alone no later \
                than with untouched Linux.",
        method: "Three minutes over links of at least 1 Mbit/s. A page is the median home page of the HTTP Archive (Web Almanac \
                 2024), 1.9 MB in 55 objects over six connections, and the next one follows 5 s later. The mean time of a \
                 page is that of loading divided by the number of pages that came.",
        cases,
        quantities,
        draw: Box::new(move |sample| vec![beside.plane(sample)]),
    })
}

fn pages() -> Workload {
    Workload {
        start_s: FROM_S,
        ..Workload::new("page", median_page(PAUSE_S))
    }
}

fn alone(_: Rival, _: &Path, scenario: &mut Scenario) {
    (scenario.duration_s, scenario.warmup_s) = (DURATION_S, FROM_S);
    scenario.workloads = vec![pages()];
}

fn beside_download(rival: Rival, _: &Path, scenario: &mut Scenario) {
    (scenario.duration_s, scenario.warmup_s) = (DURATION_S, FROM_S);
    scenario.workloads = vec![rival.bulk(Direction::Down), pages()];
}

/// Without a download nothing else is carried, so page times say everything.
fn alone_quantities(experiment: &Arc<Experiment>) -> Vec<Quantity> {
    let rivals = experiment
        .rivals
        .iter()
        .filter(|&&rival| rival != Rival::Linux);
    rivals
        .map(|&rival| {
            let experiment = experiment.clone();
            Quantity::new(
                format!("{}: time of a page alone ÷ untouched Linux's", rival.name()),
                "",
                Claim::at_most(1.03, 2.0),
                move |s| {
                    let ours = |rival| experiment.ratio(s, rival, |o| o.wait_ms, |_| true);
                    ours(Rival::Linux) / ours(rival)
                },
            )
            .because(rival.trades())
        })
        .collect()
}
