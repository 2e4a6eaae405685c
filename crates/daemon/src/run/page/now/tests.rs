use super::{Flow, Now, Steering, reason};
use crate::about::About;
use crate::fixtures::{START_US, download, quic, sealed, snapshot};
use crate::run::page::history::History;
use crate::snapshot::Snapshot;
use crate::top::model::{Model, Selection};
use serde_json::Value;
use tidegate_agent::{Direction, FlowView, Kind, Reason, WindowlessView};
use tidegate_laws::{Law, PathState};

/// The model after two looks a second apart.
fn model(look: impl Fn(u64, u64) -> Snapshot) -> Model {
    let mut model = Model::default();
    model.update(look(START_US, 1));
    model.update(look(START_US + 1_000_000, 2));
    model
}

fn steering(model: &Model) -> Vec<(Direction, Steering, String)> {
    let rows = model.rows(&Selection::default());
    let flow = |row: &&crate::top::row::Row| {
        let flow = Flow::of(row, &model.about);
        (flow.direction, flow.steering, flow.why)
    };
    rows.iter().map(flow).collect()
}

#[test]
fn each_flow_is_steered_or_why_not() {
    let look = |at_us, times| {
        let mut look = snapshot(at_us, vec![download(1, 500_000 * times, at_us)]);
        look.windowless = vec![quic(400_000 * times, at_us)];
        look.left = vec![sealed(300_000 * times, at_us)];
        look.flows.push(FlowView {
            wanted_bytes: None,
            ..download(2, 200_000 * times, at_us)
        });
        look
    };
    let mut flows = steering(&model(look));
    flows.sort_by_key(|flow| flow.2.clone());
    let said: Vec<_> = flows.iter().map(|flow| (flow.1, flow.2.as_str())).collect();
    assert_eq!(said.len(), 4, "{said:?}");
    let of = |words: &str| said.iter().find(|(_, why)| why.contains(words)).unwrap().0;
    assert_eq!(of("its sender sends less"), Steering::Steered);
    assert_eq!(of("until then the kernel's window stays"), Steering::Waits);
    assert_eq!(
        of("with udp = \"hold\" it can be slowed down"),
        Steering::Left
    );
    assert_eq!(of("TCP-MD5"), Steering::Left);
}

#[test]
fn of_a_dry_run_nothing_is_called_steered() {
    let look = |at_us, times| {
        let mut look = snapshot(at_us, vec![download(1, 500_000 * times, at_us)]);
        look.agent.dry_run = true;
        look
    };
    assert_eq!(steering(&model(look))[0].1, Steering::Would);
}

/// Neither ended flows count, nor acknowledgements of flows without a window.
#[test]
fn who_uses_the_link_now_is_who_brings_something() {
    let look = |at_us, times: u64| {
        let mut look = snapshot(at_us, vec![download(1, 500_000 * times, at_us)]);
        let closed = FlowView {
            closed: true,
            ..download(2, 500_000, at_us)
        };
        look.flows.push(closed);
        let down = quic(4_000_000 * times, at_us);
        let up = WindowlessView {
            direction: Direction::Up,
            bytes: 100_000 * times,
            ..down.clone()
        };
        look.windowless = vec![down, up];
        look
    };
    let model = model(look);
    let now = serde_json::to_value(Now::of(&model, &History::default(), START_US)).unwrap();
    let flows = now["flows"].as_array().unwrap();
    let of = |flow: &Value| (flow["what"].clone(), flow["direction"].clone());
    let said: Vec<_> = flows.iter().map(of).collect();
    let down = || Value::from("down");
    let expected = [
        ("QUIC".into(), down()),
        ("its sender sends no faster".into(), down()),
    ];
    assert_eq!(said, expected);
    assert_eq!(now["more_flows"], 0);
}

#[test]
fn another_machine_is_named_on_the_page() {
    let look = |at_us, times| {
        let mut look = snapshot(at_us, vec![download(1, 500_000 * times, at_us)]);
        look.paths[0].groups[0].record.state = PathState::Competing;
        look.paths[0].traffic[0].bytes = 500_000 * times;
        look
    };
    let model = model(look);
    let now = serde_json::to_value(Now::of(&model, &History::default(), START_US)).unwrap();
    assert_eq!(now["flows"][0]["what"], "beside another machine", "{now}");
    let lines = now["verdict"]["lines"].as_array().unwrap();
    let said = |line: &Value| {
        line.as_str()
            .unwrap()
            .contains("another machine fills the link")
    };
    assert!(lines.iter().any(said), "{now}");
}

#[test]
fn every_kind_has_its_reason() {
    let about = About {
        law: Law::Tide,
        ..About::default()
    };
    for kind in Kind::ALL {
        for direction in Direction::ALL {
            let reached = about.reaches(kind, direction);
            let why = reason(kind, reached, &[], &about);
            assert_eq!(
                why.contains("steered by its receive window"),
                reached,
                "{kind:?}: {why}"
            );
        }
    }
    let left = reason(
        Kind::TcpLeft,
        false,
        &[Reason::NoScale, Reason::Denied],
        &about,
    );
    assert!(
        left.contains("handshake was missed") && left.contains("; a rule"),
        "{left}"
    );
}

#[test]
fn what_is_told_of_nothing_is_complete() {
    let model = model(|at_us, _| snapshot(at_us, vec![]));
    let now = serde_json::to_value(Now::of(&model, &History::default(), START_US)).unwrap();
    assert_eq!(now["ways"].as_array().unwrap().len(), 2);
    assert_eq!(now["up_s"], 91);
    assert!(now["verdict"]["queue_us"].is_null(), "{now}");
    assert!(
        now["agent"]
            .as_str()
            .unwrap()
            .starts_with("steering downloads and uploads on wwan0")
    );
}
