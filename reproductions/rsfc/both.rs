//! Beyond the thesis: both directions of a modern phone's LTE link at once.

use super::carriers::{GALAXY_S3_LTE, KERNEL_PACKETS, PACKET_BYTES, device};
use super::experiments::{flow, kbps};
use crate::pictures::bars;
use crate::workloads::{bulk, median_page};
use tidegate_scenario::{
    CellKind, Direction, GenerateSpec, Law, LinkSpec, QueueSpec, RateSpec, Run, RunResult,
    Scenario, Workload,
};
use tidegate_study::{Case, Claim, Extent, Figure, Quantity, Sample};

/// Length of a run, and of its warm-up, in seconds.
const DURATION_S: f64 = 180.0;
const START_S: f64 = 10.0;

/// When the first page is requested, and the pause between pages, in seconds.
const PAGES_S: f64 = 15.0;
const PAUSE_S: f64 = 5.0;

/// As in `scenarios/lte-download.toml`.
const DELAY_MS: f64 = 25.0;
const DOWNLINK_PACKETS: usize = 2000;

/// The uplink of the same scenario, as a cell's, in Mbit/s.
const UPLINK_MBPS: f64 = 5.0;

/// Makes the uplink's fading independent of the downlink's.
const UPLINK_SEED: u64 = 1000;

/// The contenders.
const LABELS: [&str; 4] = ["Linux", "tide, downloads alone", "tide", "rsfc"];
const LINUX: usize = 0;
const DOWN: usize = 1;
const TIDE: usize = 2;
const RSFC: usize = 3;

/// Why tide's upload carries less than Linux's.
const LEAST_LAG: &str = "the upload's window is for the least round trip of late. While the downlink's queue holds its ACKs, it has less than \
     the uplink carries; counting that queue in would let the two directions' queues lengthen each other";

/// Why RSFC leaves some capacity unused.
const BASE: &str = "its windows are for RTTmin, and the round trip holds the other direction's queue, too. Alone each direction has 86 to \
     91 % of what Linux has";

/// The figure.
pub fn figure(_extent: &Extent) -> Figure {
    Figure {
        id: "both",
        title: "Both directions of an LTE link at once",
        claim: "Beyond the thesis: bulk up, bulk down and web pages at once. With the defaults the phone steers both directions: \
                pages come in half the time, both queues are short, nothing is lost.",
        method: "The link of scenarios/lte-download.toml, with an uplink that is an LTE cell of 5 Mbit/s, 400 KB before the radio and \
                 1000 packets in the kernel (Table 4.2). The kernel's queue hands over as soon as there is room, so \
                 both together are one. A page is the median home page of 2024, the next one 5 s after it.",
        cases: (0..LABELS.len()).map(case).collect(),
        quantities: quantities(),
        draw: Box::new(|sample| {
            let picture =
                |title: &str, unit: &str, groups: &[&str], value: &dyn Fn(usize, &str) -> f64| {
                    let groups: Vec<String> = groups.iter().map(ToString::to_string).collect();
                    bars(title, unit, &groups, &LABELS, |g, s| value(g, LABELS[s]))
                };
            vec![
                picture("Goodput", "Mbit/s", &["download", "upload"], &|g, case| {
                    goodput(sample, case, FLOWS[g])
                }),
                picture(
                    "RTT, 95th percentile",
                    "ms",
                    &["download", "upload"],
                    &|g, case| rtt_ms(sample, case, FLOWS[g]),
                ),
                picture("Time to load a page", "s", &["mean"], &|_, case| {
                    page_s(sample, case)
                }),
            ]
        }),
    }
}

const FLOWS: [&str; 2] = ["download", "upload"];

fn quantities() -> Vec<Quantity> {
    let over_linux = |name: &str, claim, contender: usize, read: fn(&Sample, &str) -> f64| {
        let name = format!("{}: {name} ÷ Linux's", LABELS[contender]);
        let quantity = Quantity::new(name, "", claim, move |sample| {
            read(sample, LABELS[contender]) / read(sample, LABELS[LINUX])
        });
        quantity.because(if contender == RSFC { BASE } else { LEAST_LAG })
    };
    let mut quantities = Vec::new();
    for contender in [TIDE, RSFC] {
        quantities.extend([
            over_linux(
                "time of a page",
                Claim::at_most(0.5, 1.0),
                contender,
                page_s,
            ),
            over_linux(
                "RTT of the download, 95th percentile",
                Claim::at_most(0.25, 1.0),
                contender,
                |sample, case| rtt_ms(sample, case, "download"),
            ),
            over_linux(
                "RTT of the upload, 95th percentile",
                Claim::at_most(0.25, 1.0),
                contender,
                |sample, case| rtt_ms(sample, case, "upload"),
            ),
            over_linux(
                "goodput of the download",
                Claim::at_least(0.95, 0.5),
                contender,
                |sample, case| goodput(sample, case, "download"),
            ),
            over_linux(
                "goodput of the upload",
                Claim::at_least(0.95, 0.5),
                contender,
                |sample, case| goodput(sample, case, "upload"),
            ),
        ]);
    }
    quantities
}

fn case(contender: usize) -> Case {
    let name = LABELS[contender];
    let law = match contender {
        LINUX => Law::None,
        RSFC => Law::Rsfc,
        _ => Law::Tide,
    };
    let pages = Workload {
        start_s: PAGES_S,
        ..Workload::new("page", median_page(PAUSE_S))
    };
    let downlink = QueueSpec {
        packets: Some(DOWNLINK_PACKETS),
        ..QueueSpec::default()
    };
    let down = lte(None, None, downlink);
    let up = lte(
        Some(UPLINK_MBPS),
        Some(UPLINK_SEED),
        device(GALAXY_S3_LTE + KERNEL_PACKETS * PACKET_BYTES),
    );
    let workloads = vec![
        bulk("download", Direction::Down, None, 1),
        bulk("upload", Direction::Up, None, 1),
        pages,
    ];
    let run = Run {
        uploads: (contender == DOWN).then_some(false),
        ..Run::new(name, law)
    };
    Case::new(Scenario {
        warmup_s: START_S,
        ..Scenario::new(name, DURATION_S, [down, up], workloads, vec![run])
    })
}

fn lte(mean_mbps: Option<f64>, seed: Option<u64>, queue: QueueSpec) -> LinkSpec {
    let rate = RateSpec::Generate(GenerateSpec {
        kind: CellKind::Lte,
        mean_mbps,
        seed,
    });
    LinkSpec {
        queue,
        ..LinkSpec::new(rate, DELAY_MS)
    }
}

/// In Mbit/s.
fn goodput(sample: &Sample, case: &str, name: &str) -> f64 {
    sample.mean(case, |run| kbps(run, name) / 1e3)
}

fn rtt_ms(sample: &Sample, case: &str, name: &str) -> f64 {
    sample.mean(case, |run| flow(run, name).rtt_ms.p95)
}

/// Time spent loading pages, over the number of pages that came.
fn page_s(sample: &Sample, case: &str) -> f64 {
    sample.mean(case, |run: &RunResult| {
        let count: u64 = run.fetches.iter().map(|page| page.count).sum();
        (DURATION_S - PAGES_S - count as f64 * PAUSE_S) / count.max(1) as f64
    })
}
