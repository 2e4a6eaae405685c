//! Fig. 5.7: a hundred web pages beside an upload.

use super::carriers::{self, Place};
use super::experiments::{BESIDE_S, Experiment, Steered, share, upload};
use super::pages::pages;
use super::sets::{Set, cases};
use crate::pictures::cumulative;
use tidegate_report::plot::{Axis, Scale};
use tidegate_scenario::{RunResult, Workload, WorkloadKind};
use tidegate_study::{Claim, Extent, Figure, Quantity, Sample};

/// Pages; as a quick sample.
const PAGES: usize = 100;
const QUICK_PAGES: usize = 20;

/// Longest duration of a page, in seconds.
const PATIENCE_S: f64 = 400.0;

/// Why some pages take long even alone.
const LARGE: &str = "one page in seven has more than 3 MB, as the HTTP Archive's pages are spread: 17 to 24 s of transmission at 1 to \
     1.4 Mbit/s, before any round trip. The hundred most visited ones seem to differ less";

/// Why our pages come sooner than the thesis's.
const CHAINS: &str = "over 25 connections at once a page takes 15 round trips, of 4 s in the median. Names to be looked up, redirects and \
     objects that ask for others, which theirs have and ours do not, take one more each: with 6 connections it is 20 and \
     38 % above 2 minutes, with 4 it is 28 and 50 %";

/// The pages of the figure.
#[derive(Clone)]
struct Surfing {
    alone: Set,
    cubic: Set,
    rsfc: Set,
}

/// The figure.
pub fn figure(extent: &Extent) -> Figure {
    let surfing = surfing(if extent.quick { QUICK_PAGES } else { PAGES });
    let Surfing { alone, cubic, rsfc } = &surfing;
    Figure {
        id: "fig-5.7",
        title: "A hundred web pages beside an upload",
        claim: "Without an upload 90 % of the pages take less than 30 s; beside CUBIC's 70 % take more than 2 minutes; \
                beside RSFC's 70 % take less than 30 s and 90 % less than 1 minute.",
        method: "Pages as the top 100 of July 2014 were: 90 requests of 750 bytes and 1612 kB on average, spread as in the HTTP \
                 Archive, over 25 connections. Each page is loaded at a place of its own, 20 s after the upload \
                 began, and waited for for 400 s.",
        cases: cases([alone, cubic, rsfc]),
        quantities: quantities(&surfing),
        draw: Box::new(move |sample| {
            vec![cumulative(
                "Time to load a page",
                Axis::new("s", Scale::FromZero).within(0.0, PATIENCE_S),
                vec![
                    ("beside CUBIC".into(), loaded_s(&surfing.cubic, sample)),
                    ("beside RSFC".into(), loaded_s(&surfing.rsfc, sample)),
                    ("alone".into(), loaded_s(&surfing.alone, sample)),
                ],
            )]
        }),
    }
}

fn surfing(count: usize) -> Surfing {
    // An order independent of the pages' sizes: a stride without a common divisor with the number of places.
    let ordered = carriers::A.places(count);
    let places: Vec<Place> = (0..count)
        .map(|nth| ordered[nth * 37 % count].clone())
        .collect();
    let set = |steered: Option<Steered>| {
        let mut pages = pages(count).into_iter();
        Set::new(&places, |place| {
            page(place, pages.next().expect("a page for each place"), steered)
        })
    };
    Surfing {
        alone: set(None),
        cubic: set(Some(Steered::Untouched)),
        rsfc: set(Some(Steered::Rsfc)),
    }
}

/// A page beside an upload, if there is one.
fn page(place: &Place, page: WorkloadKind, upload_by: Option<Steered>) -> Experiment {
    let page = Workload {
        start_s: BESIDE_S,
        ..Workload::new("page", page)
    };
    let (workloads, name) = match upload_by {
        Some(_) => (vec![upload(), page], "page beside an upload"),
        None => (vec![page], "page"),
    };
    let steered = upload_by.unwrap_or(Steered::Untouched);
    Experiment::new(place, "cubic", steered, BESIDE_S + PATIENCE_S, workloads).named(name)
}

/// Load time of each page, in seconds; infinite if it did not come.
fn loaded_s(set: &Set, sample: &Sample) -> Vec<f64> {
    let read = |run: &RunResult| match run.fetches.as_slice() {
        [page] if page.count > 0 => page.time_ms.mean / 1e3,
        _ => f64::INFINITY,
    };
    set.all(sample, read)
}

fn quantities(surfing: &Surfing) -> Vec<Quantity> {
    let quantity = |name: &str, claim, set: &Set, so: fn(f64) -> bool| {
        let set = set.clone();
        Quantity::new(name, "%", claim, move |sample| {
            share(&loaded_s(&set, sample), so)
        })
    };
    vec![
        quantity(
            "alone: pages within 30 s",
            Claim::at_least(90.0, 0.0),
            &surfing.alone,
            |s| s < 30.0,
        )
        .because(LARGE),
        quantity(
            "beside CUBIC: pages that take more than 2 minutes",
            Claim::at_least(70.0, 0.0),
            &surfing.cubic,
            |s| s > 120.0,
        )
        .because(CHAINS),
        quantity(
            "beside RSFC: pages within 30 s",
            Claim::at_least(70.0, 0.0),
            &surfing.rsfc,
            |s| s < 30.0,
        )
        .because(LARGE),
        quantity(
            "beside RSFC: pages within 1 minute",
            Claim::at_least(90.0, 0.0),
            &surfing.rsfc,
            |s| s < 60.0,
        ),
    ]
}
