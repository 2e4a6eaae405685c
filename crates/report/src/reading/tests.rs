use super::reading;
use crate::fixture::{flow, full_set, set};
use tidegate_scenario::{FlowDirection, FlowResult, ResultSet};

#[test]
fn the_comparison_in_words() {
    let said = reading(&set());
    assert_eq!(
        said,
        [
            "linux: 20.00 Mbit/s, 95th percentile of queueing delay 1000 ms.",
            "tide: 95th percentile of queueing delay 20 ms, 1/50 of linux's, at 98 % of its goodput.",
        ]
    );
}

#[test]
fn fetches_fairness_and_doubts_are_told() {
    let mut set = full_set();
    set.runs[1].health.warnings = vec!["the machine was busy".into()];
    set.runs[1].flows = vec![flow("a", 10.0, 60.0), flow("b", 10.0, 60.0)];
    let said = reading(&set).join("\n");
    assert!(
        said.contains("Fetching 10 kB takes (median): linux 800 ms, tide 16 ms."),
        "{said}"
    );
    assert!(said.contains("1 is even): tide 1.00."), "{said}");
    assert!(
        said.contains("tide (doubtful, see the warnings): 95th"),
        "{said}"
    );
}

#[test]
fn a_ping_beside_the_traffic_is_told() {
    let mut set = set();
    for (run, rtt_ms) in set.runs.iter_mut().zip([1228.0, 61.0]) {
        let echo = FlowResult {
            direction: FlowDirection::Echo,
            ..flow("ping", 0.0, rtt_ms)
        };
        run.flows.push(echo);
    }
    let said = reading(&set);
    assert_eq!(
        said[2],
        "Round trip of ping (95th percentile): linux 1228 ms, tide 61 ms."
    );
    // It carries nothing, so it is no party to fairness.
    assert_eq!(said.len(), 3);
}

#[test]
fn missing_numbers_are_passed_over() {
    let mut set = set();
    set.runs[0].link = Default::default();
    let said = reading(&set);
    assert_eq!(said[0], "linux: 20.00 Mbit/s.");
    assert_eq!(
        said[1],
        "tide: 95th percentile of queueing delay 20 ms, at 98 % of its goodput."
    );
    assert_eq!(reading(&ResultSet::default()), ["No run was made."]);
}
