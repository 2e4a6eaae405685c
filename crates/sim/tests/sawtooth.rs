//! The saw-tooth of a lone sender against its closed form.
//!
//! The link carries `C` packets a second over a round trip of `T` seconds behind a queue of `B`
//! packets and one that is being sent, so that the window at which it overflows is `W = C·T + B + 1`.
//! While the queue stands a window `w` takes `w / C` seconds to go round. It takes one round trip to
//! notice the loss, and one to recover from it.

mod common;

use common::{assert_near, try_run};

const PACKET: f64 = 1500.0;

/// One bulk download; returns the mean time between two reductions of its window, in seconds.
fn period_s(sender: &str, mbps: f64, one_way_ms: f64, packets: usize, seconds: f64) -> f64 {
    let link = format!("rate = {{ constant_mbps = {mbps} }}, delay_ms = {one_way_ms}");
    let text = format!(
        "duration_s = {seconds}
         down = {{ {link}, queue = {{ packets = {packets} }} }}
         up = {{ {link}, queue = {{ packets = 1000 }} }}
         hosts = {{ congestion_control = '{sender}' }}
         workload = [{{ name = 'bulk', does = {{ bulk = {{}} }} }}]
         run = [{{ name = 'linux' }}]"
    );
    let run = try_run(&text, true).expect("it runs").runs.remove(0);
    let windows = run.series.iter().find(|s| s.quantity == "cwnd_packets");
    let windows = windows.expect("the window over time");
    let falls: Vec<f64> = reductions(&windows.t_s, &windows.value);
    // The first teeth still carry the effects of slow start.
    let steady = &falls[2..];
    assert!(steady.len() >= 5, "{falls:?}");
    (steady[steady.len() - 1] - steady[0]) / (steady.len() - 1) as f64
}

/// Longest time of a window's fall: PRR needs a round trip for it.
const FALL_S: f64 = 1.0;

/// Times at which a window that had grown for a while fell by a fifth or more.
fn reductions(times: &[f64], windows: &[f64]) -> Vec<f64> {
    let mut falls: Vec<f64> = Vec::new();
    let mut peak: f64 = 0.0;
    for (&time, &window) in times.iter().zip(windows) {
        if falls.last().is_some_and(|&at| time - at < FALL_S) {
            peak = window;
        } else if window < 0.8 * peak {
            falls.push(time);
        } else {
            peak = peak.max(window);
        }
    }
    falls
}

#[test]
fn reno_halves_and_adds_a_segment_a_round_trip() {
    let (mbps, one_way_ms, queue) = (10.0, 20.0, 100);
    let rate = mbps * 1e6 / 8.0 / PACKET;
    let w = rate * 2.0 * one_way_ms / 1e3 + queue as f64 + 1.0;
    // The sum of w / C for w from W / 2 to W (RFC 5681; B > C·T, so that the queue never empties).
    let expected = 3.0 / 8.0 * w * w / rate + 2.0 * w / rate;
    assert_near(
        period_s("reno", mbps, one_way_ms, queue, 200.0),
        expected,
        0.05,
    );
}

/// Mean time between two losses of a fluid CUBIC (RFC 9438 sections 4.2, 4.6 and 4.7: C = 0.4,
/// beta = 0.7, fast convergence) whose window overflows at `w`.
fn fluid_cubic_s(w: f64, rate: f64) -> f64 {
    const EPOCHS: u32 = 1000;
    let round_trip = w / rate;
    // As after a loss below the last maximum: slow start has overshot.
    let (mut w_max, mut start) = (0.85 * w, 0.7 * w);
    let mut elapsed = 0.0;
    for _ in 0..EPOCHS {
        let k = libm::cbrt((w_max - start) / 0.4);
        let full = k + libm::cbrt((w - w_max) / 0.4);
        let at_loss = 0.4 * libm::pow(full + round_trip - k, 3.0) + w_max;
        w_max = if at_loss < w_max {
            at_loss * 0.85
        } else {
            at_loss
        };
        start = 0.7 * at_loss;
        elapsed += full + 2.0 * round_trip;
    }
    elapsed / f64::from(EPOCHS)
}

/// An overshoot makes the next loss come early, below the last maximum, and fast convergence makes the one after that
/// late: long and short teeth alternate.
#[test]
fn cubic_follows_its_curve_and_converges_fast() {
    let (mbps, one_way_ms, queue) = (100.0, 50.0, 170);
    let rate = mbps * 1e6 / 8.0 / PACKET;
    let w = rate * 2.0 * one_way_ms / 1e3 + queue as f64 + 1.0;
    let expected = fluid_cubic_s(w, rate);
    assert_near(
        period_s("cubic", mbps, one_way_ms, queue, 250.0),
        expected,
        0.05,
    );
}

/// CoDel's target and interval, in seconds.
const TARGET_S: f64 = 0.005;
const INTERVAL_S: f64 = 0.1;

/// Utilisation of a link by a fluid CUBIC under CoDel, where its window grows as Reno's would (RFC 9438
/// section 4.3: a packet in 1 / 0.53 round trips): from 0.7 of the one at which CoDel drops, which is
/// that of the pipe and the target, and what the interval and the loss' round trip add.
fn codel_utilisation(rate: f64, round_trip_s: f64) -> f64 {
    let growth = 3.0 * 0.3 / 1.7;
    let pipe = rate * round_trip_s;
    let late = INTERVAL_S / round_trip_s + 1.0;
    let peak = pipe + rate * TARGET_S + growth * late;
    let low = 0.7 * peak;
    // Share of the time with a short window, which on average lacks half of what it lacks at first.
    let short = (pipe - low) / (peak - low);
    1.0 - short * (pipe - low) / pipe / 2.0
}

/// A target of 5 ms does not make up for all that CUBIC gives up at a loss.
#[test]
fn cubic_under_codel_uses_what_its_teeth_leave() {
    let (mbps, one_way_ms) = (10.0, 25.0);
    let link = format!("rate = {{ constant_mbps = {mbps} }}, delay_ms = {one_way_ms}");
    let text = format!(
        "duration_s = 200
         warmup_s = 20
         down = {{ {link}, queue = {{ packets = 2000, policy = 'codel' }} }}
         up = {{ {link} }}
         workload = [{{ name = 'bulk', does = {{ bulk = {{}} }} }}]
         run = [{{ name = 'linux' }}]"
    );
    let run = try_run(&text, false).expect("it runs").runs.remove(0);
    let rate = mbps * 1e6 / 8.0 / PACKET;
    let expected = codel_utilisation(rate, 2.0 * one_way_ms / 1e3 + 1.0 / rate);
    assert_near(run.link.utilisation, expected, 0.02);
    let mean_s = run.link.queue_delay_ms.mean / 1e3;
    assert!((0.001..TARGET_S).contains(&mean_s), "{mean_s}");
}
