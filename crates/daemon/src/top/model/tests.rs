use super::{Model, Selection};
use crate::fixtures::{START_US, download, path, quic, sealed, snapshot};
use crate::snapshot::Snapshot;
use crate::top::details;
use crate::top::order::Order;
use crate::top::report::Report;
use crate::top::row::State;
use tidegate_agent::{Direction, HoldView, Holding, Kind, Limit, Reason, WindowlessView};
use tidegate_laws::AckClocking;

const SECOND: u64 = 1_000_000;

fn shown(model: &Model) -> Vec<(u16, State)> {
    let rows = model.rows(&Selection::default());
    rows.iter().map(|r| (r.key.local.port, r.state)).collect()
}

fn looks(looks: impl IntoIterator<Item = Snapshot>) -> Model {
    let mut model = Model::default();
    looks.into_iter().for_each(|look| model.update(look));
    model
}

/// Rates of the shown rows, in kbit/s.
fn rates(model: &Model) -> Vec<Option<u64>> {
    let rows = model.rows(&Selection::default());
    rows.iter()
        .map(|row| row.rate_bps.map(|bps| (bps / 1e3).round() as u64))
        .collect()
}

#[test]
fn a_rate_takes_two_looks_and_is_that_between_them() {
    let look = |at_us, bytes| snapshot(at_us, vec![download(1, bytes, at_us)]);
    let mut model = looks([look(START_US, 5_000_000)]);
    assert_eq!(rates(&model), [None]);
    model.update(look(START_US + 2 * SECOND, 5_250_000));
    assert_eq!(rates(&model), [Some(1000)]);
    // A new connection between the same addresses and ports counts from 0.
    let mut other = download(1, 125_000, START_US + 3 * SECOND);
    other.since_us = START_US + 2 * SECOND;
    model.update(snapshot(START_US + 3 * SECOND, vec![other]));
    assert_eq!(rates(&model), [Some(1000)]);
}

#[test]
fn what_came_between_two_looks_has_a_rate_at_once() {
    let later = START_US + SECOND;
    let model = looks([
        snapshot(START_US, vec![]),
        snapshot(later, vec![download(1, 250_000, later)]),
    ]);
    assert_eq!(rates(&model), [Some(2000)]);
}

#[test]
fn another_agents_counters_are_not_compared() {
    let mut other = snapshot(START_US + SECOND, vec![download(1, 9_000_000, START_US)]);
    other.agent.pid += 1;
    let model = looks([snapshot(START_US, vec![download(1, 1000, START_US)]), other]);
    assert_eq!(rates(&model), [None]);
}

#[test]
fn closed_and_idle_flows_stay_for_a_while_below_the_others() {
    let flows = || {
        let mut closed = download(1, 9000, START_US);
        closed.closed = true;
        vec![closed, download(2, 9000, START_US)]
    };
    let at = |seconds: u64| {
        let now_us = START_US + seconds * SECOND;
        let mut flows = flows();
        flows.push(download(3, 9000, now_us));
        shown(&looks([snapshot(now_us, flows)]))
    };
    let (live, idle, closed) = ((3, State::Live), (2, State::Idle), (1, State::Closed));
    assert_eq!(at(10), [live, idle, closed]);
    assert_eq!(at(20), [live, idle]);
    assert_eq!(at(70), [live]);
}

#[test]
fn what_the_agent_has_forgotten_is_closed() {
    let mut model = looks([snapshot(START_US, vec![download(1, 9000, START_US)])]);
    model.update(snapshot(START_US + SECOND, vec![]));
    assert_eq!(shown(&model), [(1, State::Closed)]);
    assert_eq!(model.rows(&Selection::default())[0].limit, Limit::Closed);
    model.update(snapshot(START_US + 20 * SECOND, vec![]));
    assert_eq!(shown(&model), []);
}

#[test]
fn a_direction_in_which_nothing_was_said_is_no_row() {
    let model = looks([snapshot(START_US, vec![download(1, 1, START_US)])]);
    assert_eq!(shown(&model), []);
}

#[test]
fn data_before_the_first_answer_are_no_flow_of_their_own() {
    let flow = download(1, 9000, START_US);
    let mut left = sealed(1448, START_US);
    (left.local, left.remote) = (flow.local, flow.remote);
    left.reason = Reason::NoFlow;
    let mut look = snapshot(START_US, vec![flow]);
    look.left = vec![left];
    let model = looks([look]);
    assert_eq!(model.all().len(), 1);
    assert!(model.all()[0].flow().is_some());
}

/// A denied connection has a record, and its bytes are counted among those left alone.
#[test]
fn what_a_rule_leaves_alone_has_the_rate_of_its_own_bytes() {
    let look = |seconds: u64| {
        let at_us = START_US + seconds * SECOND;
        let mut flow = download(1, 1448, START_US);
        flow.denied = true;
        let mut left = sealed(125_000 * seconds, at_us);
        (left.local, left.remote) = (flow.local, flow.remote);
        left.reason = Reason::Denied;
        let mut look = snapshot(at_us, vec![flow]);
        look.left = vec![left];
        look
    };
    let mut model = looks([look(10)]);
    for seconds in 11..20 {
        model.update(look(seconds));
        assert_eq!(rates(&model), [Some(1000)], "after {seconds} s");
        let row = &model.rows(&Selection::default())[0];
        assert_eq!(row.limit, Limit::LeftAlone(Reason::Denied));
        assert_eq!(row.bytes, 125_000 * seconds);
    }
}

/// When rules change, data of one connection are counted in another table, and back.
#[test]
fn a_connection_is_shown_by_where_its_data_count_now() {
    let mut flow = download(1, 9_000_000, START_US);
    let mut left = sealed(2_000, START_US + SECOND);
    (left.local, left.remote) = (flow.local, flow.remote);
    left.reason = Reason::Denied;
    let is_flow = |flow, left| {
        let mut look = snapshot(START_US + 3 * SECOND, vec![flow]);
        look.left = vec![left];
        looks([look]).all()[0].flow().is_some()
    };
    flow.denied = true;
    assert!(!is_flow(flow, left.clone()));
    flow.denied = false;
    assert!(!is_flow(flow, left.clone()));
    flow.arrived_us = START_US + 2 * SECOND;
    assert!(is_flow(flow, left.clone()));
    // A flow without a clock is counted in both.
    left.reason = Reason::NoClock;
    left.seen_us = START_US + 3 * SECOND;
    assert!(is_flow(flow, left));
}

#[test]
fn rows_are_sorted_the_largest_first_and_what_is_not_known_last() {
    let mut flows: Vec<_> = (1..=3).map(|p| download(p, 9000, START_US)).collect();
    flows[0].queue_us = Some(10_000);
    flows[1].queue_us = None;
    flows[2].queue_us = Some(90_000);
    flows[0].rtt_us = Some(500_000);
    let model = looks([snapshot(START_US, flows)]);
    let ports = |order, reverse| {
        let selection = Selection {
            order,
            reverse,
            ..Selection::default()
        };
        let rows = model.rows(&selection);
        rows.iter().map(|r| r.key.local.port).collect::<Vec<_>>()
    };
    assert_eq!(ports(Order::Queue, false), [3, 1, 2]);
    assert_eq!(ports(Order::Queue, true), [2, 1, 3]);
    assert_eq!(ports(Order::Rtt, false)[0], 1);
}

#[test]
fn a_path_tells_how_much_of_it_is_steered_and_what_the_rest_is() {
    let look = |at_us, kinds: [u64; 4]| {
        let of = [Kind::Tcp, Kind::NoTimestamps, Kind::Quic, Kind::Wireguard];
        let kinds: Vec<_> = of.into_iter().zip(kinds).collect();
        let mut look = snapshot(at_us, vec![]);
        look.paths = vec![path(&kinds)];
        look
    };
    let mut model = looks([look(START_US, [1_000_000, 0, 5_000_000, 7])]);
    assert_eq!(model.paths[0].shares(), "", "one look tells no rates");
    model.update(look(START_US + SECOND, [1_250_000, 125_000, 5_625_000, 7]));
    let [path] = &model.paths[..] else {
        panic!("one path")
    };
    assert_eq!(path.rate_bps(), 8e6);
    let kinds: Vec<_> = path.kinds.iter().map(|k| (k.kind, k.reached)).collect();
    let expected = [
        (Kind::Quic, false),
        (Kind::Tcp, true),
        (Kind::NoTimestamps, false),
        (Kind::Wireguard, false),
    ];
    assert_eq!(kinds, expected);
    assert_eq!(
        path.shares(),
        "QUIC 62 %, steered TCP 25 %, unstamped TCP 12 %"
    );
}

#[test]
fn of_what_has_no_window_only_bulk_is_a_row_unless_all_is_asked_for() {
    let mut look = snapshot(START_US, vec![]);
    let mut question = quic(500, START_US);
    question.local.port = 50_002;
    look.windowless = vec![quic(240_000, START_US), question];
    let model = looks([look]);
    assert_eq!(shown(&model), [(50_000, State::Live)]);
    let all = Selection {
        all: true,
        ..Selection::default()
    };
    assert_eq!(model.rows(&all).len(), 2);
}

#[test]
fn programs_get_what_people_see_and_all_that_is_known() {
    let mut look = snapshot(START_US, vec![download(1, 9000, START_US)]);
    look.left = vec![sealed(2400, START_US)];
    look.windowless = vec![quic(240_000, START_US)];
    let model = looks([look]);
    let rows = model.rows(&Selection::default());
    let json = serde_json::to_value(Report::new(&model, &rows)).unwrap();
    assert_eq!(json["version"], 3);
    assert_eq!(json["agent"]["law"], "tide");
    assert_eq!(json["counts"][0]["packets"], 3);
    assert_eq!(json["paths"][0]["interface"], "wwan0");
    let group = &json["paths"][0]["groups"][0];
    assert_eq!(group["group"], 3);
    assert_eq!(group["flows"], 2);
    assert_eq!(group["state"], "running");
    let flow = &json["flows"][0];
    assert_eq!(flow["remote"]["port"], 443);
    assert_eq!(flow["queue_us"], 30_000);
    assert_eq!(flow["limit"], "law");
    assert_eq!(flow["left_alone"], false);
    assert_eq!(flow["group"], 3);
    assert_eq!(flow["score"], 20);
    assert_eq!(flow["record"], serde_json::Value::Null);
    let why = flow["why_group"].as_str().unwrap();
    assert!(
        why.contains("together with those of one other flow"),
        "{why}"
    );
    assert_eq!(flow["why"], Limit::Law.words());
    let left = &json["left"][0];
    assert_eq!(left["limit"], "sealed");
    assert_eq!(left["left_alone"], true);
    assert_eq!(left["bytes"], 2400);
    let windowless = &json["windowless"][0];
    assert_eq!(windowless["kind"], "quic");
    assert_eq!(windowless["limit"], "quic");
    assert_eq!(windowless["left_alone"], true);
    assert_eq!(windowless["origin"], "own");
    assert_eq!(windowless["packets"]["ect_0"], 200);
    assert_eq!(windowless["why"], Kind::Quic.about());
    assert_eq!(json["paths"][0]["traffic"][1]["kind"], "quic");
    assert_eq!(json["paths"][0]["traffic"][1]["bytes"], 10_000);
    assert_eq!(json["paths"][0]["kinds"][0]["reached"], true);
}

/// A download over UDP that is held.
fn held() -> HoldView {
    HoldView {
        sender: Some(AckClocking::Clocked),
        queue_us: Some(20_000),
        rtt_us: Some(60_000),
        rtt_min_us: Some(40_000),
        wanted_bytes: Some(100_000),
        sender_bytes: Some(250_000),
        here_bytes: 150_000,
        wait_us: 60_000,
        waiting: 12,
        held: 3_456,
        signalled: 2,
        group: Some(3),
        ..HoldView::without_record(Holding::Held)
    }
}

#[test]
fn what_is_held_is_a_row_like_those_with_a_window() {
    let look = |hold| {
        let mut look = snapshot(START_US, vec![]);
        let way = quic(1_000_000, START_US);
        look.windowless = vec![WindowlessView { hold, ..way }];
        look
    };
    let model = looks([look(Some(held()))]);
    let rows = model.rows(&Selection::default());
    let row = rows[0];
    assert_eq!(row.limit, Limit::Hold(Holding::Held));
    assert!(row.is_steered() && row.why() == "QUIC held");
    assert_eq!((row.queue_us(), row.group()), (Some(20_000), Some(3)));
    assert_eq!(
        (row.rtt_us(), row.rtt_min_us()),
        (Some(60_000), Some(40_000))
    );
    assert_eq!(
        (row.window_bytes(), row.kernel_bytes()),
        (Some(100_000), Some(250_000))
    );
    let json = serde_json::to_value(Report::new(&model, &rows)).unwrap();
    let line = &json["windowless"][0];
    assert_eq!(
        (&line["limit"], &line["left_alone"]),
        (&"held".into(), &false.into())
    );
    assert_eq!(line["hold"]["sender"], "clocked");
    let told = details::lines(&model, row).join("\n");
    for word in [
        "150 kB",
        "12 packets wait",
        "3456",
        "2 signalled",
        "clocked",
    ] {
        assert!(told.contains(word), "no {word} in {told}");
    }
}

#[test]
fn why_a_flow_is_not_held_takes_the_place_of_its_kind() {
    let mut look = snapshot(START_US, vec![]);
    let way = quic(1_000_000, START_US);
    let hold = Some(HoldView::without_record(Holding::NotClocked));
    look.windowless = vec![WindowlessView { hold, ..way }];
    let model = looks([look]);
    let rows = model.rows(&Selection::default());
    assert!(rows[0].limit.is_left_alone() && !rows[0].is_steered());
    assert_eq!(rows[0].why(), "QUIC unclocked");
    assert_eq!((rows[0].queue_us(), rows[0].window_bytes()), (None, None));
}

#[test]
fn a_kind_that_may_be_held_is_within_reach() {
    let look = |holds, at_us| {
        let mut look = snapshot(at_us, vec![]);
        look.agent.hold_directions = if holds { vec![Direction::Down] } else { vec![] };
        look.agent.hold_kinds = vec![Kind::Quic];
        look
    };
    for holds in [false, true] {
        let model = looks([look(holds, START_US)]);
        let quic = model.paths[0].kinds.iter().find(|k| k.kind == Kind::Quic);
        assert_eq!(quic.unwrap().reached, holds);
    }
}
