//! The agent decides at the start, from the machine's interfaces, whether shares are by device or by flow. Logs once if
//! it would decide otherwise now.

use crate::log::Log;
use serde_json::json;

/// A shorter change is not logged: a route that moves, a bridge that is being set up.
const LASTS_US: u64 = 10_000_000;

/// When to check, and whether it was logged.
pub struct Sharing {
    /// When to check that a change has lasted, µs of `CLOCK_MONOTONIC`.
    due_us: Option<u64>,
    said: bool,
}

impl Sharing {
    /// Checks soon: the machine may have changed after the settings were read and before we listened for changes.
    pub fn new(now_us: u64) -> Self {
        Self {
            due_us: Some(now_us + LASTS_US),
            said: false,
        }
    }

    /// When to check next, µs of `CLOCK_MONOTONIC`; none: when the machine changes.
    pub fn next_us(&self) -> Option<u64> {
        self.due_us.filter(|_| !self.said)
    }

    /// Checks, if the machine has changed or a check is due, whether shares would be settled otherwise now. Whether
    /// that is to be logged.
    pub fn is_news(&mut self, now_us: u64, changed: bool, differ: impl FnOnce() -> bool) -> bool {
        let is_due = self.due_us.is_some_and(|due_us| due_us <= now_us);
        if self.said || !(changed || is_due) {
            return false;
        }
        if !differ() {
            self.due_us = None;
            return false;
        }
        self.said = *self.due_us.get_or_insert(now_us + LASTS_US) <= now_us;
        self.said
    }
}

/// Logs that shares are by device and would be by flow, or the reverse.
pub fn tell(by_device: bool, log: Log) {
    let (is, would_be) = match by_device {
        true => ("device", "flow"),
        false => ("flow", "device"),
    };
    let message = format!(
        "shares are by {is}, as the machine was at the start; as it is now they would be by {would_be}: restart, or set fair"
    );
    let fields = json!({ "by": is, "would_be_by": would_be });
    log.warn("shares_differ", &message, fields);
}

#[cfg(test)]
mod tests {
    use super::{LASTS_US, Sharing};

    /// An agent that was started long ago.
    fn settled() -> Sharing {
        let mut sharing = Sharing::new(0);
        assert!(!sharing.is_news(LASTS_US, false, || false));
        assert_eq!(sharing.next_us(), None);
        sharing
    }

    #[test]
    fn what_lasts_is_said_once() {
        let mut sharing = settled();
        let now_us = 7 * LASTS_US;
        assert!(!sharing.is_news(now_us, true, || true));
        assert!(!sharing.is_news(now_us + 1, true, || true));
        let due_us = sharing.next_us().unwrap();
        assert_eq!(due_us, now_us + LASTS_US);
        assert!(sharing.is_news(due_us, false, || true));
        assert_eq!(sharing.next_us(), None);
        assert!(!sharing.is_news(due_us + 1, true, || panic!("it was said")));
    }

    #[test]
    fn what_passes_is_not_said() {
        let mut sharing = settled();
        let now_us = 7 * LASTS_US;
        assert!(!sharing.is_news(now_us, true, || true));
        assert!(!sharing.is_news(now_us + 1, true, || false));
        assert_eq!(sharing.next_us(), None);
        assert!(!sharing.is_news(now_us + LASTS_US, false, || panic!("nothing has changed")));
        // The wait begins anew.
        assert!(!sharing.is_news(now_us + LASTS_US, true, || true));
        assert_eq!(sharing.next_us(), Some(now_us + 2 * LASTS_US));
    }

    #[test]
    fn what_has_changed_while_it_started_is_said() {
        let mut sharing = Sharing::new(0);
        assert!(sharing.is_news(LASTS_US, false, || true));
    }
}
