//! Recorded delays.

use crate::Instant;
use crate::parse::{ParseError, number};
use std::time::Duration;

/// How long each line of a recording holds.
const STEP_MS: u64 = 10;

/// Longest delay in milliseconds.
const MAX_MS: f64 = 60_000.0;

/// One-way delays recorded every 10 ms, looped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DelayTrace {
    /// How much each delay is above the smallest; not empty.
    excesses: Vec<Duration>,
}

impl DelayTrace {
    /// Reads a recording, strictly: every line is a delay in milliseconds from 0 to 60000.
    ///
    /// # Errors
    /// Names the first line that is otherwise.
    pub fn parse(text: &str) -> Result<Self, ParseError> {
        let delays = (1..)
            .zip(text.lines())
            .map(|(line, content)| {
                let ms = number(content).filter(|&ms| ms <= MAX_MS);
                let wrong =
                    || format!("\"{content}\", expected a delay in milliseconds, 0 to 60000");
                ms.map(|ms| Duration::from_secs_f64(ms / 1e3))
                    .ok_or_else(|| ParseError::new(line, wrong()))
            })
            .collect::<Result<Vec<_>, _>>()?;
        let Some(&least) = delays.iter().min() else {
            return Err(ParseError::new(1, "no line, expected at least one"));
        };
        let excesses = delays.into_iter().map(|delay| delay - least).collect();
        Ok(Self { excesses })
    }

    /// How long the recording is before it starts anew.
    pub fn period(&self) -> Duration {
        Duration::from_millis(STEP_MS * self.excesses.len() as u64)
    }

    /// How much the delay in force at `at` is above the smallest.
    #[inline]
    pub(super) fn excess(&self, at: Instant) -> Duration {
        let steps = at.as_nanos() / (STEP_MS * 1_000_000);
        self.excesses[(steps % self.excesses.len() as u64) as usize]
    }
}

#[cfg(test)]
mod tests;
