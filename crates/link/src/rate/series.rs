//! A recorded rate.

use super::capacity::whole_bytes;
use super::fluid::Piecewise;
use super::{Fluid, Meter, Model, Service};
use crate::Instant;
use crate::parse::{ParseError, number};
use std::sync::Arc;
use std::time::Duration;

/// The line that may come first.
const HEADER: &str = "seconds,bits_per_second";

/// What a row should be.
const EXPECTED: &str = "seconds,bits_per_second: two numbers, from 0 to 1e9 and from 0 to 1e11";

/// Thirty years are enough, and nanoseconds hold them.
const MAX_SECONDS: f64 = 1e9;

/// No link is faster, and what a burst of [`super::ScheduledSeries`] carries fits into 64 bits of nanobits.
const MAX_BPS: f64 = 1e11;

/// Length of a last row that does not end.
const FOR_EVER: u64 = (MAX_SECONDS * 1e9) as u64;

/// A rate that changes at given times and is constant in between, looped.
///
/// Each row of a file holds until the next one; the last one as long as the one before it (a single
/// row, a second: it loops and is constant anyway). Of [`Self::steps`] the last one holds for ever.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RateSeries {
    /// In order of time, the first from 0 on, not empty.
    segments: Vec<Segment>,
    /// When the series starts anew.
    period: u64,
    /// What one period carries, in nanobits.
    total: u128,
}

/// A rate from one instant of the period until the next, constant unless interpolated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Segment {
    /// Nanoseconds from the start of the period.
    start: u64,
    /// Nanoseconds.
    length: u64,
    /// Bit/s at its start.
    bits_per_second: u64,
    /// Bit/s at its end; linear between.
    end_bps: u64,
    /// What the period carries before `start`, in nanobits.
    before: u128,
}

impl Segment {
    /// What its first `within` nanoseconds carry, in whole nanobits: the trapezoid
    /// from · t + (to − from) · t² ÷ 2 · length, rounded down.
    fn carried(&self, within: u64) -> u128 {
        let [from, to, t] = [self.bits_per_second, self.end_bps, within].map(i128::from);
        let (rise, twice) = (to - from, 2 * i128::from(self.length));
        // t² has 120 bits, so it is divided before it is multiplied.
        let (whole, rest) = (t * t / twice, t * t % twice);
        let ramp = rise * whole + (rise * rest).div_euclid(twice);
        (from * t + ramp) as u128
    }
}

/// Why a rate cannot step so.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StepsError {
    /// The times are not what they should be.
    #[error("expected at least one step, the first at 0 s, in order of time")]
    Times,
    /// A rate is not what it should be.
    #[error("expected rates of at least 0, the last above 0: it holds for ever")]
    Rates,
}

impl RateSeries {
    /// Steps of time and bit/s, rounded to whole ones; the last rate holds for ever.
    ///
    /// # Errors
    /// When they are out of order, or a rate cannot be.
    pub fn steps(steps: &[(Duration, f64)]) -> Result<Self, StepsError> {
        let in_order = steps.windows(2).all(|w| w[0].0 < w[1].0);
        let starts = steps.first().is_some_and(|s| s.0.is_zero());
        if !starts || !in_order {
            return Err(StepsError::Times);
        }
        let rows: Vec<(u64, u64)> = steps
            .iter()
            .map(|&(at, bps)| (at.as_nanos() as u64, bps.round() as u64))
            .collect();
        let sound = steps.iter().all(|s| s.1.is_finite() && s.1 >= 0.0);
        if !sound || rows[rows.len() - 1].1 == 0 {
            return Err(StepsError::Rates);
        }
        Ok(Self::from_rows(&rows, FOR_EVER))
    }

    /// Rates in bit/s, one after the other, each for `slot`, over and over; the first begins at `late`.
    ///
    /// # Errors
    /// When there are none, all are 0, or a slot is shorter than a nanosecond.
    pub fn slots(rates: &[f64], slot: Duration, late: Duration) -> Result<Self, StepsError> {
        let slot = slot.as_nanos() as u64;
        if slot == 0 || rates.is_empty() {
            return Err(StepsError::Times);
        }
        let sound = rates.iter().all(|rate| rate.is_finite() && *rate >= 0.0);
        if !sound || rates.iter().all(|rate| rate.round() == 0.0) {
            return Err(StepsError::Rates);
        }
        let count = rates.len() as u64;
        let late = late.as_nanos() as u64 % (slot * count);
        let (whole, part) = (late / slot, late % slot);
        // The slot that is under way at the start, and what is left of it at the end of the period.
        let first = count - whole - u64::from(part > 0);
        let rate = |n: u64| rates[((first + n) % count) as usize].round() as u64;
        let rows: Vec<(u64, u64)> = match part {
            0 => (0..count).map(|n| (n * slot, rate(n))).collect(),
            _ => (0..=count)
                .map(|n| ((n * slot + part).saturating_sub(slot), rate(n)))
                .collect(),
        };
        let last = if part > 0 { slot - part } else { slot };
        Ok(Self::from_rows(&rows, last))
    }

    /// Reads rows of `seconds,bits_per_second`, strictly: the first is at 0 seconds, seconds
    /// increase, rates are from 0 to 100 Gbit/s and not all 0 once rounded to whole bits per second.
    /// The first line may be the header `seconds,bits_per_second`.
    ///
    /// # Errors
    /// Names the first line that is otherwise.
    pub fn parse(text: &str) -> Result<Self, ParseError> {
        let mut rows: Vec<(u64, u64)> = Vec::new();
        let mut lines = 1;
        for (line, content) in (1..).zip(text.lines()) {
            lines = line;
            if line == 1 && content == HEADER {
                continue;
            }
            let row = parse_row(content).ok_or_else(|| {
                ParseError::new(line, format!("\"{content}\", expected {EXPECTED}"))
            })?;
            match rows.last() {
                None if row.0 != 0 => {
                    return Err(ParseError::new(
                        line,
                        "the first row is not at 0, expected the series to start at 0 seconds",
                    ));
                }
                Some(last) if row.0 <= last.0 => {
                    return Err(ParseError::new(
                        line,
                        "seconds not above the row before, expected seconds that increase",
                    ));
                }
                _ => rows.push(row),
            }
        }
        if rows.is_empty() {
            return Err(ParseError::new(lines, "no row, expected at least one"));
        }
        if rows.iter().all(|row| row.1 == 0) {
            return Err(ParseError::new(
                lines,
                "no rate above 0, expected at least one",
            ));
        }
        let last_length = match rows[..] {
            [.., (before, _), (last, _)] => last - before,
            _ => 1_000_000_000,
        };
        Ok(Self::from_rows(&rows, last_length))
    }

    /// Builds the series from rows of nanoseconds and bit/s, which are in order; the last one is that
    /// many nanoseconds long.
    fn from_rows(rows: &[(u64, u64)], last_length: u64) -> Self {
        let segment = |(index, &(start, bits_per_second)): (usize, &(u64, u64))| Segment {
            start,
            length: rows
                .get(index + 1)
                .map_or(last_length, |next| next.0 - start),
            bits_per_second,
            end_bps: bits_per_second,
            before: 0,
        };
        Self::from_segments(rows.iter().enumerate().map(segment).collect())
    }

    /// Adds up what the segments carry.
    fn from_segments(mut segments: Vec<Segment>) -> Self {
        let (mut period, mut total) = (0, 0);
        for segment in &mut segments {
            segment.before = total;
            total += segment.carried(segment.length);
            period = segment.start + segment.length;
        }
        Self {
            segments,
            period,
            total,
        }
    }

    /// The same rows, with the rate linear from each to the next and from the last to the first.
    pub(super) fn interpolated(&self) -> Self {
        let mut segments = self.segments.clone();
        for (index, segment) in segments.iter_mut().enumerate() {
            let next = (index + 1) % self.segments.len();
            segment.end_bps = self.segments[next].bits_per_second;
        }
        Self::from_segments(segments)
    }

    /// How long the series is before it starts anew.
    pub fn period(&self) -> Duration {
        Duration::from_nanos(self.period)
    }

    /// Long-run mean rate in bit/s.
    pub fn mean_bps(&self) -> f64 {
        self.total as f64 / self.period as f64
    }

    /// What could have been carried before `t`, in nanobits.
    pub(super) fn nanobits_before(&self, t: Instant) -> u128 {
        let (periods, index) = self.locate(t);
        let segment = self.segments[index];
        let within = t.as_nanos() - periods * self.period - segment.start;
        u128::from(periods) * self.total + segment.before + segment.carried(within)
    }

    /// Whole periods over at `t`, and the segment in force.
    fn locate(&self, t: Instant) -> (u64, usize) {
        let (periods, within) = (t.as_nanos() / self.period, t.as_nanos() % self.period);
        let index = self.segments.partition_point(|s| s.start <= within) - 1;
        (periods, index)
    }
}

/// If it is not interpolated.
impl Piecewise for RateSeries {
    fn at(&self, t: Instant) -> (u64, Instant) {
        let (periods, index) = self.locate(t);
        let segment = self.segments[index];
        let end = segment.start + segment.length;
        (
            segment.bits_per_second,
            Instant::from_nanos((periods * self.period).saturating_add(end)),
        )
    }
}

impl Meter for Arc<RateSeries> {
    fn bytes_before(&mut self, t: Instant) -> u64 {
        whole_bytes(self.nanobits_before(t))
    }
}

impl Model for RateSeries {
    fn mean_bps(&self) -> f64 {
        self.mean_bps()
    }

    fn period(&self) -> Option<Duration> {
        Some(self.period())
    }

    fn service(self: Arc<Self>) -> Service {
        Service::Fluid(Fluid::new(self))
    }

    fn meter(self: Arc<Self>) -> Box<dyn Meter> {
        Box::new(self)
    }
}

/// Nanoseconds and whole bits per second.
fn parse_row(line: &str) -> Option<(u64, u64)> {
    let (seconds, rate) = line.split_once(',')?;
    let seconds = number(seconds).filter(|&s| s <= MAX_SECONDS)?;
    let rate = number(rate).filter(|&bps| bps <= MAX_BPS)?;
    let nanos = Instant::from_secs_f64(seconds).as_nanos();
    Some((nanos, rate.round() as u64))
}

#[cfg(test)]
mod tests;
