//! The tables' memory: as computed beforehand, and as the kernel counts it.

use crate::testbed::{interface, on_testbed};
use tidegate_agent::{Agent, Config, Directions, table_bytes};

/// The defaults of a small router, and of a machine with much memory.
const CONNECTIONS: [u32; 2] = [512, 16_384];

/// By how much the two may differ.
const TOLERANCE: f64 = 0.15;

#[test]
fn tables_take_what_is_said_beforehand() {
    on_testbed(|_| {
        for connections in CONNECTIONS {
            for directions in [Directions::Both, Directions::Downloads, Directions::Uploads] {
                compare(connections, directions, false);
                compare(connections, directions, true);
            }
        }
    });
}

fn compare(connections: u32, directions: Directions, by_device: bool) {
    let agent = Agent::start(&Config {
        interfaces: vec![interface()],
        connections: Some(connections),
        directions,
        by_device,
        ..Config::default()
    });
    let counted = agent.unwrap().table_bytes().unwrap();
    let said = table_bytes(connections, directions, by_device);
    let case = format!(
        "{connections} connections, {directions:?}, by device {by_device}: said {said}, counted {counted}"
    );
    println!("{case}");
    let ratio = said as f64 / counted as f64;
    assert!((ratio - 1.0).abs() < TOLERANCE, "{case}");
}
