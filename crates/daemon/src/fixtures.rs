//! Snapshots made by hand, for tests.

use crate::about::{About, Place};
use crate::account::Account;
use crate::snapshot::{Snapshot, VERSION};
use tidegate_agent::{
    Carried, Clock, Count, Direction, Ecn, Endpoint, FlowView, GroupView, Kind, LeftView, Marks,
    Origin, PathView, Reason, RecordView, WindowlessView,
};
use tidegate_laws::{Law, PathState};

/// A moment, µs.
pub const START_US: u64 = 1_000_000_000;

pub fn end(address: &str, port: u16) -> Endpoint {
    Endpoint {
        address: address.parse().unwrap(),
        port,
    }
}

/// A download of `bytes` so far that the law limits.
pub fn download(port: u16, bytes: u64, at_us: u64) -> FlowView {
    FlowView {
        direction: Direction::Down,
        local: end("192.0.2.7", port),
        remote: end("198.51.100.9", 443),
        ifindex: 2,
        rtt_us: Some(80_000),
        rtt_min_us: Some(50_000),
        samples: 9,
        queue_us: Some(30_000),
        clock: Clock::Understood,
        wanted_bytes: Some(100_000),
        window_bytes: 100_000,
        kernel_bytes: 6_000_000,
        received_bytes: bytes,
        rewritten: 100,
        denied: false,
        held: false,
        mss_bytes: 1448,
        window_scale: Some(7),
        timestamps: true,
        closed: false,
        device: None,
        group: Some(3),
        score: Some(20),
        record: None,
        arrived_us: at_us,
        seen_us: at_us,
        since_us: START_US,
    }
}

/// QUIC data so far.
pub fn quic(bytes: u64, at_us: u64) -> WindowlessView {
    let packets = bytes / 1200;
    WindowlessView {
        direction: Direction::Down,
        local: end("192.0.2.7", 50_000),
        remote: end("2001:db8::9", 443),
        ifindex: 2,
        protocol: 17,
        kind: Kind::Quic,
        origin: Origin::Own,
        packets: Marks::new([0, 0, packets, 0]),
        bytes,
        first_us: START_US,
        seen_us: at_us,
        hold: None,
    }
}

/// TCP-MD5 or TCP-AO, whose checksum covers the window, so that it cannot be changed.
pub fn sealed(bytes: u64, at_us: u64) -> LeftView {
    LeftView {
        direction: Direction::Down,
        local: end("192.0.2.7", 50_001),
        remote: end("2001:db8::9", 179),
        ifindex: 2,
        protocol: 6,
        reason: Reason::Sealed,
        packets: bytes / 1200,
        bytes,
        seen_us: at_us,
        since_us: START_US,
    }
}

/// The law's record of a link of 20 Mbit/s.
pub const RECORD: RecordView = RecordView {
    state: PathState::Running,
    lag_us: 50_000,
    queue_us: 30_000,
    forecast_bytes: 125_000,
    error_bytes: [5_000, 6_000],
    bottlenecked_flows: 2,
    questions: 1,
    competing_since_us: None,
};

/// A path that has carried these bytes of each kind.
pub fn path(kinds: &[(Kind, u64)]) -> PathView {
    let carried = |&(kind, bytes): &(Kind, u64)| Carried {
        kind,
        ecn: Ecn::NotEct,
        packets: bytes.div_ceil(1500),
        bytes,
    };
    PathView {
        direction: Direction::Down,
        ifindex: 2,
        queue_us: 30_000,
        groups: vec![GroupView {
            group: 3,
            place: 1,
            flows: 2,
            record: RECORD,
        }],
        alone: 1,
        measured_bytes: 0,
        traffic: kinds.iter().map(carried).collect(),
    }
}

pub fn snapshot(at_us: u64, flows: Vec<FlowView>) -> Snapshot {
    Snapshot {
        version: VERSION,
        at_us,
        agent: About {
            version: "1.2.3".into(),
            pid: 7,
            namespace: Some(8),
            law: Law::Tide,
            dry_run: false,
            directions: "downloads and uploads".into(),
            hook: "tcx".into(),
            udp: crate::udp::Otherwise::Leave,
            by_device: false,
            holds: false,
            passes: false,
            paused: None,
            hold_directions: Vec::new(),
            hold_kinds: Vec::new(),
            hidden: None,
            interfaces: vec![Place {
                name: "wwan0".into(),
                ifindex: 2,
            }],
            since_us: START_US - 90_000_000,
        },
        devices: vec![],
        counts: vec![Count {
            direction: Direction::Down,
            reason: Reason::Measured,
            packets: 3,
            bytes: 4500,
        }],
        paths: vec![path(&[(Kind::Tcp, 30_000), (Kind::Quic, 10_000)])],
        tables: vec![],
        flows,
        left: vec![],
        windowless: vec![],
        hold: None,
        account: Account::default(),
    }
}
