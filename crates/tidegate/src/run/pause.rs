//! A pause: on request nothing is steered, held or turned away for some time. It ends by itself.

use crate::run::log::Log;
use crate::snapshot::{AgentService, Shared, now_us, now_with_sleep_us};
use crate::time_of_day::{self, seconds_since_1970};
use crate::udp::Idle;
use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::fmt::{self, Display, Formatter};
use std::time::Duration;

const SECOND_US: u64 = 1_000_000;

/// The longest pause.
pub const LONGEST: Duration = Duration::from_secs(7 * 86_400);

/// Time between two checks of whether it is over: the main thread sleeps by a clock that stands still while the machine
/// sleeps.
const LOOK_US: u64 = 30 * SECOND_US;

/// A pause until this time, µs of a clock that runs on while the machine sleeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pause {
    until_us: u64,
}

/// The pause as others see it.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, PartialEq, Eq)]
pub struct Paused {
    /// When it ends, in seconds since 1970.
    pub until_s: u64,
    /// Seconds from now until then.
    pub left_s: u64,
}

impl Pause {
    fn of(time: Duration) -> Self {
        Self {
            until_us: now_with_sleep_us() + time.as_micros() as u64,
        }
    }

    fn left_us(self) -> u64 {
        self.until_us.saturating_sub(now_with_sleep_us())
    }

    /// The pause as it is shown now.
    pub fn view(self) -> Paused {
        let left_s = self.left_us().div_ceil(SECOND_US);
        let end = seconds_since_1970() + self.left_us() as f64 / SECOND_US as f64;
        Paused {
            until_s: end.round() as u64,
            left_s,
        }
    }
}

impl Display for Paused {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        let now_s = seconds_since_1970() as u64;
        write!(
            f,
            "paused until {}",
            time_of_day::local(self.until_s, now_s)
        )
    }
}

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
