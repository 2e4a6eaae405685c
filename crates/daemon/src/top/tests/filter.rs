use crate::fixtures::{START_US, download, quic, snapshot};
use crate::top::filter::Filter;
use crate::top::model::{Model, Selection};

/// Local ports that `filter` admits, of a download and of a QUIC flow.
fn admitted(filter: &str) -> Vec<u16> {
    let mut model = Model::default();
    let mut look = snapshot(START_US, vec![download(40_000, 9000, START_US)]);
    look.windowless = vec![quic(240_000, START_US)];
    model.update(look);
    let selection = Selection {
        filter: Filter::new(filter),
        ..Selection::default()
    };
    let rows = model.rows(&selection);
    rows.iter().map(|row| row.key.local.port).collect()
}

#[test]
fn words_are_ports_directions_kinds_or_parts_of_what_is_shown() {
    let (flow, quic) = (40_000, 50_000);
    for (filter, expected) in [
        ("", vec![flow, quic]),
        ("443", vec![flow, quic]),
        (":40000", vec![flow]),
        ("44", vec![]),
        ("down", vec![flow, quic]),
        ("up", vec![]),
        ("steered", vec![flow]),
        ("left", vec![quic]),
        ("group3", vec![flow]),
        ("group4", vec![]),
        ("!group3", vec![quic]),
        ("alone", vec![]),
        ("udp", vec![quic]),
        ("!udp", vec![flow]),
        ("quic", vec![quic]),
        ("WWAN", vec![flow, quic]),
        ("198.51.", vec![flow]),
        ("2001:db8", vec![quic]),
        ("law's", vec![flow]),
        ("down 443 !40000", vec![quic]),
    ] {
        assert_eq!(admitted(filter), expected, "{filter}");
    }
}
