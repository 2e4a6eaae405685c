//! A rate entered later than at its start: the same recording from another point.

use super::fluid::Piecewise;
use super::{Burst, Meter, Model, Opportunities, Rate, Service};
use crate::Instant;
use std::sync::Arc;
use std::time::Duration;

impl Rate {
    /// The same rate, entered `by` later: its value now is what it was to be after that time.
    pub fn ahead(self, by: Duration) -> Self {
        match by.is_zero() {
            true => self,
            false => Ahead { rate: self, by }.into(),
        }
    }
}

/// `rate`, from `by` on.
#[derive(Debug)]
struct Ahead {
    rate: Rate,
    by: Duration,
}

impl Model for Ahead {
    fn mean_bps(&self) -> f64 {
        self.rate.mean_bps()
    }

    fn period(&self) -> Option<Duration> {
        self.rate.period()
    }

    fn service(self: Arc<Self>) -> Service {
        match self.rate.service() {
            Service::Fluid(fluid) => {
                Service::Fluid(fluid.of(|rate| Arc::new(Pieces { rate, by: self.by })))
            }
            Service::Opportunities(inner) => {
                Service::Opportunities(Box::new(Cursor::new(inner, self.by)))
            }
        }
    }

    fn meter(self: Arc<Self>) -> Box<dyn Meter> {
        let mut meter = self.rate.meter();
        let before = meter.bytes_before(Instant::ZERO + self.by);
        Box::new(Carried {
            meter,
            before,
            by: self.by,
        })
    }
}

/// Counts what it carries: the inner rate's count less that before the entry.
#[derive(Debug)]
struct Carried {
    meter: Box<dyn Meter>,
    before: u64,
    by: Duration,
}

impl Meter for Carried {
    fn bytes_before(&mut self, t: Instant) -> u64 {
        self.meter.bytes_before(t + self.by) - self.before
    }
}

/// Its rate from one instant to the next.
#[derive(Debug)]
struct Pieces {
    rate: Arc<dyn Piecewise>,
    by: Duration,
}

impl Piecewise for Pieces {
    fn at(&self, t: Instant) -> (u64, Instant) {
        let (bits_per_second, until) = self.rate.at(t + self.by);
        (bits_per_second, earlier(until, self.by))
    }

    fn cycle(&self) -> Option<(Duration, u128)> {
        self.rate.cycle()
    }
}

/// Its opportunities.
#[derive(Debug)]
struct Cursor {
    inner: Box<dyn Opportunities>,
    by: Duration,
}

impl Cursor {
    /// Skips the opportunities before the entry.
    fn new(mut inner: Box<dyn Opportunities>, by: Duration) -> Self {
        inner.skip_past(Instant::ZERO + (by - Duration::from_nanos(1)));
        Self { inner, by }
    }

    fn ours(&self, burst: Burst) -> Burst {
        Burst {
            at: earlier(burst.at, self.by),
            ..burst
        }
    }
}

impl Opportunities for Cursor {
    fn peek(&self) -> Burst {
        self.ours(self.inner.peek())
    }

    fn seek(&mut self) -> Burst {
        let burst = self.inner.seek();
        self.ours(burst)
    }

    fn advance(&mut self) -> Burst {
        let burst = self.inner.advance();
        self.ours(burst)
    }

    fn skip_past(&mut self, now: Instant) -> Burst {
        let burst = self.inner.skip_past(now + self.by);
        self.ours(burst)
    }
}

/// An instant of the inner rate, moved `by` back; "never" stays "never".
fn earlier(at: Instant, by: Duration) -> Instant {
    match at {
        Instant::MAX => at,
        _ => Instant::from_nanos(at.as_nanos().saturating_sub(by.as_nanos() as u64)),
    }
}

#[cfg(test)]
mod tests;
