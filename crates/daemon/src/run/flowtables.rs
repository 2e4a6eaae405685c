//! Logs once that a flowtable hides forwarded packets from the programs; `top` shows it as long as it lasts.

use crate::clock::now_us;
use crate::hidden::Hidden;
use crate::log::Log;
use crate::service::Shared;
use serde_json::json;

/// After interfaces or routes change, the firewall is often set up anew: wait for that.
const SETTLES_US: u64 = 10_000_000;

/// Time between two looks otherwise: the kernel would announce changes of the firewall, but wake us at each.
const LOOKS_US: u64 = 600_000_000;

/// When to look, and whether the warning was logged.
pub struct Flowtables {
    due_us: u64,
    said: bool,
}

impl Flowtables {
    /// The first look is at once.
    pub fn new(now_us: u64) -> Self {
        Self {
            due_us: now_us,
            said: false,
        }
    }

    /// When the next look is due, µs of `CLOCK_MONOTONIC`.
    pub fn next_us(&self) -> u64 {
        self.due_us
    }

    /// Looks if a look is due. `changed`: interfaces or routes may have changed.
    pub fn step(&mut self, changed: bool, shared: &Shared, log: Log) {
        if !self.is_time(changed, now_us()) {
            return;
        }
        let look = shared.with(|watched| {
            let hidden = Hidden::find(watched.agent.interfaces());
            watched.about.hidden = hidden.as_ref().map(Hidden::message);
            hidden
        });
        if let Some(Some(hidden)) = look
            && !self.said
        {
            self.said = true;
            let message = format!("{}; {}", hidden.message(), hidden.advice());
            log.warn("hidden", &message, json!(hidden));
        }
    }

    fn is_time(&mut self, changed: bool, now_us: u64) -> bool {
        if changed {
            self.due_us = self.due_us.min(now_us + SETTLES_US);
        }
        let is_time = self.due_us <= now_us;
        if is_time {
            self.due_us = now_us + LOOKS_US;
        }
        is_time
    }
}

#[cfg(test)]
mod tests {
    use super::{Flowtables, LOOKS_US, SETTLES_US};

    #[test]
    fn it_looks_at_once_and_after_a_change_has_settled_and_now_and_then() {
        let mut flowtables = Flowtables::new(0);
        assert!(flowtables.is_time(false, 0));
        assert!(!flowtables.is_time(false, 1));
        assert!(!flowtables.is_time(true, 7));
        // Endless changes do not postpone it further.
        assert!(!flowtables.is_time(true, SETTLES_US));
        assert_eq!(flowtables.next_us(), 7 + SETTLES_US);
        assert!(flowtables.is_time(false, 7 + SETTLES_US));
        assert_eq!(flowtables.next_us(), 7 + SETTLES_US + LOOKS_US);
        assert!(flowtables.is_time(false, flowtables.next_us()));
    }
}
