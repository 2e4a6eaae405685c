//! Beyond the thesis's figures: its Fig. 5.3, a proxy with RSFC that many phones upload to.

use super::carriers::{self, DELAY_MS, HTC_DESIRE, device};
use super::experiments::{Steered, kbps, median, rtt_s, share};
use crate::means::least;
use crate::pictures::cumulative;
use crate::workloads::bulk;
use tidegate_report::plot::{Axis, Scale};
use tidegate_reproduce::{Case, Claim, Extent, Figure, Quantity, Sample};
use tidegate_scenario::{
    Direction, Hop, Hosts, LinkSpec, RateSpec, RunResult, Scenario, Side, Workload,
};

/// Phones; as a quick sample.
const PHONES: usize = 200;
const QUICK_PHONES: usize = 40;

/// How long they upload, and of that what does not count, in seconds.
const DURATION_S: f64 = 120.0;
const START_S: f64 = 30.0;

/// What all of them share, in Mbit/s: never the bottleneck.
const CORE_MBPS: f64 = 1000.0;

/// "Close to 1 s".
const CLOSE_S: f64 = 1.25;

/// The figure.
pub fn figure(extent: &Extent) -> Figure {
    let phones = if extent.quick { QUICK_PHONES } else { PHONES };
    let [untouched, rsfc] = [Steered::Untouched, Steered::Rsfc].map(|by| case(by, phones));
    let names = [untouched.name.clone(), rsfc.name.clone()];
    let quantity = |name: &str, unit, claim, read: fn(&Sample, [&str; 2]) -> f64| {
        let [untouched, rsfc] = names.clone();
        Quantity::new(name, unit, claim, move |sample| {
            read(sample, [&untouched, &rsfc])
        })
    };
    let quantities = vec![
        quantity(
            "uploads with an RTT close to 1 s",
            "%",
            Claim::at_least(90.0, 0.0),
            |sample, [_, rsfc]| share(&rtts_s(sample, rsfc), |s| s < CLOSE_S),
        ),
        quantity(
            "RTT ÷ untouched, median",
            "",
            Claim::at_most(1.0 / 6.0, 1.0),
            |sample, [untouched, rsfc]| median(ratios(sample, rtt_s, [untouched, rsfc])),
        ),
        quantity(
            "throughput ÷ untouched, least",
            "",
            Claim::at_least(0.95, 0.5),
            |sample, [untouched, rsfc]| least(ratios(sample, kbps, [untouched, rsfc]).into_iter()),
        ),
    ];
    Figure {
        id: "proxy",
        title: "200 uploads through a proxy",
        claim: "RSFC is deployed for an entire network at its proxy (Fig. 5.3), and treats each upload as if it were alone.",
        method: "200 phones (40 as a quick sample), each with a constant uplink of its own, spread as ISP A's, and 64 KB before it.",
        cases: vec![untouched, rsfc],
        quantities,
        draw: Box::new(move |sample| {
            let series = ["untouched", "RSFC"].into_iter().zip(&names);
            vec![cumulative(
                "RTT of the uploads",
                Axis::new("s", Scale::FromZero),
                series
                    .map(|(label, case)| (label.into(), rtts_s(sample, case)))
                    .collect(),
            )]
        }),
    }
}

fn case(by: Steered, phones: usize) -> Case {
    let name = format!("{phones} phones, {}", by.name());
    let uplinks = carriers::A.places(phones).into_iter().enumerate();
    let core = LinkSpec::new(RateSpec::ConstantMbps(CORE_MBPS), DELAY_MS);
    let scenario = Scenario {
        name: name.clone(),
        description: String::new(),
        duration_s: DURATION_S,
        warmup_s: START_S,
        seed: 1,
        down: core.clone(),
        up: core,
        hops: uplinks
            .map(|(nth, at)| uplink(nth, at.uplink_kbps))
            .collect(),
        hosts: Hosts::default(),
        workloads: (0..phones).map(upload).collect(),
        runs: vec![by.run()],
    };
    Case {
        name,
        scenario,
        curves: Vec::new(),
    }
}

fn phone(nth: usize) -> String {
    format!("phone {nth}")
}

/// A phone's radio.
fn uplink(nth: usize, kbps: f64) -> Hop {
    Hop {
        name: phone(nth),
        direction: Direction::Up,
        side: Side::Client,
        link: LinkSpec {
            queue: device(HTC_DESIRE),
            ..LinkSpec::new(RateSpec::ConstantMbps(kbps / 1e3), 0.0)
        },
    }
}

/// What a phone sends, over its own radio.
fn upload(nth: usize) -> Workload {
    let links = ["down", "up"].map(String::from).into_iter();
    Workload {
        links: Some(links.chain([phone(nth)]).collect()),
        ..bulk(&format!("upload {nth}"), Direction::Up, None, 1)
    }
}

/// What `read` finds of each upload in each run.
fn each(sample: &Sample, case: &str, read: fn(&RunResult, &str) -> f64) -> Vec<f64> {
    let flows = |run| names(run).map(move |flow| read(run, flow));
    sample.runs(case).flat_map(flows).collect()
}

fn names(run: &RunResult) -> impl Iterator<Item = &str> {
    run.flows.iter().map(|flow| flow.name.as_str())
}

fn rtts_s(sample: &Sample, case: &str) -> Vec<f64> {
    each(sample, case, rtt_s)
}

/// With RSFC ÷ untouched, of each upload.
fn ratios(sample: &Sample, read: fn(&RunResult, &str) -> f64, cases: [&str; 2]) -> Vec<f64> {
    let [untouched, rsfc] = cases.map(|case| each(sample, case, read));
    super::experiments::ratios(&rsfc, &untouched)
}
