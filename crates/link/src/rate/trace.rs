//! Recorded opportunities in Mahimahi's format.

use super::{Burst, Meter, Model, Opportunities, Service};
use crate::Instant;
use crate::parse::{MEANS, ParseError, Reader, Recording, digits, kind_of};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// Opportunities of one millisecond, at most: 1.5 GB. An endless file is usually one line repeated for ever.
const MOST_AT_ONCE: u32 = 1_000_000;

/// The expected form of a line.
const EXPECTED: &str = "a whole number of milliseconds, 0 to 4294967295";

/// Bytes of one opportunity.
pub(super) const OPPORTUNITY: u64 = 1500;

/// A trace in Mahimahi's format: each line is the millisecond of one opportunity to send 1500
/// bytes; repeated lines are several. After the last line it starts anew, so that the last line's
/// millisecond is the period.
///
/// As in Mahimahi's `mm-link`, several small packets share an opportunity, a large packet spans
/// several, what the queue cannot fill is lost, and a packet that arrives at the very instant of an
/// opportunity has missed it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    /// In order of time, each millisecond once, not empty.
    slots: Vec<Slot>,
}

/// The opportunities of one millisecond.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Slot {
    ms: u32,
    /// Opportunities from the start of the trace up to and including this millisecond.
    total: u32,
}

impl Trace {
    /// No trace yet; at least one [`Self::push`] makes it one.
    pub(super) fn empty() -> Self {
        Self { slots: Vec::new() }
    }

    /// Reads a trace, strictly: every line is a whole number of milliseconds from 0 to 2³² − 1 in digits, none is
    /// smaller than the one before, and the last is above 0. In the mean it carries from 1 bit/s to 100 Gbit/s. Use a
    /// [`Reader`] for a trace whose text does not fit into memory.
    ///
    /// # Errors
    /// Names the first bad line.
    pub fn parse(text: &str) -> Result<Self, ParseError> {
        Reader::all(text)
    }

    /// How long the trace is before it starts anew.
    pub fn period(&self) -> Duration {
        Duration::from_millis(self.last_ms().into())
    }

    /// Opportunities in one period.
    pub fn opportunities(&self) -> u64 {
        self.slots.last().map_or(0, |s| s.total.into())
    }

    /// Long-run mean rate in bit/s.
    pub fn mean_bps(&self) -> f64 {
        (self.opportunities() * OPPORTUNITY * 8) as f64 / self.period().as_secs_f64()
    }

    fn last_ms(&self) -> u32 {
        self.slots.last().map_or(0, |s| s.ms)
    }

    /// Opportunities of the last millisecond.
    fn last_count(&self) -> u32 {
        let last = self.slots.len().checked_sub(1);
        last.map_or(0, |last| self.count(last))
    }

    /// Adds one opportunity at `ms`, not before the last one.
    pub(super) fn push(&mut self, ms: u32) {
        match self.slots.last_mut() {
            Some(slot) if slot.ms == ms => slot.total += 1,
            last => {
                let total = last.map_or(0, |s| s.total) + 1;
                self.slots.push(Slot { ms, total });
            }
        }
    }

    /// Opportunities in the `index`th slot.
    fn count(&self, index: usize) -> u32 {
        let before = index.checked_sub(1).map_or(0, |i| self.slots[i].total);
        self.slots[index].total - before
    }

    /// Whole periods over before `t`, and the first slot of the current period that is not.
    fn locate(&self, t: Instant) -> (u64, usize) {
        let period = self.period().as_nanos() as u64;
        // A period's last slot is at its very end, so that end belongs to it.
        let periods = t.as_nanos().saturating_sub(1) / period;
        let within = t - Instant::from_nanos(periods * period);
        let slot = self
            .slots
            .partition_point(|s| Duration::from_millis(s.ms.into()) < within);
        (periods, slot)
    }

    /// Bytes that could have left before `t`.
    pub(super) fn bytes_before(&self, t: Instant) -> u64 {
        let (periods, slot) = self.locate(t);
        let within = slot.checked_sub(1).map_or(0, |i| self.slots[i].total);
        (periods * self.opportunities() + u64::from(within)) * OPPORTUNITY
    }
}

impl Default for Trace {
    /// Nothing read yet.
    fn default() -> Self {
        Self::empty()
    }
}

impl Recording for Trace {
    type Lines = Self;

    fn line(trace: &mut Self, number: usize, text: &str) -> Result<(), ParseError> {
        let Some(ms) = digits(text) else {
            let message = format!("expected {EXPECTED}, found {}", kind_of(text));
            return Err(ParseError::new(number, message));
        };
        if ms < trace.last_ms() {
            return Err(ParseError::new(
                number,
                "expected milliseconds that do not decrease, found less than in the line before",
            ));
        }
        if trace.last_ms() == ms && trace.last_count() == MOST_AT_ONCE {
            return Err(ParseError::new(
                number,
                format!("expected at most {MOST_AT_ONCE} lines of one millisecond, found more"),
            ));
        }
        if trace.opportunities() == u64::from(u32::MAX) {
            return Err(ParseError::new(
                number,
                format!("expected at most {} lines, found more", u32::MAX),
            ));
        }
        trace.push(ms);
        Ok(())
    }

    fn end(mut trace: Self, count: usize) -> Result<Self, ParseError> {
        if trace.slots.is_empty() {
            return Err(ParseError::new(1, "expected at least one line, found none"));
        }
        if trace.last_ms() == 0 {
            return Err(ParseError::new(
                count,
                "the last line is 0, expected more: it is the length of the trace",
            ));
        }
        if !MEANS.contains(&trace.mean_bps()) {
            return Err(ParseError::new(
                count,
                format!(
                    "expected a mean of 1 bit/s to 100 Gbit/s, found {:e} bit/s: {} opportunities in {} ms",
                    trace.mean_bps(),
                    trace.opportunities(),
                    trace.last_ms()
                ),
            ));
        }
        trace.slots.shrink_to_fit();
        Ok(trace)
    }
}

impl Meter for Arc<Trace> {
    fn bytes_before(&mut self, t: Instant) -> u64 {
        Trace::bytes_before(self, t)
    }
}

impl Model for Trace {
    fn mean_bps(&self) -> f64 {
        self.mean_bps()
    }

    fn period(&self) -> Option<Duration> {
        Some(self.period())
    }

    fn service(self: Arc<Self>) -> Service {
        Service::Opportunities(Box::new(Cursor::new(self)))
    }

    fn meter(self: Arc<Self>) -> Box<dyn Meter> {
        Box::new(self)
    }
}

/// Mahimahi's format, which [`Trace::parse`] reads.
impl fmt::Display for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, slot) in self.slots.iter().enumerate() {
            for _ in 0..self.count(index) {
                writeln!(f, "{}", slot.ms)?;
            }
        }
        Ok(())
    }
}

/// Walks through a looping trace.
#[derive(Clone, Debug)]
struct Cursor {
    trace: Arc<Trace>,
    /// When the current period began.
    base: Instant,
    /// The next slot.
    slot: usize,
}

impl Cursor {
    fn new(trace: Arc<Trace>) -> Self {
        Self {
            trace,
            base: Instant::ZERO,
            slot: 0,
        }
    }
}

impl Opportunities for Cursor {
    fn peek(&self) -> Burst {
        let ms = self.trace.slots[self.slot].ms;
        Burst {
            at: self.base + Duration::from_millis(ms.into()),
            bytes: u64::from(self.trace.count(self.slot)) * OPPORTUNITY,
        }
    }

    fn advance(&mut self) -> Burst {
        self.slot += 1;
        if self.slot == self.trace.slots.len() {
            self.slot = 0;
            self.base += self.trace.period();
        }
        self.peek()
    }

    fn skip_past(&mut self, now: Instant) -> Burst {
        if self.peek().at > now {
            return self.peek();
        }
        let (periods, slot) = self.trace.locate(now + Duration::from_nanos(1));
        let period = self.trace.period().as_nanos() as u64;
        self.base = Instant::from_nanos(periods * period);
        self.slot = slot;
        self.peek()
    }
}

#[cfg(test)]
mod tests;
