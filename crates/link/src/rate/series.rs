//! A recorded rate.

use super::capacity::whole_bytes;
use super::fluid::Piecewise;
use super::{Fluid, Meter, Model, Service};
use crate::Instant;
use crate::parse::{MEANS, ParseError, Reader, Recording, kind_of, number};
use std::sync::Arc;
use std::time::Duration;

/// The line that may come first.
const HEADER: &str = "seconds,bits_per_second";

/// The expected form of a row.
const EXPECTED: &str = "seconds,bits_per_second: two numbers, from 0 to 1e9 and from 0 to 1e11";

/// Largest time of a row: thirty years, which fit into 64 bits of nanoseconds.
const MAX_SECONDS: f64 = 1e9;

/// No link is faster, and it keeps a burst of [`super::ScheduledSeries`] within 64 bits of nanobits.
const MAX_BPS: f64 = 1e11;

/// Length of a last row that lasts for ever.
const FOR_EVER: u64 = (MAX_SECONDS * 1e9) as u64;

/// Rows between two sums that are kept. The rows in between are added up on demand, since a recording can have
/// millions.
const STRIDE: usize = 8;

/// A rate that changes at given times and is constant in between, looped.
///
/// Each row of a file holds until the next one, the last as long as the one before it (a single row for a second,
/// since it is constant anyway). The last of [`Self::steps`] holds for ever.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RateSeries {
    /// In order of time, the first from 0 on, not empty.
    rows: Arc<Vec<Row>>,
    /// Whether the rate is linear from each row to the next and from the last to the first.
    is_interpolated: bool,
    /// Nanobits that the period carries before each [`STRIDE`]th row.
    before: Arc<Vec<u128>>,
    /// When the series starts anew.
    period: u64,
    /// Nanobits that one period carries.
    total: u128,
}

/// From when on a rate holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Row {
    /// Nanoseconds from the start of the period.
    start: u64,
    bits_per_second: u64,
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
}

impl Segment {
    /// What its first `within` nanoseconds carry, in whole nanobits: the trapezoid
    /// from · t + (to − from) · t² ÷ 2 · length, rounded down.
    fn carried(&self, within: u64) -> u128 {
        let [from, to, t] = [self.bits_per_second, self.end_bps, within].map(i128::from);
        if from == to {
            return (from * t) as u128;
        }
        let (rise, twice) = (to - from, 2 * i128::from(self.length));
        // t² has 120 bits, so it is divided before it is multiplied.
        let (whole, rest) = (t * t / twice, t * t % twice);
        let ramp = rise * whole + (rise * rest).div_euclid(twice);
        (from * t + ramp) as u128
    }
}

/// Why steps do not make a rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StepsError {
    /// The times are not what they should be.
    #[error("expected at least one step, the first at 0 s, in order of time")]
    Times,
    /// A rate is not what it should be.
    #[error("expected rates of at least 0, the last above 0: it holds for ever")]
    Rates,
    /// Nearly nothing is carried.
    #[error("expected rates of at least 0, and 1 bit/s in the mean")]
    Mean,
}

impl RateSeries {
    /// Steps of time and bit/s, rounded to whole ones; the last rate holds for ever.
    ///
    /// # Errors
    /// When they are out of order, or a rate is out of range.
    pub fn steps(steps: &[(Duration, f64)]) -> Result<Self, StepsError> {
        let in_order = steps.windows(2).all(|w| w[0].0 < w[1].0);
        let starts = steps.first().is_some_and(|s| s.0.is_zero());
        if !starts || !in_order {
            return Err(StepsError::Times);
        }
        let rows: Vec<Row> = steps
            .iter()
            .map(|&(at, bps)| Row {
                start: at.as_nanos() as u64,
                bits_per_second: bps.round() as u64,
            })
            .collect();
        let sound = steps.iter().all(|s| s.1.is_finite() && s.1 >= 0.0);
        if !sound || rows[rows.len() - 1].bits_per_second == 0 {
            return Err(StepsError::Rates);
        }
        Ok(Self::from_rows(rows, FOR_EVER, false))
    }

    /// Rates in bit/s that take turns, each for `slot`; the first turn of the first rate begins at `late`.
    ///
    /// # Errors
    /// When there are none, they are less than 1 bit/s in the mean, or a slot is shorter than a nanosecond.
    pub fn slots(rates: &[f64], slot: Duration, late: Duration) -> Result<Self, StepsError> {
        let slot = slot.as_nanos() as u64;
        if slot == 0 || rates.is_empty() {
            return Err(StepsError::Times);
        }
        let sound = rates.iter().all(|rate| rate.is_finite() && *rate >= 0.0);
        if !sound {
            return Err(StepsError::Mean);
        }
        let count = rates.len() as u64;
        let late = late.as_nanos() as u64 % (slot * count);
        let (whole, part) = (late / slot, late % slot);
        // The slot under way at the start; its other part ends the period.
        let first = count - whole - u64::from(part > 0);
        let rate = |n: u64| rates[((first + n) % count) as usize].round() as u64;
        let row = |start, n| Row {
            start,
            bits_per_second: rate(n),
        };
        let rows: Vec<Row> = match part {
            0 => (0..count).map(|n| row(n * slot, n)).collect(),
            _ => (0..=count)
                .map(|n| row((n * slot + part).saturating_sub(slot), n))
                .collect(),
        };
        let last = if part > 0 { slot - part } else { slot };
        let series = Self::from_rows(rows, last, false);
        match MEANS.contains(&series.mean_bps()) {
            true => Ok(series),
            false => Err(StepsError::Mean),
        }
    }

    /// Reads rows of `seconds,bits_per_second`, strictly: the first is at 0 seconds, seconds increase, rates are from
    /// 0 to 100 Gbit/s and, rounded to whole bits per second, 1 bit/s or more in the mean. The first line may be the
    /// header `seconds,bits_per_second`. Use a [`Reader`] for a recording whose text does not fit into memory.
    ///
    /// # Errors
    /// Names the first bad line.
    pub fn parse(text: &str) -> Result<Self, ParseError> {
        Reader::all(text)
    }

    /// Builds the series from rows, which are in order; the last one is that many nanoseconds long.
    fn from_rows(rows: Vec<Row>, last_length: u64, is_interpolated: bool) -> Self {
        let period = rows[rows.len() - 1].start + last_length;
        Self::summed(Arc::new(rows), period, is_interpolated)
    }

    /// Sums what the rows carry.
    fn summed(rows: Arc<Vec<Row>>, period: u64, is_interpolated: bool) -> Self {
        let mut series = Self {
            rows,
            is_interpolated,
            before: Arc::default(),
            period,
            total: 0,
        };
        let mut before = Vec::with_capacity(series.rows.len().div_ceil(STRIDE));
        for index in 0..series.rows.len() {
            if index % STRIDE == 0 {
                before.push(series.total);
            }
            let segment = series.segment(index);
            series.total += segment.carried(segment.length);
        }
        series.before = Arc::new(before);
        series
    }

    /// The same rows, with the rate linear from each to the next and from the last to the first.
    pub(super) fn interpolated(&self) -> Self {
        Self::summed(Arc::clone(&self.rows), self.period, true)
    }

    /// The segment from that row to the next.
    fn segment(&self, index: usize) -> Segment {
        let Row {
            start,
            bits_per_second,
        } = self.rows[index];
        let next = self.rows.get(index + 1);
        Segment {
            start,
            length: next.map_or(self.period, |next| next.start) - start,
            bits_per_second,
            end_bps: match self.is_interpolated {
                true => next.unwrap_or(&self.rows[0]).bits_per_second,
                false => bits_per_second,
            },
        }
    }

    /// Nanobits that the period carries before that row.
    fn before(&self, index: usize) -> u128 {
        let known = index / STRIDE;
        let since = (known * STRIDE..index).map(|index| {
            let segment = self.segment(index);
            segment.carried(segment.length)
        });
        self.before[known] + since.sum::<u128>()
    }

    /// The largest of its rates, in bit/s.
    pub fn max_bps(&self) -> u64 {
        let rates = self.rows.iter().map(|row| row.bits_per_second);
        rates.max().unwrap_or_default()
    }

    /// How long the series is before it starts anew.
    pub fn period(&self) -> Duration {
        Duration::from_nanos(self.period)
    }

    /// Long-run mean rate in bit/s.
    pub fn mean_bps(&self) -> f64 {
        self.total as f64 / self.period as f64
    }

    /// Nanobits that could have been carried before `t`.
    pub(super) fn nanobits_before(&self, t: Instant) -> u128 {
        let (periods, index) = self.locate(t);
        let segment = self.segment(index);
        let within = t.as_nanos() - periods * self.period - segment.start;
        u128::from(periods) * self.total + self.before(index) + segment.carried(within)
    }

    /// Whole periods over at `t`, and the row in force.
    fn locate(&self, t: Instant) -> (u64, usize) {
        let (periods, within) = (t.as_nanos() / self.period, t.as_nanos() % self.period);
        let index = self.rows.partition_point(|row| row.start <= within) - 1;
        (periods, index)
    }
}

/// Only for a series that is not interpolated.
impl Piecewise for RateSeries {
    fn at(&self, t: Instant) -> (u64, Instant) {
        let (periods, index) = self.locate(t);
        let segment = self.segment(index);
        let end = segment.start + segment.length;
        (
            segment.bits_per_second,
            Instant::from_nanos((periods * self.period).saturating_add(end)),
        )
    }

    fn cycle(&self) -> Option<(Duration, u128)> {
        Some((self.period(), self.total))
    }
}

impl Recording for RateSeries {
    type Lines = Rows;

    fn line(lines: &mut Rows, number: usize, text: &str) -> Result<(), ParseError> {
        if number == 1 && text.eq_ignore_ascii_case(HEADER) {
            return Ok(());
        }
        let row = parse_row(text).map_err(|found| {
            ParseError::new(number, format!("expected {EXPECTED}, found {found}"))
        })?;
        match lines.0.last() {
            None if row.start != 0 => Err(ParseError::new(
                number,
                "the first row is not at 0, expected the series to start at 0 seconds",
            )),
            Some(last) if row.start <= last.start => Err(ParseError::new(
                number,
                "seconds not above the row before, expected seconds that increase",
            )),
            _ => {
                lines.0.push(row);
                Ok(())
            }
        }
    }

    fn end(Rows(mut rows): Rows, count: usize) -> Result<Self, ParseError> {
        let last_length = match rows[..] {
            [] => {
                return Err(ParseError::new(
                    count.max(1),
                    "no row, expected at least one",
                ));
            }
            [.., before, last] => last.start - before.start,
            _ => 1_000_000_000,
        };
        if rows.iter().all(|row| row.bits_per_second == 0) {
            return Err(ParseError::new(
                count,
                "no rate above 0, expected at least one",
            ));
        }
        rows.shrink_to_fit();
        let series = Self::from_rows(rows, last_length, false);
        match MEANS.contains(&series.mean_bps()) {
            true => Ok(series),
            false => Err(ParseError::new(
                count,
                format!(
                    "expected a mean of 1 bit/s or more, found {:e} bit/s",
                    series.mean_bps()
                ),
            )),
        }
    }
}

/// Rows of a [`RateSeries`] that is being read.
#[derive(Debug, Default)]
pub struct Rows(Vec<Row>);

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

/// A row of nanoseconds and whole bits per second; the error describes what the line holds instead.
fn parse_row(line: &str) -> Result<Row, String> {
    let columns: Vec<&str> = line.split(',').collect();
    let [seconds, rate] = columns[..] else {
        return Err(match columns.len() {
            1 if number(line).is_some() => "one column".into(),
            1 => kind_of(line),
            many => format!("{many} columns"),
        });
    };
    let within = |text: &str, most| {
        number(text)
            .filter(|&x| x <= most)
            .ok_or_else(|| kind_of(text))
    };
    let [seconds, rate] = [within(seconds, MAX_SECONDS)?, within(rate, MAX_BPS)?];
    Ok(Row {
        start: Instant::from_secs_f64(seconds).as_nanos(),
        bits_per_second: rate.round() as u64,
    })
}

#[cfg(test)]
mod tests;
