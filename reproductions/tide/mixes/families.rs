//! The families of mixes: traffic that can share one interface.

use super::draft::{Draft, Narrow, Way};
use super::draw::Draw;
use crate::workloads::{bulk, median_page, ping};
use tidegate_scenario::Direction::{Down, Up};
use tidegate_scenario::{RateSpec, WorkloadKind};

/// The uplink beside a downlink: this share of its rate, at least that many Mbit/s, so that ACKs never wait.
const UPLINK_SHARE: f64 = 0.1;
const UPLINK_MBPS: f64 = 5.0;

/// Base RTTs near and far, in milliseconds.
const NEAR_MS: (f64, f64) = (5.0, 20.0);
const FAR_MS: (f64, f64) = (100.0, 300.0);
const ANY_MS: (f64, f64) = (5.0, 300.0);

/// Buffer of a bottleneck elsewhere, in seconds of its rate.
const BUFFER_S: (f64, f64) = (0.1, 1.0);

/// Web objects, in bytes.
const OBJECTS: [u64; 3] = [30_000, 200_000, 1_000_000];

/// Seconds after which the second to come begins.
const LATER_S: f64 = 5.0;

/// Mixes of one kind.
#[derive(Clone, Copy, Debug)]
pub struct Family {
    /// Its subject.
    pub name: &'static str,
    /// Draws a mix.
    pub draft: fn(&mut Draw) -> Draft,
}

/// All families.
pub const ALL: [Family; 11] = [
    family("near stream beside far bulk", near_stream),
    family("near bulk beside far bulk", near_bulk),
    family("bottleneck elsewhere", elsewhere),
    family("server", server),
    family("home server", home_server),
    family("VPN beside web", vpn),
    family("LAN file beside WAN download", lan),
    family("household", household),
    family("router", router),
    family("50 equals", fifty),
    family("300 equals", three_hundred),
];

const fn family(name: &'static str, draft: fn(&mut Draw) -> Draft) -> Family {
    Family { name, draft }
}

fn near_stream(draw: &mut Draw) -> Draft {
    let (mut draft, mbps) = downlink(draw, 5.0, 1000.0);
    let near = wide(draw, &mut draft, "near", NEAR_MS);
    let far = wide(draw, &mut draft, "far", FAR_MS);
    let [first_s, second_s] = starts(draw);
    let rate = draw.between(0.1, (0.4 * mbps).min(20.0));
    draft.does("stream", &near, first_s, stream(rate));
    draft.bulk("bulk", &far, Down, second_s);
    draft
}

fn near_bulk(draw: &mut Draw) -> Draft {
    let (mut draft, _) = downlink(draw, 5.0, 300.0);
    let near = wide(draw, &mut draft, "near", NEAR_MS);
    let far = wide(draw, &mut draft, "far", FAR_MS);
    let [first_s, second_s] = starts(draw);
    draft.bulk("near bulk", &near, Down, first_s);
    draft.bulk("far bulk", &far, Down, second_s);
    draft
}

fn elsewhere(draw: &mut Draw) -> Draft {
    let (mut draft, mbps) = downlink(draw, 10.0, 300.0);
    let narrow = narrow(draw, 0.1 * mbps, 0.6 * mbps);
    let slow = way_of(draw, &mut draft, "slow", ANY_MS, Some(narrow));
    let wide = wide(draw, &mut draft, "wide", (5.0, 100.0));
    let [first_s, second_s] = starts(draw);
    let rate = draw.between(0.1, (0.2 * mbps).min(20.0));
    draft.bulk("slow bulk", &slow, Down, first_s);
    draft.bulk("bulk", &wide, Down, second_s);
    draft.does("stream", &wide, 0.0, stream(rate));
    draft.does("objects", &wide, 0.0, objects(0.5));
    draft
}

fn server(draw: &mut Draw) -> Draft {
    let mbps = draw.between(20.0, 1000.0);
    let mut draft = Draft::new(RateSpec::ConstantMbps(mbps), mbps, mbps);
    for client in 1..=draw.count(3..=12) {
        let narrow = narrow(draw, 2.0, 1000.0);
        upload(draw, &mut draft, client, Some(narrow), 0.0);
    }
    draft
}

fn home_server(draw: &mut Draw) -> Draft {
    let mbps = draw.between(5.0, 100.0);
    let mut draft = Draft::new(RateSpec::ConstantMbps(4.0 * mbps), mbps, mbps);
    let gap_s = draw.between(1.0, 5.0);
    for client in 1..=draw.count(3..=6) {
        let narrow = draw.chance(0.6).then(|| narrow(draw, 0.05 * mbps, mbps));
        upload(
            draw,
            &mut draft,
            client,
            narrow,
            gap_s * (client - 1) as f64,
        );
    }
    draft
}

fn vpn(draw: &mut Draw) -> Draft {
    let (mut draft, mbps) = downlink(draw, 10.0, 300.0);
    let narrow = narrow(draw, 1.5, (0.6 * mbps).min(10.0));
    let tunnel = way_of(draw, &mut draft, "tunnel", (20.0, 200.0), Some(narrow));
    let web = wide(draw, &mut draft, "web", (5.0, 60.0));
    for inner in 1..=draw.count(1..=3) {
        draft.bulk(&format!("tunnelled {inner}"), &tunnel, Down, 0.0);
    }
    draft.does("objects", &web, 0.0, objects(0.3));
    draft
}

fn lan(draw: &mut Draw) -> Draft {
    let (mut draft, _) = downlink(draw, 5.0, 200.0);
    let network = Narrow {
        mbps: draw.between(50.0, 500.0),
        buffer_s: draw.between(0.01, 0.1),
    };
    let rtt_ms = draw.between(1.0, 5.0);
    let lan = draft.lan(rtt_ms, network);
    let wan = wide(draw, &mut draft, "wan", ANY_MS);
    let [first_s, second_s] = starts(draw);
    draft.bulk("file", &lan, Down, first_s);
    draft.bulk("download", &wan, Down, second_s);
    draft
}

fn household(draw: &mut Draw) -> Draft {
    let down = draw.between(25.0, 500.0);
    let up_mbps = draw.between(5.0, 50.0).max(UPLINK_SHARE * down);
    let mut draft = Draft::new(RateSpec::ConstantMbps(down), up_mbps, down);
    let near = wide(draw, &mut draft, "near", NEAR_MS);
    let far = wide(draw, &mut draft, "far", FAR_MS);
    let rtt_ms = draw.between(20.0, 100.0);
    let cloud = draft.way("cloud", Up, rtt_ms, None);
    for video in ["video 1", "video 2"] {
        let mbps = draw.between(1.0, (0.15 * down).min(16.0));
        draft.does(video, &near, 0.0, played(mbps));
    }
    draft.bulk("near download", &near, Down, LATER_S);
    draft.bulk("far download", &far, Down, LATER_S);
    draft.bulk("backup", &cloud, Up, LATER_S);
    draft.does("page", &near, LATER_S, median_page(3.0));
    draft.does("ping", &near, 0.0, ping(100.0, 84));
    draft
}

fn router(draw: &mut Draw) -> Draft {
    let (mut draft, mbps) = downlink(draw, 20.0, 500.0);
    for number in 1..=draw.count(2..=8) {
        let narrow = narrow(draw, 2.0, mbps);
        let rtt_ms = draw.between(5.0, 200.0);
        let link = draft.subscriber(&format!("subscriber {number}"), rtt_ms, narrow);
        draft.bulk(&format!("bulk {number}"), &link, Down, 0.0);
        if draw.chance(0.3) {
            let rate = draw.between(0.1, 0.3 * narrow.mbps);
            draft.does(&format!("stream {number}"), &link, 0.0, stream(rate));
        }
    }
    draft
}

fn fifty(draw: &mut Draw) -> Draft {
    equals(draw, 50, 20.0)
}

fn three_hundred(draw: &mut Draw) -> Draft {
    equals(draw, 300, 50.0)
}

fn equals(draw: &mut Draw, flows: u64, least_mbps: f64) -> Draft {
    let (mut draft, _) = downlink(draw, least_mbps, 500.0);
    let way = wide(draw, &mut draft, "way", (10.0, 200.0));
    draft.does("equal", &way, 0.0, bulk("equal", Down, None, flows).does);
    draft
}

/// An access link for downloads, and its downlink's mean rate in Mbit/s.
fn downlink(draw: &mut Draw, low: f64, high: f64) -> (Draft, f64) {
    let (rate, mbps) = draw.access(low, high);
    let up_mbps = UPLINK_MBPS.max(UPLINK_SHARE * mbps);
    (Draft::new(rate, up_mbps, mbps), mbps)
}

fn wide(draw: &mut Draw, draft: &mut Draft, name: &str, rtt_ms: (f64, f64)) -> Way {
    way_of(draw, draft, name, rtt_ms, None)
}

fn way_of(
    draw: &mut Draw,
    draft: &mut Draft,
    name: &str,
    (low_ms, high_ms): (f64, f64),
    narrow: Option<Narrow>,
) -> Way {
    let rtt_ms = draw.between(low_ms, high_ms);
    draft.way(name, Down, rtt_ms, narrow)
}

fn narrow(draw: &mut Draw, low_mbps: f64, high_mbps: f64) -> Narrow {
    Narrow {
        mbps: draw.between(low_mbps, high_mbps),
        buffer_s: draw.between(BUFFER_S.0, BUFFER_S.1),
    }
}

/// An upload: a remote client's download from the server here.
fn upload(draw: &mut Draw, draft: &mut Draft, client: usize, narrow: Option<Narrow>, start_s: f64) {
    let rtt_ms = draw.between(5.0, 200.0);
    let way = draft.way(&format!("client {client}"), Up, rtt_ms, narrow);
    draft.bulk(&format!("to client {client}"), &way, Up, start_s);
}

/// Start times of two flows: either one first, or both at once.
fn starts(draw: &mut Draw) -> [f64; 2] {
    [[0.0, LATER_S], [LATER_S, 0.0], [0.0, 0.0]][draw.count(0..=2)]
}

fn stream(mbps: f64) -> WorkloadKind {
    WorkloadKind::ConstantRate {
        direction: Down,
        mbps,
    }
}

fn objects(pause_s: f64) -> WorkloadKind {
    WorkloadKind::Web {
        object_bytes: OBJECTS.into(),
        pause_s,
    }
}

fn played(mbps: f64) -> WorkloadKind {
    WorkloadKind::Video {
        mbps,
        chunk_s: 4.0,
        buffer_s: 30.0,
        startup_s: 4.0,
    }
}
