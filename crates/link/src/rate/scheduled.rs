//! A recorded rate, handed out in bursts as a cell's scheduler does.

use super::capacity::whole_bytes;
use super::tti::{Cursor, Intervals};
use super::{Meter, Model, RateSeries, Service};
use crate::Instant;
use std::sync::Arc;
use std::time::Duration;

/// Bounds of a transmission time interval: together with the bounds of a rate they keep an interval's nanobits within
/// 64 bits.
const TTIS: [Duration; 2] = [Duration::from_micros(100), Duration::from_millis(100)];

/// A series whose capacity leaves in bursts: at the end of every transmission time interval (TTI), what the rate gave
/// during it, to the byte. A recording with one rate a second says nothing about times and packets within the second.
/// This adds both, and leaves the integral as it is to the byte.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScheduledSeries {
    series: Arc<RateSeries>,
    tti: Duration,
}

impl ScheduledSeries {
    /// `series`, in steps, in intervals of `tti`, at least 0.1 ms and at most 100 ms.
    pub fn new(series: impl Into<Arc<RateSeries>>, tti: Duration) -> Self {
        let [shortest, longest] = TTIS;
        Self {
            series: series.into(),
            tti: tti.clamp(shortest, longest),
        }
    }

    /// With the rate linear from each row to the next and from the last to the first, instead of in
    /// steps.
    pub fn interpolated(self) -> Self {
        Self {
            series: Arc::new(self.series.interpolated()),
            ..self
        }
    }

    /// How long the series is before it starts anew.
    pub fn period(&self) -> Duration {
        self.series.period()
    }

    /// Long-run mean rate in bit/s.
    pub fn mean_bps(&self) -> f64 {
        self.series.mean_bps()
    }

    /// Its opportunities from the start of the run.
    fn cursor(series: &Arc<Self>) -> Cursor<Turns> {
        Cursor::new(Turns {
            series: series.clone(),
            passed: 0,
            carried: 0,
        })
    }

    /// Nanobits of all intervals that end before `t`.
    fn nanobits_before(&self, t: Instant) -> u128 {
        self.carried(t.as_nanos().saturating_sub(1) / self.tti.as_nanos() as u64)
    }

    /// Nanobits of the first `intervals`.
    fn carried(&self, intervals: u64) -> u128 {
        let end = intervals.saturating_mul(self.tti.as_nanos() as u64);
        self.series.nanobits_before(Instant::from_nanos(end))
    }
}

impl Meter for Arc<ScheduledSeries> {
    fn bytes_before(&mut self, t: Instant) -> u64 {
        whole_bytes(self.nanobits_before(t))
    }
}

impl Model for ScheduledSeries {
    fn mean_bps(&self) -> f64 {
        self.mean_bps()
    }

    fn period(&self) -> Option<Duration> {
        Some(self.period())
    }

    fn service(self: Arc<Self>) -> Service {
        Service::Opportunities(Box::new(Self::cursor(&self)))
    }

    fn meter(self: Arc<Self>) -> Box<dyn Meter> {
        Box::new(self)
    }
}

/// A scheduled series under way.
#[derive(Clone, Debug)]
struct Turns {
    series: Arc<ScheduledSeries>,
    /// Intervals so far.
    passed: u64,
    /// Nanobits that they carried.
    carried: u128,
}

impl Intervals for Turns {
    fn tti(&self) -> Duration {
        self.series.tti
    }

    fn next_nanobits(&mut self) -> u64 {
        self.passed += 1;
        let before = std::mem::replace(&mut self.carried, self.series.carried(self.passed));
        (self.carried - before) as u64
    }
}

#[cfg(test)]
mod tests;
