//! A rate that falls and rises, and a route that becomes longer and shorter, during a download and a call.

use super::contenders::Rival;
use super::experiment::{self, Experiment, Waits};
use crate::tide::links::Link;
use crate::tide::paths::{self, Path};
use anyhow::Result;
use std::sync::Arc;
use tidegate_scenario::{DelayStep, Direction, RateSpec, Scenario};
use tidegate_study::{Extent, Figure, Quantity};

/// The path changes at the first of these seconds, and returns at the second.
const CHANGES_S: [f64; 2] = [20.0, 40.0];

/// Rates before and between the changes, in Mbit/s.
const RATES_MBPS: [[f64; 2]; 4] = [[10.0, 2.0], [20.0, 5.0], [50.0, 5.0], [100.0, 20.0]];

/// Rates of links whose route changes, in Mbit/s, and the change of the base RTT, in milliseconds.
const STEADY_MBPS: [f64; 2] = [10.0, 50.0];
const ROUTE_MS: f64 = 100.0;

const RTTS_MS: [u32; 3] = [20, 50, 150];
const QUICK_RTTS_MS: [u32; 1] = [50];

/// The figure.
///
/// # Errors
/// When a link makes no sense.
pub fn figure(extent: &Extent) -> Result<Figure> {
    let rtts: &[u32] = match extent.quick {
        true => &QUICK_RTTS_MS,
        false => &RTTS_MS,
    };
    let rates = experiment(
        "rate",
        paths::over(RATES_MBPS.map(stepped), rtts)?,
        download_and_call,
    );
    let routes = experiment(
        "route",
        paths::over(STEADY_MBPS.map(Link::constant), rtts)?,
        route,
    );
    let mut cases = rates.cases()?;
    cases.extend(routes.cases()?);
    let experiments = [("rate", rates.clone()), ("route", routes.clone())];
    Ok(Figure {
        id: "changes",
        title: "Changes of rate and route",
        claim: "No rival carries more and waits less over a path that changes.",
        method: "A minute of a download and a call. The rate falls to a fifth or so at 20 s and rises again at 40 s, of 10, 20, 50 \
                 and 100 Mbit/s; the base RTT is 100 ms longer between 20 and 40 s, over 10 and 50 Mbit/s. Base RTTs of 20, 50 and \
                 150 ms. The call's delay is the 95th percentile of its round trips, so that a twentieth of the time after \
                 a change may be anything.",
        cases,
        quantities: experiments.iter().flat_map(quantities).collect(),
        draw: Box::new(move |sample| vec![rates.plane(sample), routes.plane(sample)]),
    })
}

fn experiment(
    subject: &'static str,
    paths: Vec<Path>,
    happens: fn(Rival, &Path, &mut Scenario),
) -> Arc<Experiment> {
    Arc::new(Experiment {
        subject,
        rivals: Rival::ALL.into(),
        paths,
        happens,
        uploads: false,
        waits: Waits::Call,
    })
}

fn quantities((subject, experiment): &(&'static str, Arc<Experiment>)) -> Vec<Quantity> {
    let mut quantities = experiment::beside_all(experiment);
    for quantity in &mut quantities {
        quantity.name = format!("{subject}: {}", quantity.name);
    }
    quantities
}

/// A link with the first rate, then the second for a while, then the first again.
fn stepped([usual, between]: [f64; 2]) -> Link {
    let [from, to] = CHANGES_S;
    let steps = vec![[0.0, usual], [from, between], [to, usual]];
    Link::new(
        format!("{usual}, {between}, {usual} Mbit/s"),
        RateSpec::Steps(steps),
    )
}

fn download_and_call(rival: Rival, _: &Path, scenario: &mut Scenario) {
    scenario.workloads = vec![rival.bulk(Direction::Down), experiment::call()];
}

/// Adds half of the change to either direction.
fn route(rival: Rival, path: &Path, scenario: &mut Scenario) {
    download_and_call(rival, path, scenario);
    let [from, to] = CHANGES_S;
    for link in [&mut scenario.down, &mut scenario.up] {
        let step = |at_s, more_ms| DelayStep {
            at_s,
            ms: link.delay_ms + more_ms,
        };
        link.delay_steps = vec![step(from, ROUTE_MS / 2.0), step(to, 0.0)];
    }
}
