//! A pause: on request nothing is steered, held or turned away for some time. It ends by itself.

use crate::clock::now_us;
use crate::log::Log;
use crate::paused::{Pause, Paused};
use crate::service::{AgentService, Shared};
use crate::udp::Idle;
use anyhow::{Context, Result};
use serde_json::json;
use std::time::Duration;

/// Time between two checks of whether it is over: the main thread sleeps by a clock that stands still while the machine
/// sleeps.
const LOOK_US: u64 = 30_000_000;

impl AgentService {
    /// Begins a pause, or moves the end of the present one. If the agent dies the kernel's programs end it.
    ///
    /// # Errors
    /// If the kernel refuses; then all stays as it was.
    pub fn pause(&mut self, time: Duration) -> Result<Paused> {
        let pause = Pause::of(time);
        if let Some(compare) = &mut self.compare {
            compare.interrupt(now_us());
        }
        self.about.passes = false;
        self.agent.pass_until(now_us() + pause.left_us());
        if let Err(error) = self.windowless.set_idle(Idle::All) {
            let before_us = self.pause.map_or(0, |before| now_us() + before.left_us());
            self.agent.pass_until(before_us);
            return Err(error).context("let go of flows without a window");
        }
        self.pause = Some(pause);
        Ok(pause.view())
    }

    /// Ends the pause, if there is one. Whether there was one.
    ///
    /// # Errors
    /// If flows without a window cannot be held or turned away again; TCP is steered again all the same.
    pub fn resume(&mut self) -> Result<bool> {
        let was = self.pause.take().is_some();
        if was {
            self.agent.pass_until(0);
            let again = self.windowless.set_idle(Idle::Nothing);
            again.context("take up flows without a window again")?;
        }
        Ok(was)
    }

    fn resume_if_over(&mut self) -> Result<bool> {
        match self.pause {
            Some(pause) if pause.left_us() == 0 => self.resume(),
            _ => Ok(false),
        }
    }
}

/// When to check whether the pause is over, µs of `CLOCK_MONOTONIC`.
pub fn next_us(shared: &Shared) -> Option<u64> {
    let pause = shared.with(|watched| watched.pause)??;
    Some(now_us() + pause.left_us().min(LOOK_US))
}

/// Ends pauses that are over, and logs their beginning and end.
#[derive(Default)]
pub struct Pauses {
    told: Option<Pause>,
}

impl Pauses {
    /// Checks the present pause.
    pub fn step(&mut self, shared: &Shared, log: Log) {
        let looked = shared.with(|watched| (watched.resume_if_over(), watched.pause));
        let Some((over, pause)) = looked else { return };
        if let Err(error) = over {
            let message = format!("TCP is steered again, but not all else: {error:#}");
            log.warn("resume_refused", &message, json!({}));
        }
        if std::mem::replace(&mut self.told, pause) != pause {
            tell(pause.map(Pause::view), log);
        }
    }
}

fn tell(paused: Option<Paused>, log: Log) {
    match paused {
        Some(paused) => {
            let message = format!(
                "{paused}: nothing is steered, held or turned away; `tidegate resume` ends the pause"
            );
            log.info("pause", &message, json!({ "paused": paused }));
        }
        None => log.info("resume", "the pause is over: steering again", json!({})),
    }
}
