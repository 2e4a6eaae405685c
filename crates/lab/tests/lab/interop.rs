//! Our TCP against the kernel's: files both ways over links that lose packets.

use crate::common::{flow, laboratory, run};
use tidegate_lab::Options;
use tidegate_scenario::RunResult;
use tidegate_tcp::cc::Algorithm;

const BYTES: u64 = 10_000_000;

/// Congestion controls that every kernel has or can load.
const KERNEL: [&str; 2] = ["cubic", "reno"];

/// A run in which `own` is the host of ours, for every loss.
fn transfer(direction: &str, own: &str, congestion_control: &str, loss: f64) -> RunResult {
    let loss = match loss {
        0.0 => String::new(),
        share => format!(", loss = {{ random = {share} }}"),
    };
    let link = format!(
        "{{ rate = {{ constant_mbps = 100 }}, delay_ms = 2, queue = {{ packets = 100 }}{loss} }}"
    );
    let text = format!(
        "duration_s = 8
         down = {link}
         up = {link}
         hosts = {{ own_tcp = ['{own}'], congestion_control = '{congestion_control}' }}
         workload = [{{ name = 'file', does = {{ bulk = {{ direction = '{direction}', bytes = {BYTES} }} }} }}]
         run = [{{ name = 'run' }}]"
    );
    run(&text, &Options::default()).runs.remove(0)
}

fn assert_arrived(direction: &str, own: &str, congestion_control: &str, loss: f64) {
    let result = transfer(direction, own, congestion_control, loss);
    let what = format!("{direction} with {congestion_control}, {own} ours, {loss} lost");
    let file = flow(&result, "file");
    let took = file
        .completion_s
        .unwrap_or_else(|| panic!("{what}: it did not end"));
    eprintln!("{what}: {took:.2} s, {} sent again", file.retransmits);
}

/// Our sender, the kernel's receiver.
#[test]
fn the_kernel_receives_from_every_congestion_control() {
    let Some(_turn) = laboratory() else { return };
    for algorithm in Algorithm::ALL {
        for loss in [0.0, 0.01, 0.03] {
            assert_arrived("down", "server", algorithm.name(), loss);
        }
    }
}

/// The kernel's sender, our receiver.
#[test]
fn our_end_receives_from_the_kernel() {
    let Some(_turn) = laboratory() else { return };
    for congestion_control in KERNEL {
        for loss in [0.0, 0.01, 0.03] {
            assert_arrived("down", "client", congestion_control, loss);
        }
    }
}
