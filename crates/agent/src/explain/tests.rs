use super::{Limit, Situation};
use crate::{Clock, Direction, Endpoint, FlowView, Kind, Reason, RecordView};
use tidegate_laws::{Law, PathState};

fn end(port: u16) -> Endpoint {
    Endpoint {
        address: "192.0.2.1".parse().unwrap(),
        port,
    }
}

/// A download that the law limits: 100 ms, 250 KB in flight in a window of 250 KB.
fn flow() -> FlowView {
    FlowView {
        direction: Direction::Down,
        local: end(40_000),
        remote: end(443),
        ifindex: 2,
        rtt_us: Some(100_000),
        rtt_min_us: Some(80_000),
        samples: 9,
        queue_us: Some(20_000),
        clock: Clock::Understood,
        wanted_bytes: Some(250_000),
        window_bytes: 250_000,
        kernel_bytes: 6_000_000,
        received_bytes: 10_000_000,
        rewritten: 100,
        denied: false,
        held: false,
        mss_bytes: 1448,
        window_scale: Some(7),
        timestamps: true,
        closed: false,
        device: None,
        group: None,
        score: None,
        record: None,
        arrived_us: 1_000_000,
        seen_us: 1_000_000,
        since_us: 1,
    }
}

fn record(state: PathState) -> RecordView {
    RecordView {
        state,
        lag_us: 80_000,
        queue_us: 20_000,
        forecast_bytes: 200_000,
        error_bytes: [20_000; 2],
        bottlenecked_flows: 1,
        questions: 0,
        competing_since_us: None,
    }
}

fn limit(flow: &FlowView, law: Law, state: PathState, bytes_per_s: f64) -> Limit {
    Limit::of(
        flow,
        Situation {
            law,
            record: Some(&record(state)),
            bytes_per_s: Some(bytes_per_s),
            now_us: 1_000_500,
        },
    )
}

#[test]
fn each_limit_is_told_from_what_the_kernel_shows() {
    type Change = fn(&mut FlowView);
    let cases: [(Change, Law, PathState, f64, Limit); 22] = [
        (|_| {}, Law::Tide, PathState::Running, 2.5e6, Limit::Law),
        (
            |f| f.held = true,
            Law::Tide,
            PathState::Running,
            2.5e6,
            Limit::Promised,
        ),
        (
            |_| {},
            Law::Tide,
            PathState::Competing,
            0.5e6,
            Limit::Competing,
        ),
        (
            |_| {},
            Law::Tide,
            PathState::Rechecking,
            2.5e6,
            Limit::Rechecking,
        ),
        // The path's state is tide's own.
        (|_| {}, Law::Drwa, PathState::Competing, 2.5e6, Limit::Law),
        (|_| {}, Law::Tide, PathState::Running, 0.5e6, Limit::Sender),
        (
            |f| (f.kernel_bytes, f.window_bytes) = (250_000, 250_000),
            Law::Tide,
            PathState::Running,
            2.5e6,
            Limit::Kernel,
        ),
        (
            |f| f.kernel_bytes = 0,
            Law::Tide,
            PathState::Running,
            0.0,
            Limit::Reader,
        ),
        (
            |f| f.arrived_us = 400_000,
            Law::Tide,
            PathState::Running,
            0.0,
            Limit::Application,
        ),
        (
            |f| f.wanted_bytes = None,
            Law::Tide,
            PathState::Starting,
            2.5e6,
            Limit::Starting,
        ),
        (
            |f| f.wanted_bytes = None,
            Law::Drwa,
            PathState::Starting,
            2.5e6,
            Limit::Open,
        ),
        (
            |f| f.timestamps = false,
            Law::Rsfc,
            PathState::Running,
            2.5e6,
            Limit::NoTimestamps,
        ),
        (
            |f| f.timestamps = false,
            Law::Tide,
            PathState::Running,
            2.5e6,
            Limit::Law,
        ),
        (
            |f| f.timestamps = false,
            Law::Drwa,
            PathState::Running,
            2.5e6,
            Limit::Law,
        ),
        (
            |f| (f.clock, f.wanted_bytes) = (Clock::Unknown, None),
            Law::Rsfc,
            PathState::Running,
            2.5e6,
            Limit::LeftAlone(Reason::NoClock),
        ),
        (
            // By round trips.
            |f| f.clock = Clock::Unknown,
            Law::Tide,
            PathState::Running,
            2.5e6,
            Limit::Law,
        ),
        (
            |f| (f.clock, f.wanted_bytes) = (Clock::Unknown, None),
            Law::Tide,
            PathState::Running,
            2.5e6,
            Limit::LeftAlone(Reason::NoClock),
        ),
        (
            |f| f.clock = Clock::Unknown,
            Law::Drwa,
            PathState::Running,
            2.5e6,
            Limit::Law,
        ),
        (
            |f| f.clock = Clock::Unknown,
            Law::Rledbat,
            PathState::Running,
            2.5e6,
            Limit::Law,
        ),
        (
            |f| f.window_scale = None,
            Law::Tide,
            PathState::Running,
            2.5e6,
            Limit::LeftAlone(Reason::NoScale),
        ),
        (|_| {}, Law::None, PathState::Starting, 2.5e6, Limit::NoLaw),
        (
            |f| f.closed = true,
            Law::Tide,
            PathState::Running,
            2.5e6,
            Limit::Closed,
        ),
    ];
    for (i, (change, law, state, rate, expected)) in cases.into_iter().enumerate() {
        let mut flow = flow();
        change(&mut flow);
        assert_eq!(limit(&flow, law, state, rate), expected, "case {i}");
    }
}

#[test]
fn until_a_rate_is_known_the_sender_is_not_blamed() {
    let at = Situation {
        law: Law::Tide,
        record: None,
        bytes_per_s: None,
        now_us: 1_000_500,
    };
    assert_eq!(Limit::of(&flow(), at), Limit::Law);
}

#[test]
fn what_is_left_alone_is_told_by_its_reason() {
    let limit = Limit::LeftAlone(Reason::IpOptions);
    assert!(limit.is_left_alone());
    assert_eq!(limit.words(), Reason::IpOptions.about());
    assert_eq!(limit.short(), "IP options");
}

#[test]
fn each_reason_has_words_of_its_own() {
    let mut told = Reason::ALL.map(Reason::about).to_vec();
    told.sort_unstable();
    told.dedup();
    assert_eq!(told.len(), Reason::ALL.len());
    assert!(told.iter().all(|words| !words.is_empty()));
}

#[test]
fn each_kind_has_words_and_a_label_of_its_own() {
    for tell in [Kind::about, Kind::short] {
        let mut told = Kind::ALL.map(tell).to_vec();
        told.sort_unstable();
        told.dedup();
        assert_eq!(told.len(), Kind::ALL.len());
    }
}

#[test]
fn limits_go_by_their_names_in_files() {
    for (limit, name) in [
        (Limit::NoTimestamps, "no_timestamps"),
        (Limit::LeftAlone(Reason::NoScale), "no_scale"),
        (Limit::Windowless(Kind::MaybeQuic), "maybe_quic"),
    ] {
        let text = serde_json::to_string(&limit).unwrap();
        assert_eq!(text, format!("{name:?}"));
    }
}
