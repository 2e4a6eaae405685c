//! Our TCP with the kernel's: files in both directions over links that lose packets.

use crate::common::{flow, run, whole_machine};
use std::net::TcpListener;
use std::sync::Mutex;
use std::thread;
use tidegate_lab::{Options, use_congestion_control};
use tidegate_scenario::RunResult;
use tidegate_tcp::cc::Algorithm;
use tidegate_testing::skipped;

const BYTES: u64 = 10_000_000;

/// Congestion controls of the kernel's senders; the first two are in every kernel.
const KERNEL: [&str; 3] = ["reno", "cubic", "bbr"];

/// Shares of lost packets, and the usual upper bound for the transfer's time, in seconds.
const LOSSES: [(f64, f64); 3] = [(0.0, 2.0), (0.01, 4.0), (0.03, 8.0)];

/// Transfers at a time.
const AT_ONCE: usize = 3;

/// By this factor it may take longer when other processes use the processors: a delay-based sender (LEDBAT) takes a
/// stalling machine for a queue and slows down.
const TIMEOUT: f64 = 10.0;

/// A run in which the host `own` has our TCP. With loss, as many packets are also reordered or duplicated.
fn transfer(own: &str, congestion_control: &str, loss: f64, seconds: f64) -> RunResult {
    let trouble = match loss {
        0.0 => String::new(),
        p => format!(
            ", loss = {{ random = {p} }}, disorder = {{ reorder = {p}, late_ms = 1, duplicate = {p} }}"
        ),
    };
    let link = format!(
        "{{ rate = {{ constant_mbps = 200 }}, delay_ms = 1, queue = {{ packets = 100 }}{trouble} }}"
    );
    let text = format!(
        "duration_s = {seconds}
         down = {link}
         up = {link}
         hosts = {{ own_tcp = ['{own}'], congestion_control = '{congestion_control}' }}
         workload = [{{ name = 'file', does = {{ bulk = {{ bytes = {BYTES} }} }} }}]
         run = [{{ name = 'run' }}]"
    );
    run(&text, &Options::default()).runs.remove(0)
}

/// The laboratory checks every byte; this checks only that the last one arrived.
fn assert_arrives(own: &str, congestion_control: &str, (loss, seconds): (f64, f64)) {
    let what = format!("{congestion_control}, {own} ours, {loss} lost");
    let done = [seconds, seconds * TIMEOUT].into_iter().any(|seconds| {
        let result = transfer(own, congestion_control, loss, seconds);
        let file = flow(&result, "file");
        eprintln!(
            "{what}: {:.1} Mbit/s, done after {:?} s, {} sent again",
            file.goodput_bps / 1e6,
            file.completion_s,
            file.retransmits
        );
        file.completion_s.is_some()
    });
    assert!(done, "{what}: not done after {} s", seconds * TIMEOUT);
}

/// Runs transfers with each share of losses, a few at a time, since they mostly wait.
fn all_arrive(own: &str, congestion_controls: &[&str]) {
    let pairs = congestion_controls
        .iter()
        .flat_map(|cc| LOSSES.map(|loss| (*cc, loss)));
    let queue = Mutex::new(pairs);
    thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let Some((cc, loss)) = { queue.lock().unwrap().next() } {
                    assert_arrives(own, cc, loss);
                }
            });
        }
    });
}

/// Our sender, the kernel's receiver.
#[test]
fn the_kernel_receives_from_every_congestion_control() {
    let Some(_turn) = whole_machine() else { return };
    all_arrive(
        "server",
        &Algorithm::ALL.iter().map(|a| a.name()).collect::<Vec<_>>(),
    );
}

/// The kernel's sender, our receiver.
#[test]
fn our_end_receives_from_the_kernel() {
    let Some(_turn) = whole_machine() else { return };
    let socket = TcpListener::bind("127.0.0.1:0").unwrap();
    // Asking for a congestion control loads its module.
    let has = |name: &&str| match use_congestion_control(&socket, name) {
        Ok(()) => true,
        Err(error) => {
            skipped(format!("{error:#}"));
            false
        }
    };
    let there: Vec<_> = KERNEL.into_iter().filter(has).collect();
    all_arrive("client", &there);
}
