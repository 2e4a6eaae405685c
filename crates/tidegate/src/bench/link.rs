//! Packets a second of the link model under overload, polled as by the laboratory.

use super::Row;
use std::time::{Duration, Instant as Wall};
use tidegate_link::{
    CellKind, CellModel, Config, Instant, Link, Packet, Policy, QueueConfig, Rate,
};

const PACKETS: u64 = 2_000_000;

struct Full;

impl Packet for Full {
    fn wire_bytes(&self) -> usize {
        1500
    }
}

/// Takes about a second.
pub fn measure() -> Vec<Row> {
    let lte = || Rate::from(CellModel::new(CellKind::Lte, Some(100e6), 1));
    let constant = packets_per_second(Rate::constant(100e6), Policy::DropTail);
    // RFC 8289 sections 4.2 and 4.3.
    let codel = Policy::Codel {
        target: Duration::from_millis(5),
        interval: Duration::from_millis(100),
    };
    let cases = [
        (
            "link: LTE cell, drop-tail",
            packets_per_second(lte(), Policy::DropTail),
        ),
        ("link: LTE cell, CoDel", packets_per_second(lte(), codel)),
    ];
    let first = "link: constant rate, drop-tail";
    let rows = cases.map(|(name, rate)| {
        Row::new(name, rate / 1e6, "Mpackets/s").versus(first, rate / constant)
    });
    std::iter::once(Row::new(first, constant / 1e6, "Mpackets/s"))
        .chain(rows)
        .collect()
}

/// Packets arrive ten percent faster than the link carries them.
fn packets_per_second(rate: Rate, policy: Policy) -> f64 {
    let queue = QueueConfig {
        packets: Some(1000),
        bytes: None,
        policy,
        ..QueueConfig::default()
    };
    let delay = Duration::from_millis(20).into();
    let mut link = Link::new(
        Config {
            rate,
            delay,
            queue,
            ..Config::default()
        },
        1,
    );
    let gap = Duration::from_nanos(1500 * 8 * 10 / 11 * 10);
    let started = Wall::now();
    let mut now = Instant::ZERO;
    for _ in 0..PACKETS {
        link.push(now, Full);
        now += gap;
        while link.poll(now).is_some() {}
    }
    PACKETS as f64 / started.elapsed().as_secs_f64()
}
