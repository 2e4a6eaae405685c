//! `tide` against DRWA (λ = 3) in the packet model, over every available link: the shipped generators always, recorded
//! traces where they exist. `--nocapture` prints the table.

mod model;

use model::{Model, Outcome, Source, deep};
use std::path::Path;
use std::time::Duration;
use tidegate_laws::{Law, Params};
use tidegate_link::{CellKind, CellModel, Rate, Trace};
use tidegate_testing::skipped;

const BASE_RTTS_MS: [u64; 4] = [20, 50, 100, 250];

/// Recorded traces beside the project; not part of it.
const RECORDED: &str = "../../../shared/traces";
const RECORDINGS: [&str; 8] = [
    "mahimahi/ATT-LTE-driving-2016.down",
    "mahimahi/ATT-LTE-driving.down",
    "mahimahi/TMobile-LTE-driving.down",
    "mahimahi/TMobile-LTE-short.down",
    "mahimahi/Verizon-LTE-short.down",
    "mahimahi/TMobile-UMTS-driving.down",
    "mahimahi/Verizon-EVDO-driving.down",
    "starlink/leocc-starlink.down",
];

fn generated() -> Vec<(String, Rate)> {
    let cells = [
        ("lte", CellKind::Lte),
        ("hspa", CellKind::Hspa),
        ("evdo", CellKind::Evdo),
    ];
    let seeded = |(name, cell)| {
        [1, 2].map(|seed| {
            (
                format!("{name}-{seed}"),
                Rate::from(CellModel::new(cell, None, seed)),
            )
        })
    };
    cells.into_iter().flat_map(seeded).collect()
}

fn recorded() -> Vec<(String, Rate)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(RECORDED);
    if !folder.exists() {
        skipped(format!("no recorded traces at {RECORDED}"));
    }
    let read = |name: &&str| {
        let text = std::fs::read_to_string(folder.join(name)).ok()?;
        let trace = Trace::parse(&text).expect("a recorded trace parses");
        Some(((*name).to_owned(), Rate::from(trace)))
    };
    RECORDINGS.iter().filter_map(read).collect()
}

fn run(rate: &Rate, base_rtt_ms: u64, law: Law) -> Outcome {
    let half = Duration::from_millis(base_rtt_ms / 2);
    Model {
        links: vec![deep(rate.clone(), half)],
        back: vec![(Duration::ZERO, half)],
        params: Params {
            law,
            ..Params::default()
        },
        sources: vec![Source::bulk(0)],
        duration: Duration::from_secs(120),
        warmup: Duration::from_secs(5),
        sender_ppm: 0,
        uploads: false,
    }
    .run()
}

/// Sums over cases, of logarithms where a geometric mean is wanted.
#[derive(Default)]
struct Sums {
    cases: f64,
    utilisation: [f64; 2],
    mean_ratio: f64,
    p95_ratio: f64,
}

impl Sums {
    fn add(&mut self, drwa: &Outcome, tide: &Outcome) {
        self.cases += 1.0;
        self.utilisation[0] += drwa.utilisation;
        self.utilisation[1] += tide.utilisation;
        self.mean_ratio += libm::log(tide.mean_delay_ms / drwa.mean_delay_ms);
        self.p95_ratio += libm::log(tide.p95_delay_ms / drwa.p95_delay_ms);
    }
}

/// Asserts that `tide`'s delay, mean and 95th percentile, is below `bound` of DRWA's in the geometric mean.
fn compare(links: &[(String, Rate)], bound: f64) {
    let mut sums = Sums::default();
    println!("link, base RTT ms | DRWA: used %, mean ms, p95 ms | tide: the same, questions");
    for (name, rate) in links {
        for rtt in BASE_RTTS_MS {
            let (drwa, tide) = (run(rate, rtt, Law::Drwa), run(rate, rtt, Law::Tide));
            let cell = |o: &Outcome| {
                format!(
                    "{:5.1} {:6.1} {:6.0}",
                    100.0 * o.utilisation,
                    o.mean_delay_ms,
                    o.p95_delay_ms
                )
            };
            println!(
                "{name:36} {rtt:3} | {} | {} {:2}",
                cell(&drwa),
                cell(&tide),
                tide.questions
            );
            assert!(
                tide.utilisation > drwa.utilisation - 0.035,
                "{name} at {rtt} ms: tide uses {:.3}, DRWA {:.3}",
                tide.utilisation,
                drwa.utilisation
            );
            sums.add(&drwa, &tide);
        }
    }
    let geometric = |sum: f64| libm::exp(sum / sums.cases);
    println!(
        "mean use {:.2} and {:.2} %; delay ratio, geometric: mean {:.3}, p95 {:.3}",
        100.0 * sums.utilisation[0] / sums.cases,
        100.0 * sums.utilisation[1] / sums.cases,
        geometric(sums.mean_ratio),
        geometric(sums.p95_ratio)
    );
    assert!(sums.utilisation[1] > sums.utilisation[0]);
    assert!(geometric(sums.mean_ratio) < bound);
    assert!(geometric(sums.p95_ratio) < bound);
}

#[test]
fn tide_beats_drwa_on_generated_links() {
    compare(&generated(), 0.5);
}

#[test]
fn tide_beats_drwa_on_recorded_links() {
    let links = recorded();
    if !links.is_empty() {
        compare(&links, 0.4);
    }
}
