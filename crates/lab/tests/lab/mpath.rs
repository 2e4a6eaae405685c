//! mPath with real sockets, proxies in their own namespaces, and a registry; and the kernel's MPTCP over the same
//! links.

use crate::common::{flow, laboratory, run};
use std::path::Path;
use tidegate_lab::Options;
use tidegate_testing::{has_program, skipped};

fn link(mbps: f64, delay_ms: f64) -> String {
    let queue = "queue = { packets = 60 }";
    format!("{{ rate = {{ constant_mbps = {mbps} }}, delay_ms = {delay_ms}, {queue} }}")
}

/// A core link of 2 Mbit/s, another of 4 Mbit/s to a proxy, an access link for both, and a proxy that does not answer.
/// Every byte is checked as it arrives.
#[test]
fn a_transfer_goes_round_a_narrow_core_link() {
    let Some(_turn) = laboratory() else { return };
    let text = format!(
        "duration_s = 20
         warmup_s = 8
         down = {down}
         up = {up}
         hop = [
           {{ name = 'core', side = 'client', link = {core} }},
           {{ name = 'detour', side = 'client', link = {detour} }},
         ]
         workload = [{{ name = 'mPath', links = ['core', 'down', 'up'], does = {{ mpath = {{ proxies = [
           {{ name = 'near', links = ['down', 'detour'] }},
           {{ name = 'dead', links = [] }},
         ] }} }} }}]
         run = [{{ name = 'mpath' }}]",
        down = link(20.0, 5.0),
        up = link(100.0, 20.0),
        core = link(2.0, 15.0),
        detour = link(4.0, 15.0),
    );
    let options = Options {
        series: true,
        ..Options::default()
    };
    let result = run(&text, &options).runs.remove(0);
    let mbps = flow(&result, "mPath").goodput_bps / 1e6;
    assert!(
        (3.5..6.0).contains(&mbps),
        "{mbps} of 6 Mbit/s: {result:#?}"
    );
    let transfer = &result.transfers[0];
    assert_eq!(transfer.usable_proxies, 1, "{transfer:?}");
    let has = |quantity, of| {
        let found = result
            .series
            .iter()
            .find(|s| s.quantity == quantity && s.flow == of);
        found.is_some_and(|series| series.t_s.len() > 10)
    };
    for path in ["mPath direct", "mPath near"] {
        assert!(has("path_bps", path) && has("path_packets", path), "{path}");
    }
    assert!(has("cwnd_packets", "mPath") && has("goodput_bps", "mPath"));
    assert_eq!(result.health.plumbing_losses, 0, "{:?}", result.health);
}

/// The kernel's MPTCP, with an address for each path: both core links are used, and every byte arrives once.
#[test]
fn mptcp_has_a_way_to_each_address() {
    let Some(_turn) = laboratory() else { return };
    if !has_program("ip", "iproute2") {
        return;
    }
    if !Path::new("/proc/sys/net/mptcp").exists() {
        return skipped("a kernel without MPTCP");
    }
    let text = format!(
        "duration_s = 12
         warmup_s = 4
         hosts = {{ congestion_control = 'reno' }}
         down = {down}
         up = {up}
         hop = [
           {{ name = 'core', side = 'client', link = {core} }},
           {{ name = 'detour', side = 'client', link = {detour} }},
         ]
         workload = [{{ name = 'mptcp', links = ['core', 'down', 'up'], does = {{ mptcp = {{ paths = [
           {{ name = 'other', links = ['down', 'detour'] }},
         ] }} }} }}]
         run = [{{ name = 'linux' }}]",
        down = link(20.0, 5.0),
        up = link(100.0, 20.0),
        core = link(2.0, 15.0),
        detour = link(4.0, 15.0),
    );
    let result = run(&text, &Options::default()).runs.remove(0);
    let mbps = flow(&result, "mptcp").goodput_bps / 1e6;
    assert!(
        (4.2..7.0).contains(&mbps),
        "{mbps} of 6 Mbit/s: {result:#?}"
    );
}
