//! Follows the systemd units that rules name: we find a unit that starts within a second, and judge its flows again.

use crate::clock::now_us;
use crate::log::Log;
use crate::service::Shared;
use serde_json::json;
use tidegate_agent::Rules;

/// Time between two looks, if any rule names a unit.
const LOOK_US: u64 = 1_000_000;

/// When to look.
pub struct Units {
    next_us: u64,
}

impl Units {
    /// The first look is due now.
    pub fn new(now_us: u64) -> Self {
        Self { next_us: now_us }
    }

    /// When the next look is due, µs of `CLOCK_MONOTONIC`; none: no rule names a unit.
    pub fn next_us(&self, rules: &Rules) -> Option<u64> {
        rules.ask_units().then_some(self.next_us)
    }

    /// Looks, if a look is due.
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
