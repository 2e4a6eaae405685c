//! A reader that stops and starts in real time: our TCP at both ends, and at one with the kernel
//! opposite, which knows nothing of adaptive flow control. Every byte is checked as it arrives.

use crate::common::{flow, laboratory, run};
use tidegate_lab::Options;
use tidegate_scenario::RunResult;

/// Scenario 2 of the AFC paper's Table 3 with a fifth of its round trip and of its buffer: the reader
/// could have 4 Mbit/s. `own`: hosts of ours.
fn stalling(own: &str, runs: &str) -> Vec<RunResult> {
    let text = format!(
        "duration_s = 6
         hosts = {{ congestion_control = 'reno', slow_start_after_idle = false, own_tcp = {own} }}
         down = {{ rate = {{ constant_mbps = 15 }}, delay_ms = 53, queue = {{ packets = 1000 }} }}
         up = {{ rate = {{ constant_mbps = 15 }}, delay_ms = 53, queue = {{ packets = 1000 }} }}
         workload = [{{ name = 'reader', does = {{ reader = {{ reads = {{ slots = {{
             mbps = [0, 6, 6], slot_s = 0.108 }} }} }} }} }}]
         run = [{runs}]"
    );
    run(&text, &Options::default()).runs
}

const CLASSIC: &str = "{ name = 'classic', window = 52_000, flow_control = 'classic' }";
const LINUX: &str = "{ name = 'linux', window = 52_000 }";
const ADAPTIVE: &str = "{ name = 'afc', window = 52_000, flow_control = 'adaptive' }";

fn mbps(results: &[RunResult]) -> Vec<f64> {
    let of = |run| flow(run, "reader").goodput_bps / 1e6;
    let mbps = results.iter().map(of).collect();
    eprintln!("{mbps:.2?} Mbit/s");
    mbps
}

#[test]
fn between_two_of_ours_afc_gets_most_of_what_a_stalling_reader_could_have() {
    let Some(_turn) = laboratory() else { return };
    let runs = [CLASSIC, LINUX, ADAPTIVE].join(", ");
    let [classic, linux, adaptive] = mbps(&stalling("['client', 'server']", &runs))[..] else {
        panic!("three runs")
    };
    assert!(adaptive > 1.4 * classic, "{adaptive} against {classic}");
    assert!(adaptive > 1.2 * linux, "{adaptive} against {linux}");
    assert!(adaptive < 4.1, "{adaptive}");
}

/// The kernel does not answer the option in the SYN, whoever sends that first: what asked for AFC has
/// classic windows.
#[test]
fn opposite_a_kernel_afc_steps_aside() {
    let Some(_turn) = laboratory() else { return };
    let runs = [CLASSIC, ADAPTIVE].join(", ");
    for own in ["['client']", "['server']"] {
        let [classic, adaptive] = mbps(&stalling(own, &runs))[..] else {
            panic!("two runs")
        };
        let ratio = adaptive / classic;
        assert!((0.8..1.25).contains(&ratio), "{own}: {ratio}");
    }
}

/// Our server's fixed buffer takes a kernel's upload, and our client's a kernel's download, whole.
#[test]
fn files_arrive_whole_from_a_kernel_that_was_offered_afc() {
    let Some(_turn) = laboratory() else { return };
    for (own, direction) in [("server", "up"), ("client", "down"), ("server", "down")] {
        let text = format!(
            "duration_s = 5
             hosts = {{ own_tcp = ['{own}'] }}
             down = {{ rate = {{ constant_mbps = 50 }}, delay_ms = 5, loss = {{ random = 0.01 }} }}
             up = {{ rate = {{ constant_mbps = 50 }}, delay_ms = 5, loss = {{ random = 0.01 }} }}
             workload = [{{ name = 'file', does = {{ bulk = {{ bytes = 2_000_000, direction = '{direction}' }} }} }}]
             run = [{{ name = 'afc', window = 262_144, flow_control = 'adaptive' }}]"
        );
        let result = run(&text, &Options::default()).runs.remove(0);
        let file = flow(&result, "file");
        assert!(file.completion_s.is_some(), "{own}, {direction}: {file:?}");
    }
}
