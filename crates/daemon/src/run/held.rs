//! Logs what the hold reports, and starts its gate again where that has ended.

use crate::clock::now_us;
use crate::log::Log;
use crate::service::Shared;
use crate::udp::News;
use serde_json::json;
use tidegate_agent::{Direction, Holding};

/// The first pause before a gate is started again, in µs. Packets that wait are lost with a gate that is killed, so one
/// that keeps ending must not be started often.
const FIRST_US: u64 = 5_000_000;

/// The longest pause, in µs.
const LONGEST_US: u64 = 600_000_000;

/// A gate that has run for this long has started well, in µs.
const WELL_US: u64 = 60_000_000;

/// Follows the hold.
#[derive(Default)]
pub struct Follower {
    /// When to start the gate again, µs of `CLOCK_MONOTONIC`; none: it runs.
    due_us: Option<u64>,
    pauses: Pauses,
}

impl Follower {
    /// When to call [`Self::step`], µs of `CLOCK_MONOTONIC`.
    pub const fn next_us(&self) -> Option<u64> {
        self.due_us
    }

    /// Logs the hold's news since the last call, and starts a gate if one is due.
    pub fn step(&mut self, shared: &Shared, log: Log) {
        tell_missing(shared, log);
        let news = shared.with(|watched| watched.windowless.news());
        for one in news.unwrap_or_default() {
            match &one.cause {
                Some(cause) => self.gate_ended(cause, log),
                None => line(&one, log),
            }
        }
        if self.due_us.is_some_and(|due_us| now_us() >= due_us) {
            self.start_gate_again(shared, log);
        }
    }

    fn gate_ended(&mut self, cause: &str, log: Log) {
        let pause_us = self.pauses.next_us(now_us());
        self.due_us = Some(now_us() + pause_us);
        let message = format!(
            "the process behind the packet queue has ended, so UDP is left alone; it is started again in {} s; the cause: {cause}",
            pause_us / 1_000_000
        );
        let fields =
            json!({ "why": Holding::GateGone, "cause": cause, "again_s": pause_us / 1_000_000 });
        log.warn("hold_ended", &message, fields);
    }

    fn start_gate_again(&mut self, shared: &Shared, log: Log) {
        let outcome = shared.with(|watched| {
            let gone = watched.windowless.is_without_gate();
            gone.then(|| watched.windowless.start_gate_again())
        });
        match outcome.flatten() {
            None => self.due_us = None,
            Some(Ok(())) => {
                self.due_us = None;
                self.pauses.started(now_us());
                let message =
                    "the process behind the packet queue runs again: UDP is held as before";
                log.info("hold_resumed", message, json!({}));
            }
            Some(Err(error)) => {
                let pause_us = self.pauses.next_us(now_us());
                self.due_us = Some(now_us() + pause_us);
                let message = format!(
                    "the process behind the packet queue cannot be started again, next try in {} s: {error:#}",
                    pause_us / 1_000_000
                );
                let fields =
                    json!({ "error": format!("{error:#}"), "again_s": pause_us / 1_000_000 });
                log.warn("hold_not_resumed", &message, fields);
            }
        }
    }
}

/// How long to wait before a gate is started again: longer each time, unless the last one has run well.
#[derive(Default)]
struct Pauses {
    last_us: Option<u64>,
    started_us: Option<u64>,
}

impl Pauses {
    /// A gate has been started.
    fn started(&mut self, now_us: u64) {
        self.started_us = Some(now_us);
    }

    /// The pause that begins now, since a gate has ended or could not be started.
    fn next_us(&mut self, now_us: u64) -> u64 {
        let ran_well = |us| now_us.saturating_sub(us) >= WELL_US;
        if self.started_us.take().is_some_and(ran_well) {
            self.last_us = None;
        }
        let pause_us = self.last_us.map_or(FIRST_US, |us| (2 * us).min(LONGEST_US));
        self.last_us = Some(pause_us);
        pause_us
    }
}

fn tell_missing(shared: &Shared, log: Log) {
    let missing = shared.with(|watched| {
        let missing = watched.windowless.take_missing()?;
        watched.about.set_udp(watched.windowless.rules());
        Some(missing)
    });
    if let Some(why) = missing.flatten() {
        let message = format!(
            "HTTP/3 and other UDP are left alone: {why}; `tidegate check` says what is missing; with udp = \"leave\" nothing is said"
        );
        log.info("hold_missing", &message, json!({ "why": why }));
    }
}

fn line(news: &News, log: Log) {
    let Some(flow) = &news.flow else { return };
    let fields = json!({
        "interface": news.interface, "direction": news.direction, "local": flow.local, "remote": flow.remote, "why": news.state,
    });
    let (from, to) = match news.direction {
        Direction::Down => (flow.remote, flow.local),
        Direction::Up => (flow.local, flow.remote),
    };
    let which = format!("UDP from {from} to {to} on {}", news.interface);
    match news.state {
        Holding::Held => log.info("held", &format!("{which} is held"), fields),
        state => {
            let message = format!("{which} is left alone: {}", state.words());
            log.info("hold_left", &message, fields);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000;

    #[test]
    fn pauses_double_up_to_ten_minutes() {
        let mut pauses = Pauses::default();
        let all: Vec<_> = (0..10).map(|_| pauses.next_us(0) / SECOND).collect();
        assert_eq!(all, [5, 10, 20, 40, 80, 160, 320, 600, 600, 600]);
    }

    #[test]
    fn a_gate_that_has_run_well_is_soon_started_again() {
        let mut pauses = Pauses::default();
        assert_eq!(pauses.next_us(0), 5 * SECOND);
        pauses.started(6 * SECOND);
        assert_eq!(
            pauses.next_us(60 * SECOND),
            10 * SECOND,
            "it ended too soon"
        );
        pauses.started(70 * SECOND);
        assert_eq!(pauses.next_us(130 * SECOND), 5 * SECOND);
        assert_eq!(
            pauses.next_us(135 * SECOND),
            10 * SECOND,
            "it was not started"
        );
    }
}
