use super::*;
use crate::fixtures::{RECORD, START_US, quic, snapshot};
use crate::udp::Rule;
use tidegate_agent::{Directions, LinkLayer};

/// The interface of the snapshots.
fn wwan0() -> Interface {
    Interface {
        name: "wwan0".into(),
        index: 2,
        link_layer: LinkLayer::PlainIp,
    }
}

/// A snapshot of a hold on wwan0, for downloads, with these records.
fn watched(flows: Vec<Seen>) -> HoldSnapshot {
    HoldSnapshot {
        flows,
        rules: Rules::all(Udp::Hold),
        on: vec![(wwan0(), Direction::Down)],
        gate_gone: false,
        counts: HoldCounts::default(),
    }
}

fn record(port: u16) -> Seen {
    let way = quic(0, START_US);
    Seen {
        flow: Flow {
            interface: 2,
            local: SocketAddr::new(way.local.address, port),
            remote: address(way.remote),
        },
        direction: Direction::Down,
        seen_us: START_US,
        hold: HoldView {
            queue_us: Some(70_000),
            group: Some(3),
            ..HoldView::without_record(Holding::Held)
        },
    }
}

/// The local port of the snapshots' flow.
const OWN: u16 = 50_000;

fn state(watched: &HoldSnapshot, way: &WindowlessView) -> Option<Holding> {
    let mut ways = [way.clone()];
    watched.explain(&mut ways, START_US);
    ways[0].hold.map(|hold| hold.state)
}

#[test]
fn a_flow_has_its_record_s_state_or_the_reason_for_having_none() {
    let bulk = quic(1_000_000, START_US);
    let mut watched = watched(vec![record(OWN)]);
    assert_eq!(state(&watched, &bulk), Some(Holding::Held));
    watched.rules.rules = vec![Rule {
        remote_ports: Some(443..=443),
        action: Udp::Leave,
        ..Rule::default()
    }];
    assert_eq!(state(&watched, &bulk), Some(Holding::Denied));
    watched.rules.rules.clear();
    watched.gate_gone = true;
    assert_eq!(state(&watched, &bulk), Some(Holding::GateGone));
    watched.gate_gone = false;
    // A record of another flow.
    watched.flows = vec![record(OWN + 1)];
    assert_eq!(state(&watched, &bulk), Some(Holding::NotBulk));
    // Recent flows take all places.
    watched.flows = (0..HoldPrograms::PLACES as u16)
        .map(|n| record(n + 1))
        .collect();
    assert_eq!(state(&watched, &bulk), Some(Holding::TableFull));
    assert_eq!(
        state(&watched, &quic(9_000, START_US)),
        Some(Holding::NotBulk)
    );
    watched.flows[0].seen_us -= 60_000_000;
    assert_eq!(state(&watched, &bulk), Some(Holding::NotBulk));
}

#[test]
fn where_the_hold_is_not_it_has_no_say() {
    let watched = watched(vec![]);
    let bulk = quic(1_000_000, START_US);
    for way in [
        WindowlessView {
            ifindex: 9,
            ..bulk.clone()
        },
        WindowlessView {
            direction: Direction::Up,
            ..bulk.clone()
        },
        WindowlessView {
            protocol: 47,
            ..bulk
        },
    ] {
        assert_eq!(state(&watched, &way), None);
    }
}

#[test]
fn a_connection_has_a_state_in_each_direction_that_is_held() {
    let mut watched = watched(vec![record(OWN)]);
    let down = quic(1_000_000, START_US);
    let up = WindowlessView {
        direction: Direction::Up,
        ..down.clone()
    };
    assert_eq!(state(&watched, &up), None);
    watched.on.push((wwan0(), Direction::Up));
    assert_eq!(state(&watched, &up), Some(Holding::Denied));
    watched.rules.holds = Directions::Both;
    assert_eq!(state(&watched, &up), Some(Holding::NotBulk));
    let mut own = record(OWN);
    (own.direction, own.hold.state) = (Direction::Up, Holding::Sender);
    watched.flows.push(own);
    assert_eq!(state(&watched, &up), Some(Holding::Sender));
    assert_eq!(state(&watched, &down), Some(Holding::Held));
}

#[test]
fn their_queue_is_the_path_s_and_their_group_has_them() {
    let mut paths = snapshot(START_US, vec![]).paths;
    let mut idle = record(OWN);
    (idle.seen_us, idle.hold.queue_us) = (START_US - 5_000_000, Some(900_000));
    watched(vec![record(OWN), idle]).count_in(&mut paths, START_US);
    assert_eq!(paths[0].queue_us, 70_000);
    assert_eq!(
        (paths[0].groups[0].flows, paths[0].groups[0].record),
        (3, RECORD)
    );
}
