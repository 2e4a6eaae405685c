//! Beyond the thesis's figures: the setup of its Fig. 5.3, a proxy with RSFC to which many phones upload.

use super::carriers::{self, DELAY_MS, HTC_DESIRE, device};
use super::experiments::{Steered, median, ratios, rtt_s, share};
use crate::means::least;
use crate::pictures::cumulative;
use crate::workloads::bulk;
use tidegate_report::plot::{Axis, Scale};
use tidegate_scenario::{Direction, Hop, LinkSpec, RateSpec, RunResult, Scenario, Side, Workload};
use tidegate_study::{Case, Claim, Extent, Figure, Quantity, Sample};

/// Phones; as a quick sample.
const PHONES: usize = 200;
const QUICK_PHONES: usize = 40;

/// Length of the uploads, and of the warm-up, in seconds.
const DURATION_S: f64 = 120.0;
const START_S: f64 = 30.0;

/// Rate of the link that all share, in Mbit/s: never the bottleneck.
const CORE_MBPS: f64 = 1000.0;

/// "Close to 1 s".
const CLOSE_S: f64 = 1.25;

/// Why some uplinks are idle at times.
const HALVED: &str = "from 57 to 66 kbit/s. The first ten segments are a queue of 2 s, which is doubted while it drains, and RTTmin is halved \
     (case (b) of section 5.1.3). From then on slow and fast alternate packet by packet, no cycle lasts for the round trip \
     over which rho is measured, so nothing is taken for an increase, and RTTmin stays halved: 165 ms of 323";

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
            |sample, [untouched, rsfc]| {
                median(ratios(&rtts_s(sample, rsfc), &rtts_s(sample, untouched)))
            },
        ),
        quantity(
            "share of its uplink that an upload uses, least",
            "%",
            Claim::at_least(95.0, 50.0),
            |sample, [_, rsfc]| {
                let uplinks = sample.runs(rsfc).flat_map(|run| &run.hops);
                least(uplinks.map(|uplink| uplink.link.utilisation * 100.0))
            },
        )
        .because(HALVED),
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
    let places = carriers::A.places(phones).into_iter().enumerate();
    let uplinks = places.map(|(nth, at)| uplink(nth, at.uplink_kbps));
    let core = LinkSpec::new(RateSpec::ConstantMbps(CORE_MBPS), DELAY_MS);
    let links = [core.clone(), core];
    let uploads = (0..phones).map(upload).collect();
    Case::new(Scenario {
        warmup_s: START_S,
        hops: uplinks.collect(),
        ..Scenario::new(name, DURATION_S, links, uploads, vec![by.run()])
    })
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

/// The RTT of each upload in each run, in seconds.
fn rtts_s(sample: &Sample, case: &str) -> Vec<f64> {
    let flows = |run: &RunResult| -> Vec<f64> {
        let names = run.flows.iter().map(|flow| &flow.name);
        names.map(|name| rtt_s(run, name)).collect()
    };
    sample.runs(case).flat_map(flows).collect()
}
