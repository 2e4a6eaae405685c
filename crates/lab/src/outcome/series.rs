//! Curves over time, one point for each 100 ms: the links' ([`link_curves`]), and
//!
//! | quantity | of | what |
//! | --- | --- | --- |
//! | `rtt_ms` | flow | the sender's smoothed RTT; the mean of a ping's echoes by the time they were sent |
//! | `cwnd_packets`, `window_bytes` | flow | congestion window; window advertised by the receiver |
//! | `kernel_window_bytes` | flow | window of the receiver's kernel, before the agent rewrote it |
//! | `kernel_rtt_ms`, `kernel_space_bytes` | flow | the receiver's kernel's estimates of RTT and bytes per RTT |
//! | `goodput_bps` | flow | payload delivered to the application |
//! | `agent_rtt_ms`, `agent_queue_ms`, `agent_window_bytes` | flow | what the agent knew and allowed |

use super::RunRecord;
use crate::sample::FlowSample;
use crate::steer::SteeredFlow;
use crate::transport::Info;
use std::collections::BTreeMap;
use tidegate_link::{Capacity, Instant};
use tidegate_measure::{BIN, SAMPLE_INTERVAL, curve, link_curves, ms};
use tidegate_scenario::Series;

/// All curves of a run; `capacity` is the downlink's.
pub fn all(outcome: &RunRecord, capacity: &mut Capacity) -> Vec<Series> {
    let mut series = link_series(outcome, capacity);
    series.extend(flow_series(outcome));
    series.extend(echo_series(outcome));
    series.extend(agent_series(outcome));
    series
}

fn link_series(outcome: &RunRecord, capacity: &mut Capacity) -> Vec<Series> {
    let record = &outcome.record;
    let (down, up) = (record.down.bins(), record.up.bins());
    link_curves(down, up, capacity, outcome.window.end)
}

/// Samples in a bin.
const PER_BIN: usize = (BIN.as_millis() / SAMPLE_INTERVAL.as_millis()) as usize;

/// One end of a sampled connection.
type End = fn(&FlowSample) -> Option<Info>;

fn flow_series(outcome: &RunRecord) -> Vec<Series> {
    let flows = outcome
        .applications
        .flows
        .iter()
        .zip(&outcome.samples.flows);
    flows
        .flat_map(|(flow, samples)| {
            let thinned: Vec<&FlowSample> = samples.iter().step_by(PER_BIN).collect();
            let at = |end: End, value: fn(&Info) -> Option<f64>| {
                let samples = thinned.iter();
                samples
                    .filter_map(|s| Some((s.at, value(&end(s)?)?)))
                    .collect()
            };
            let (sender, receiver): (End, End) = (|s| s.sender, |s| s.receiver);
            let goodput = thinned
                .windows(2)
                .map(|w| (w[0].at, bps_between(w[0], w[1])))
                .collect();
            [
                ("rtt_ms", at(sender, |i| Some(ms_of(i.srtt_us())))),
                (
                    "cwnd_packets",
                    at(sender, |i| Some(i.cwnd_packets().into())),
                ),
                (
                    "window_bytes",
                    at(sender, |i| Some(i.tcp()?.peer_window_bytes.into())),
                ),
                (
                    "kernel_window_bytes",
                    at(receiver, |i| Some(i.tcp()?.own_window_bytes.into())),
                ),
                (
                    "kernel_rtt_ms",
                    at(receiver, |i| Some(ms_of(i.tcp()?.receiver_rtt_us))),
                ),
                (
                    "kernel_space_bytes",
                    at(receiver, |i| Some(i.tcp()?.receiver_space_bytes.into())),
                ),
                ("goodput_bps", goodput),
            ]
            .map(|(quantity, points)| curve(quantity, &flow.name, points))
        })
        // Only TCP has windows.
        .filter(|series| !series.t_s.is_empty())
        .collect()
}

fn echo_series(outcome: &RunRecord) -> impl Iterator<Item = Series> {
    outcome.applications.echoes.iter().map(|echo| {
        let mut bins: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
        for (sent, took) in echo.echoes() {
            let bin = sent.as_nanos() / BIN.as_nanos() as u64;
            bins.entry(bin).or_default().push(ms(took));
        }
        let means = bins.into_iter().map(|(bin, times)| {
            let mean = times.iter().sum::<f64>() / times.len() as f64;
            (Instant::from_nanos(bin * BIN.as_nanos() as u64), mean)
        });
        curve("rtt_ms", &echo.name, means.collect())
    })
}

/// The agent's view of the flows that the laboratory made; others it may have seen have no name.
fn agent_series(outcome: &RunRecord) -> Vec<Series> {
    let named = outcome
        .applications
        .flows
        .iter()
        .filter_map(|flow| Some((flow, *flow.ends.get()?)));
    named
        .flat_map(|(named, ends)| {
            let is_named = |f: &&SteeredFlow| {
                (f.client_port, f.server) == ends && f.direction == named.direction
            };
            let of = |value: fn(&SteeredFlow) -> Option<f64>| {
                let samples = outcome.samples.agent.iter();
                samples
                    .filter_map(|s| {
                        let flow = s.flows.iter().find(is_named)?;
                        Some((s.at, value(flow)?))
                    })
                    .step_by(PER_BIN)
                    .collect()
            };
            [
                ("agent_rtt_ms", of(|f| f.rtt_us.map(ms_of))),
                ("agent_queue_ms", of(|f| Some(ms_of(f.queue_us)))),
                ("agent_window_bytes", of(|f| Some(f.window_bytes as f64))),
            ]
            .map(|(quantity, points)| curve(quantity, &named.name, points))
        })
        .filter(|series| !series.t_s.is_empty())
        .collect()
}

fn ms_of(us: u32) -> f64 {
    f64::from(us) / 1e3
}

fn bps_between(a: &FlowSample, b: &FlowSample) -> f64 {
    (b.received - a.received) as f64 * 8.0 / (b.at - a.at).as_secs_f64()
}
