//! A reader that stops and starts in real time: with our TCP at both ends, and at one end opposite the kernel, which
//! has no adaptive flow control. Every byte is checked as it arrives.

use crate::common::{flow, laboratory, run};
use tidegate_lab::Options;

/// A reader at 0, 6 and 6 Mbit/s in turn over 106 ms, with a quarter of the buffer for what it reads in a round trip:
/// it could have 4 Mbit/s. `own`: hosts with our TCP.
fn stalling(own: &str, runs: &[&str]) -> Vec<f64> {
    let link = "{ rate = { constant_mbps = 15 }, delay_ms = 53, queue = { packets = 1000 } }";
    let runs = runs.join(", ");
    let text = format!(
        "duration_s = 6
         hosts = {{ congestion_control = 'reno', slow_start_after_idle = false, own_tcp = {own} }}
         down = {link}
         up = {link}
         workload = [{{ name = 'reader', does = {{ reader = {{ reads = {{ slots = {{
             mbps = [0, 6, 6], slot_s = 0.2 }} }} }} }} }}]
         run = [{runs}]"
    );
    let results = run(&text, &Options::default());
    let of = |run| flow(run, "reader").goodput_bps / 1e6;
    let mbps = results.runs.iter().map(of).collect();
    eprintln!("{own} ours: {mbps:.2?} Mbit/s");
    mbps
}

const CLASSIC: &str = "{ name = 'classic', window = 20_000, flow_control = 'classic' }";
const LINUX: &str = "{ name = 'linux', window = 20_000 }";
const ADAPTIVE: &str = "{ name = 'afc', window = 20_000, flow_control = 'adaptive' }";

#[test]
fn between_two_of_ours_afc_makes_up_for_a_small_buffer() {
    let Some(_turn) = laboratory() else { return };
    let mbps = stalling("['client', 'server']", &[CLASSIC, LINUX, ADAPTIVE]);
    let [classic, linux, adaptive] = mbps[..] else {
        panic!("three runs")
    };
    assert!(adaptive > 1.5 * classic, "{adaptive} against {classic}");
    assert!(adaptive > 1.2 * linux, "{adaptive} against {linux}");
    assert!(adaptive < 4.1, "{adaptive}");
}

/// The kernel does not answer the option in the SYN, so a host that asked for AFC uses classic windows. It is chance
/// how many probes of a closed window find it open, so two classic runs may differ by a factor; AFC gets three times as
/// much.
#[test]
fn opposite_a_kernel_afc_steps_aside() {
    let Some(_turn) = laboratory() else { return };
    let mbps = stalling("['client']", &[CLASSIC, ADAPTIVE]);
    for one in &mbps {
        assert!((0.1..1.2).contains(one), "{mbps:?}");
    }
}

/// With the kernel at either end, either end sending, and either SYN coming first.
#[test]
fn files_arrive_whole_from_a_kernel_that_was_offered_afc() {
    let Some(_turn) = laboratory() else { return };
    for (own, direction) in [("server", "up"), ("server", "down"), ("client", "down")] {
        let text = format!(
            "duration_s = 4
             hosts = {{ own_tcp = ['{own}'] }}
             down = {{ rate = {{ constant_mbps = 50 }}, delay_ms = 5, loss = {{ random = 0.01 }} }}
             up = {{ rate = {{ constant_mbps = 50 }}, delay_ms = 5, loss = {{ random = 0.01 }} }}
             workload = [{{ name = 'file', does = {{ bulk = {{ bytes = 1_000_000, direction = '{direction}' }} }} }}]
             run = [{{ name = 'afc', window = 262_144, flow_control = 'adaptive' }}]"
        );
        let result = run(&text, &Options::default()).runs.remove(0);
        let file = flow(&result, "file");
        assert!(file.completion_s.is_some(), "{own}, {direction}: {file:?}");
    }
}
