//! Lets a small part of the time pass unsteered, if the user allows it, to measure the difference.

use crate::clock::now_us;
use crate::compare::{Action, Compare, Observation};
use crate::log::Log;
use crate::service::{AgentService, Shared};
use crate::udp::Idle;
use anyhow::Result;
use serde_json::json;

/// A comparison that leaves this part of the time unsteered; none if it is 0.
pub fn wanted(part: f64) -> Option<Compare> {
    (part > 0.0).then(|| Compare::new(part, rand::random(), now_us()))
}

/// When to look next, µs of `CLOCK_MONOTONIC`; none: no comparison was asked for, or there is a pause.
pub fn next_us(shared: &Shared) -> Option<u64> {
    shared.with(|watched| {
        let compare = watched.compare.as_ref().filter(|_| watched.pause.is_none());
        Some(compare?.next_us())
    })?
}

/// Begins or ends an unsteered slot if it is time, or if the agent's interfaces have changed.
pub fn step(shared: &Shared, log: Log) {
    let stepped = shared.with(|watched| {
        let places = places(watched);
        let compare = watched.compare.as_ref().filter(|_| watched.pause.is_none());
        let is_due = compare.is_some_and(|compare| compare.is_due(now_us(), &places));
        if is_due {
            observe(watched, places)
        } else {
            Ok(())
        }
    });
    if let Some(Err(error)) = stepped {
        let message = format!("what steering does is not told: {error:#}");
        log.warn("compare", &message, json!({}));
        shared.with(|watched| watched.compare = None);
    }
}

fn places(watched: &AgentService) -> Vec<u32> {
    let interfaces = watched.agent.interfaces().iter();
    let mut places: Vec<_> = interfaces.map(|interface| interface.index).collect();
    places.sort_unstable();
    places
}

fn observe(watched: &mut AgentService, places: Vec<u32>) -> Result<()> {
    let observation = Observation {
        now_us: now_us(),
        measured_bytes: watched.agent.measured_bytes(),
        queue_us: watched.agent.histograms()?.map(|h| h.queue_us),
        places,
    };
    let compare = watched.compare.as_mut();
    let Some(action) = compare.and_then(|compare| compare.step(&observation)) else {
        return Ok(());
    };
    let until_us = match action {
        Action::PassUntil(until_us) => until_us,
        Action::Steer => 0,
    };
    watched.about.passes = until_us > 0;
    watched.agent.pass_until(until_us);
    let idle = match action {
        Action::PassUntil(_) => Idle::Hold,
        Action::Steer => Idle::Nothing,
    };
    watched.windowless.set_idle(idle)
}
