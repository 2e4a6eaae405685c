use super::{group_of, groups, record_of, score_of};
use crate::skeleton::types::{tg_connection, tg_flow, tg_interface, tg_key, tg_path};
use crate::{Direction, FlowView, PathView};
use tidegate_laws::PathState;

const NUMBER: u32 = 17;

/// An interface on which a group has place 2 and a flow alone place 5.
fn interface() -> tg_interface {
    let mut interface = tg_interface::default();
    let group = &mut interface.group[2];
    (group.name, group.shared) = (NUMBER, 1);
    group.record.state = PathState::Running as u32;
    group.record.h_us = 40_000;
    // 10 MB/s.
    group.record.m = 10 << 24;
    interface.group[5].name = NUMBER + 1;
    interface
}

fn member() -> tg_flow {
    let mut flow = tg_flow::default();
    (
        flow.member.sharing.place,
        flow.member.sharing.name,
        flow.member.sharing.joined,
    ) = (2, NUMBER, 1);
    (
        flow.member.sharing.comparisons[2].name,
        flow.member.sharing.comparisons[2].score,
    ) = (NUMBER, 19);
    flow.member.own.arrived_us = 1;
    flow
}

/// It holds place 5, and has been compared with the group.
fn alone() -> tg_flow {
    let mut flow = tg_flow::default();
    (flow.member.sharing.place, flow.member.sharing.name) = (5, NUMBER + 1);
    (
        flow.member.sharing.comparisons[2].name,
        flow.member.sharing.comparisons[2].score,
    ) = (NUMBER, 4);
    flow.member.own.arrived_us = 1;
    flow.member.own.state = PathState::Competing as u32;
    flow
}

fn view(flow: &tg_flow, interface: &tg_interface) -> FlowView {
    let connection = tg_connection::default();
    let key = tg_key {
        ifindex: 2,
        ..Default::default()
    };
    FlowView::new(Direction::Down, &key, flow, &connection, interface)
}

#[test]
fn a_member_has_its_group_and_no_record_of_its_own() {
    let (interface, flow) = (interface(), member());
    assert_eq!(group_of(&flow, &interface), Some(NUMBER));
    assert_eq!(score_of(&flow, &interface), Some(19));
    assert_eq!(record_of(&flow, &interface), None);
}

#[test]
fn a_flow_alone_has_its_record_and_the_most_that_speaks_against_it() {
    let (interface, mut flow) = (interface(), alone());
    assert_eq!(group_of(&flow, &interface), None);
    assert_eq!(score_of(&flow, &interface), Some(4));
    let record = record_of(&flow, &interface).expect("it has sent data");
    assert_eq!(record.state, PathState::Competing);
    // A comparison with the place's previous group does not count.
    flow.member.sharing.comparisons[2].name -= 1;
    assert_eq!(score_of(&flow, &interface), None);
}

#[test]
fn a_record_that_is_told_nothing_any_more_is_not_shown() {
    let (interface, mut flow) = (interface(), alone());
    for (arrived_us, is_shown) in [(5_000_001, true), (5_000_002, false)] {
        flow.arrived_us = arrived_us;
        assert_eq!(record_of(&flow, &interface).is_some(), is_shown);
    }
}

#[test]
fn a_flow_whose_group_has_lost_its_place_is_alone() {
    let (mut interface, flow) = (interface(), member());
    interface.group[2].name = NUMBER + 9;
    assert_eq!(group_of(&flow, &interface), None);
    assert!(record_of(&flow, &interface).is_some());
}

#[test]
fn a_path_shows_the_groups_that_have_flows_and_how_many() {
    let path = tg_path {
        interface: interface(),
        ..Default::default()
    };
    let mut gone = view(&member(), &path.interface);
    gone.closed = true;
    let elsewhere = FlowView {
        ifindex: 3,
        ..view(&member(), &path.interface)
    };
    let flows = [
        view(&member(), &path.interface),
        view(&member(), &path.interface),
        view(&alone(), &path.interface),
        gone,
        elsewhere,
    ];
    let shown = PathView::new(Direction::Down, 2, &path, &flows, Vec::new(), 0);
    let [group] = &shown.groups[..] else {
        panic!("one group: {shown:?}");
    };
    assert_eq!((group.group, group.place, group.flows), (NUMBER, 2, 2));
    assert_eq!(group.record.forecast_bytes, 400_000);
    assert_eq!(shown.alone, 1);
    let paths = [shown];
    assert_eq!(flows[0].record(&paths), Some(&paths[0].groups[0].record));
    assert_eq!(
        flows[2].record(&paths).map(|r| r.state),
        Some(PathState::Competing)
    );
    assert_eq!(groups(&path.interface, &[&flows[2]], 0), []);
}

#[test]
fn the_queue_of_a_path_is_the_longest_of_those_heard_of_late() {
    let path = tg_path::default();
    let flow = |queue_us, arrived_us| FlowView {
        queue_us: Some(queue_us),
        arrived_us,
        ..view(&alone(), &path.interface)
    };
    let flows = [
        flow(90_000, 1_000_000),
        flow(30_000, 9_500_000),
        flow(20_000, 10_000_000),
    ];
    let shown = PathView::new(Direction::Down, 2, &path, &flows, Vec::new(), 15_000_000);
    assert_eq!(shown.queue_us, 30_000);
    // When no data have arrived for more than five seconds, the queue is unknown.
    let later = PathView::new(Direction::Down, 2, &path, &flows, Vec::new(), 15_000_001);
    assert_eq!(later.queue_us, 0);
}
