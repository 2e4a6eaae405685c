//! Which device a flow belongs to, if shares are by device.

use crate::devices::DeviceView;
use crate::fixtures::{START_US, download, snapshot};
use crate::snapshot::Snapshot;
use crate::top::filter::Filter;
use crate::top::model::{Model, Selection};
use crate::top::once::table;
use crate::top::order::Order;

fn device(number: u32, name: Option<&str>) -> DeviceView {
    DeviceView {
        number,
        name: name.map(Into::into),
        mac: Some("02:00:5e:10:00:01".parse().unwrap()),
        address: format!("192.0.2.{number}").parse().unwrap(),
        own: number == 1,
        weight: 1,
    }
}

/// Three devices and a stranger: this machine with one flow, a television with two, one without a name.
fn look(at_us: u64, bytes: u64) -> Snapshot {
    let flow = |port: u16, device: Option<u32>, share: u64| {
        let mut flow = download(port, share * bytes, at_us);
        flow.device = device;
        flow
    };
    let flows = vec![
        flow(1, Some(1), 1),
        flow(2, Some(2), 3),
        flow(3, Some(2), 2),
        flow(4, Some(3), 4),
        flow(5, None, 7),
    ];
    let mut snapshot = snapshot(at_us, flows);
    snapshot.agent.by_device = true;
    snapshot.devices = vec![device(1, None), device(2, Some("tv")), device(3, None)];
    snapshot
}

fn model() -> Model {
    let mut model = Model::default();
    model.update(look(START_US, 100_000));
    model.update(look(START_US + 1_000_000, 225_000));
    model
}

#[test]
fn a_device_has_what_its_flows_have_the_fastest_first() {
    let model = model();
    let devices = &model.paths[0].devices;
    let seen: Vec<_> = devices
        .iter()
        .map(|d| (d.label.as_str(), d.flows, d.rate_bps.unwrap()))
        .collect();
    let expected = [
        ("tv", 2, 5e6),
        ("192.0.2.3", 1, 4e6),
        ("this machine", 1, 1e6),
    ];
    assert_eq!(seen, expected);
}

#[test]
fn rows_are_sorted_and_found_by_their_device() {
    let model = model();
    let selection = Selection {
        order: Order::Device,
        ..Selection::default()
    };
    let ports: Vec<_> = model
        .rows(&selection)
        .iter()
        .map(|r| r.key.local.port)
        .collect();
    assert_eq!(ports, [4, 1, 2, 3, 5], "a stranger comes last");
    let selection = Selection {
        filter: Filter::new("TV"),
        ..Selection::default()
    };
    assert_eq!(model.rows(&selection).len(), 2);
}

#[test]
fn a_table_names_them_where_shares_are_by_device() {
    let mut model = model();
    let rows = |model: &Model| table(model, &model.rows(&Selection::default()), None);
    let text = rows(&model);
    assert!(text.contains("  tv: 2 flows, 5.0 Mb/s, "), "{text}");
    assert!(text.contains("DEVICE"), "{text}");
    model.about.by_device = false;
    assert!(!rows(&model).contains("DEVICE"), "{text}");
}
