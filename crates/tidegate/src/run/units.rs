//! Follows units that rules name: what starts is found within a second, and its flows are judged once more.

use crate::run::log::Log;
use crate::snapshot::{Shared, now_us};
use serde_json::json;
use tidegate_agent::Rules;

/// Between two looks, where a rule names any.
const LOOK_US: u64 = 1_000_000;

/// When to look.
pub struct Units {
    next_us: u64,
}

impl Units {
    /// From now on.
    pub fn new(now_us: u64) -> Self {
        Self { next_us: now_us }
    }

    /// When it wants to look again, µs of `CLOCK_MONOTONIC`; none: these rules name none.
    pub fn next_us(&self, rules: &Rules) -> Option<u64> {
        rules.ask_units().then_some(self.next_us)
    }

    /// Looks, if it is time.
    pub fn step(&mut self, shared: &Shared, log: Log) {
        let now_us = now_us();
        if now_us < self.next_us {
            return;
        }
        self.next_us = now_us + LOOK_US;
        if let Some(Err(error)) = shared.with(|watched| watched.agent.follow_units()) {
            let message = format!("rules do not follow the units that run now: {error}");
            log.warn("units_refused", &message, json!({}));
        }
    }
}
