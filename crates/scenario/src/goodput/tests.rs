use crate::{ArrivalsResult, Direction, FlowDirection, FlowResult, RunResult};

fn flow(mbps: f64, from_s: f64, to_s: f64) -> FlowResult {
    FlowResult {
        goodput_bps: mbps * 1e6,
        from_s,
        to_s,
        ..FlowResult::default()
    }
}

fn run(flows: Vec<FlowResult>) -> RunResult {
    RunResult {
        flows,
        ..RunResult::default()
    }
}

fn mbps(flows: Vec<FlowResult>) -> f64 {
    run(flows).goodput_bps(Direction::Down).unwrap() / 1e6
}

#[test]
fn flows_that_are_there_together_add_up() {
    let third = 0.1 + 0.2;
    assert_eq!(mbps(vec![flow(third, 0.7, 30.3)]), third);
    assert_eq!(
        mbps(vec![flow(12.0, 2.0, 30.0), flow(4.0, 2.0, 30.0)]),
        16.0
    );
}

#[test]
fn flows_that_follow_one_another_bring_no_more_than_the_link_carries() {
    assert_eq!(
        mbps(vec![flow(20.0, 0.0, 10.0), flow(20.0, 10.0, 20.0)]),
        20.0
    );
    // A gap between them is no time of theirs.
    assert_eq!(
        mbps(vec![flow(20.0, 15.0, 20.0), flow(20.0, 0.0, 10.0)]),
        20.0
    );
    // Alone for half of the time, then half of it.
    assert_eq!(
        mbps(vec![flow(15.0, 0.0, 20.0), flow(10.0, 10.0, 20.0)]),
        20.0
    );
}

#[test]
fn flows_that_arrive_by_themselves_count_and_other_directions_do_not() {
    let mut run = run(vec![flow(4.0, 0.0, 10.0)]);
    run.arrivals.push(ArrivalsResult {
        goodput_bps: 8e6,
        from_s: 5.0,
        to_s: 10.0,
        ..ArrivalsResult::default()
    });
    run.flows.push(FlowResult {
        direction: FlowDirection::Up,
        ..flow(1.0, 0.0, 2.0)
    });
    assert_eq!(run.goodput_bps(Direction::Down), Some(8e6));
    assert_eq!(run.goodput_bps(Direction::Up), Some(1e6));
    assert_eq!(run.goodput_bps(FlowDirection::Echo), None);
}

#[test]
fn a_flow_that_never_began_takes_no_time() {
    assert_eq!(mbps(vec![flow(4.0, 0.0, 10.0), flow(0.0, 30.0, 30.0)]), 4.0);
    assert_eq!(mbps(vec![flow(0.0, 30.0, 30.0)]), 0.0);
}

#[test]
fn without_times_they_are_taken_to_have_been_there_together() {
    assert_eq!(mbps(vec![flow(4.0, 0.0, 0.0), flow(5.0, 0.0, 0.0)]), 9.0);
    assert!(run(vec![flow(4.0, 0.0, 0.0), flow(5.0, 0.0, 0.0)]).flows_met(Direction::Down));
}

#[test]
fn flows_have_met_where_all_were_there_at_a_time() {
    let met = |flows| run(flows).flows_met(Direction::Down);
    assert!(met(vec![flow(1.0, 0.0, 10.0), flow(1.0, 9.0, 20.0)]));
    assert!(met(vec![flow(1.0, 0.0, 10.0), flow(0.0, 10.0, 10.0)]));
    assert!(!met(vec![flow(1.0, 0.0, 10.0), flow(1.0, 10.0, 20.0)]));
    assert!(!met(vec![
        flow(1.0, 0.0, 30.0),
        flow(1.0, 0.0, 10.0),
        flow(1.0, 15.0, 20.0)
    ]));
}
