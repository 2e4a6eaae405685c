//! Flows and fetches.

use super::RunRecord;
use crate::sample::{FlowSample, HeldPackets};
use crate::transport::Info;
use crate::workload::{EchoLog, FetchLog, Flow};
use std::collections::BTreeMap;
use tidegate_link::Instant;
use tidegate_measure::{Window, quantiles, ratio};
use tidegate_scenario::{Direction, FetchResult, FlowDirection, FlowResult, HeldResult};

/// Every connection, then every ping.
pub fn flow_results(outcome: &RunRecord) -> Vec<FlowResult> {
    let flows = outcome
        .applications
        .flows
        .iter()
        .zip(&outcome.samples.flows)
        .map(|(flow, samples)| flow_result(flow, samples, outcome.window));
    let echoes = outcome.applications.echoes.iter();
    flows
        .chain(echoes.map(|echo| echo_result(echo, outcome.window)))
        .collect()
}

fn flow_result(flow: &Flow, samples: &[FlowSample], window: Window) -> FlowResult {
    let began = flow.began.get().copied();
    let ended = flow.completed.get().or(flow.over.get()).copied();
    let from = began.unwrap_or(window.end).max(window.warmup);
    // It may have ended in the warm-up.
    let to = ended.unwrap_or(window.end).min(window.end).max(from);
    let bytes = flow.received() as f64 - received_before(samples, from);
    let srtts = samples
        .iter()
        .filter(|s| s.at >= window.warmup)
        .filter_map(|s| s.sender)
        .map(|info| f64::from(info.srtt_us()) / 1e3)
        .filter(|&ms| ms > 0.0);
    FlowResult {
        name: flow.name.clone(),
        direction: flow.direction.into(),
        goodput_bps: ratio(bytes * 8.0, (to - from).as_secs_f64()),
        from_s: (from - Instant::ZERO).as_secs_f64(),
        to_s: (to - Instant::ZERO).as_secs_f64(),
        rtt_ms: quantiles(srtts.collect()),
        retransmits: flow.retransmits(),
        completion_s: flow
            .completed
            .get()
            .zip(began)
            .map(|(end, start)| (*end - start).as_secs_f64()),
        age_ms: None,
    }
}

/// Bytes received before `time`, interpolated between samples.
fn received_before(samples: &[FlowSample], time: Instant) -> f64 {
    let after = samples.partition_point(|s| s.at < time);
    let Some(before) = after.checked_sub(1).map(|i| &samples[i]) else {
        return 0.0;
    };
    let Some(after) = samples.get(after) else {
        return before.received as f64;
    };
    let share = (time - before.at).as_secs_f64() / (after.at - before.at).as_secs_f64();
    before.received as f64 + share * (after.received - before.received) as f64
}

/// A ping is a flow without payload, in both directions at once.
fn echo_result(echo: &EchoLog, window: Window) -> FlowResult {
    let round_trips = echo
        .echoes()
        .into_iter()
        .filter(|&(sent, _)| sent >= window.warmup)
        .map(|(_, took)| took.as_secs_f64() * 1e3);
    FlowResult {
        name: echo.name.clone(),
        direction: FlowDirection::Echo,
        rtt_ms: quantiles(round_trips.collect()),
        ..FlowResult::default()
    }
}

/// Every flow that the agent may hold.
pub fn held_results(outcome: &RunRecord) -> Vec<HeldResult> {
    let flows = outcome
        .applications
        .flows
        .iter()
        .zip(&outcome.samples.flows);
    flows
        .filter_map(|(flow, samples)| {
            let HeldPackets {
                held, signalled, ..
            } = *outcome.samples.held.get(flow.ends.get()?)?;
            let last = samples.iter().rev().find_map(|sample| sample.receiver);
            let Some(Info::Quic { received, sent, .. }) = last else {
                return None;
            };
            let [arrived, left] = match flow.direction {
                Direction::Down => [received, sent],
                Direction::Up => [sent, received],
            };
            Some(HeldResult {
                name: flow.name.clone(),
                arrived,
                held,
                signalled,
                left,
                ..HeldResult::default()
            })
        })
        .collect()
}

/// Every workload that fetches, by the size of its objects.
pub fn fetch_results(outcome: &RunRecord) -> Vec<FetchResult> {
    outcome
        .applications
        .fetches
        .iter()
        .flat_map(|log| by_size(log, outcome.window))
        .collect()
}

fn by_size(log: &FetchLog, window: Window) -> Vec<FetchResult> {
    let mut times_ms: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
    for fetch in log.fetches() {
        if fetch.began >= window.warmup {
            let ms = fetch.took.as_secs_f64() * 1e3;
            times_ms.entry(fetch.bytes).or_default().push(ms);
        }
    }
    times_ms
        .into_iter()
        .map(|(bytes, times)| FetchResult {
            name: log.name.clone(),
            bytes,
            count: times.len() as u64,
            time_ms: quantiles(times),
        })
        .collect()
}

#[cfg(test)]
mod tests;
