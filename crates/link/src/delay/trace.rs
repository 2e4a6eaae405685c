//! Recorded delays.

use crate::Instant;
use crate::parse::{ParseError, Reader, Recording, kind_of, number};
use std::time::Duration;

/// How long each line of a recording holds.
const STEP_MS: u64 = 10;

/// Longest recording in lines: a million seconds.
const MOST: usize = 100_000_000;

/// Longest delay in milliseconds.
const MAX_MS: f64 = 60_000.0;

/// The expected form of a line.
const EXPECTED: &str = "a delay in milliseconds, 0 to 60000";

/// One-way delays recorded every 10 ms, looped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DelayTrace {
    /// How much each delay is above the smallest, in nanoseconds; not empty.
    excesses: Vec<u64>,
}

impl DelayTrace {
    /// Reads a recording, strictly: every line is a delay in milliseconds from 0 to 60000. Use a [`Reader`] for a
    /// recording whose text does not fit into memory.
    ///
    /// # Errors
    /// Names the first line that is not such a delay.
    pub fn parse(text: &str) -> Result<Self, ParseError> {
        Reader::all(text)
    }

    /// How long the recording is before it starts anew.
    pub fn period(&self) -> Duration {
        Duration::from_millis(STEP_MS * self.excesses.len() as u64)
    }

    /// How much the delay in force at `at` is above the smallest.
    #[inline]
    pub(super) fn excess(&self, at: Instant) -> Duration {
        let steps = at.as_nanos() / (STEP_MS * 1_000_000);
        Duration::from_nanos(self.excesses[(steps % self.excesses.len() as u64) as usize])
    }
}

impl Recording for DelayTrace {
    /// Nanoseconds.
    type Lines = Vec<u64>;

    fn line(delays: &mut Vec<u64>, number: usize, text: &str) -> Result<(), ParseError> {
        let ms = self::number(text).filter(|&ms| ms <= MAX_MS);
        let Some(ms) = ms else {
            let message = format!("expected {EXPECTED}, found {}", kind_of(text));
            return Err(ParseError::new(number, message));
        };
        if delays.len() == MOST {
            let message = format!(
                "expected at most {MOST} lines, found more: they are as long as the longest run"
            );
            return Err(ParseError::new(number, message));
        }
        delays.push(Duration::from_secs_f64(ms / 1e3).as_nanos() as u64);
        Ok(())
    }

    fn end(mut delays: Vec<u64>, _: usize) -> Result<Self, ParseError> {
        let Some(&least) = delays.iter().min() else {
            return Err(ParseError::new(1, "expected at least one line, found none"));
        };
        delays.iter_mut().for_each(|delay| *delay -= least);
        delays.shrink_to_fit();
        Ok(Self { excesses: delays })
    }
}

#[cfg(test)]
mod tests;
