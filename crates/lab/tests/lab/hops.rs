//! Links behind links, and workloads that cross a part of them.

use crate::common::{flow, laboratory, run};
use tidegate_lab::Options;

const QUEUE: &str = "queue = { packets = 50 }";

fn link(mbps: f64, delay_ms: f64) -> String {
    format!("{{ rate = {{ constant_mbps = {mbps} }}, delay_ms = {delay_ms}, {QUEUE} }}")
}

/// Two servers with core links of their own behind one downlink of 8 Mbit/s, and a third flow that crosses
/// no core link: the narrow core limits one, the downlink all together.
#[test]
fn flows_share_the_links_that_they_have_in_common() {
    let Some(_turn) = laboratory() else { return };
    let text = format!(
        "duration_s = 8
         warmup_s = 2
         hosts = {{ congestion_control = 'reno' }}
         down = {down}
         up = {up}
         hop = [{{ name = 'narrow', link = {narrow} }}, {{ name = 'wide', link = {wide} }}]
         workload = [
           {{ name = 'a', links = ['narrow', 'down', 'up'], does = {{ bulk = {{}} }} }},
           {{ name = 'b', links = ['wide', 'down', 'up'], does = {{ bulk = {{}} }} }},
           {{ name = 'aside', links = ['wide', 'up'], does = {{ bulk = {{ bytes = 100_000 }} }} }},
         ]
         run = [{{ name = 'linux' }}]",
        down = link(8.0, 5.0),
        up = link(100.0, 10.0),
        narrow = link(1.0, 5.0),
        wide = link(50.0, 5.0),
    );
    let result = run(&text, &Options::default()).runs.remove(0);
    let mbps = |name| flow(&result, name).goodput_bps / 1e6;
    let (a, b) = (mbps("a"), mbps("b"));
    assert!((0.7..1.0).contains(&a), "{a} of 1 Mbit/s");
    assert!((6.5..7.8).contains(&(a + b)), "{a} and {b} of 8 Mbit/s");
    assert!(flow(&result, "aside").completion_s.is_some());
    let hop = |name| {
        let hop = result.hops.iter().find(|hop| hop.name == name);
        hop.map(|hop| &hop.link).expect("a hop")
    };
    assert!(hop("narrow").utilisation > 0.8, "{:?}", hop("narrow"));
    let queue = hop("narrow").queue_delay_ms.p95;
    assert!((100.0..620.0).contains(&queue), "{queue} ms of 600");
    assert_eq!(result.health.plumbing_losses, 0, "{:?}", result.health);
}

/// Workloads that choose no links cross all of them.
#[test]
fn a_hop_adds_to_the_round_trip() {
    let Some(_turn) = laboratory() else { return };
    let text = format!(
        "duration_s = 3
         down = {one}
         up = {one}
         hop = [{{ name = 'core', link = {core} }}]
         workload = [{{ name = 'ping', does = {{ ping = {{ interval_ms = 20 }} }} }}]
         run = [{{ name = 'linux' }}]",
        one = link(10.0, 10.0),
        core = link(10.0, 30.0),
    );
    let result = run(&text, &Options::default()).runs.remove(0);
    let rtt = flow(&result, "ping").rtt_ms.p50;
    assert!((50.0..53.0).contains(&rtt), "{rtt} ms");
}
