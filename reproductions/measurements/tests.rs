//! A recorded link, played back.

use super::links::{Carries, Kind, Known, Truth};
use std::path::Path;
use std::time::Duration;
use tidegate_link::{Rate, Trace};
use tidegate_probe::analysis::bursts::backlogged;
use tidegate_probe::analysis::opportunities::mahimahi;
use tidegate_probe::emulated::{Clock, Emulated, Experiment, Side};
use tidegate_probe::examine::overflow_train;
use tidegate_probe::{Pace, TrainConfig};
use tidegate_scenario::{CellKind, LinkInputs, RunResult, Scenario};
use tidegate_sim::{Options, run_one};

const SECONDS: u64 = 120;

fn download(scenario: &Scenario, inputs: &LinkInputs) -> RunResult {
    let options = Options::default();
    let run = run_one(scenario, inputs, &scenario.runs[0], &options);
    run.unwrap().expect("nobody stops it")
}

/// The link's own trace, by a flow that keeps it busy.
fn recorded(inputs: &LinkInputs) -> Trace {
    let train = TrainConfig {
        pace: Pace::Window(700_000),
        max_bytes: u64::MAX,
        max_time: Duration::from_secs(SECONDS),
        ..overflow_train(0, 1420)
    };
    let (down, up) = (inputs.down.clone(), inputs.up.clone());
    let observed = Emulated::new(down, up, Clock::default(), 1).perform(&Experiment {
        trains: vec![(Side::Server, train)],
        ..Experiment::default()
    });
    let text = mahimahi(&backlogged(&observed.trains[0])).expect("a trace");
    Trace::parse(&text).unwrap()
}

#[test]
fn a_download_over_what_was_recorded_is_as_over_the_link() {
    for carries in [
        Carries::Smoothly,
        Carries::InTurns(10.0),
        Carries::Generated(CellKind::Lte),
    ] {
        let link = Known {
            test: "recorded",
            truth: Truth {
                name: "600 packets",
                size: 600.0,
                kind: Kind::PacketsTail,
            },
            carries,
            mbps: 8.0,
            rtt_ms: 40.0,
        };
        let case = link.case(&[]);
        let scenario = Scenario {
            duration_s: SECONDS as f64,
            ..case.scenario
        };
        let mut inputs = scenario.link_inputs(Path::new(".")).unwrap();
        // With losses, CUBIC would send at other times.
        inputs.down.loss = None;
        inputs.up.loss = None;
        let original = download(&scenario, &inputs);
        inputs.down.rate = Rate::from(recorded(&inputs));
        inputs.down.sharing = None;
        let played = download(&scenario, &inputs);
        let words = carries.words();
        for (what, read) in READINGS {
            let [ours, theirs] = [&played, &original].map(read);
            let off = ours / theirs - 1.0;
            eprintln!(
                "{words}, {what}: {ours:.4} over what was recorded, {theirs:.4} over the link"
            );
            assert!(off.abs() < 0.05, "{words}, {what}: {ours} against {theirs}");
        }
    }
}

type Reading = (&'static str, fn(&RunResult) -> f64);

const READINGS: [Reading; 2] = [
    ("utilisation", |run| run.link.utilisation),
    ("queueing delay, ms", |run| run.link.queue_delay_ms.mean),
];
