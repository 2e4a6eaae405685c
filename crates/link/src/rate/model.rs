//! A rate of any kind.

use super::constant::Constant;
use super::{Fluid, Meter, Opportunities, SignalWalk};
use std::fmt::Debug;
use std::sync::Arc;
use std::time::Duration;

/// The capacity of a link over time.
///
/// It is one of the kinds that this crate has: [`Rate::constant`], or what is made of a
/// [`Trace`](crate::Trace), [`RateSeries`](crate::RateSeries),
/// [`ScheduledSeries`](crate::ScheduledSeries), [`CellModel`](crate::CellModel) or [`SignalWalk`].
/// Copies share what was recorded.
#[derive(Clone, Debug)]
pub struct Rate(Arc<dyn Model>);

/// A kind of rate: all that a link asks of it.
pub(crate) trait Model: Debug + Send + Sync {
    /// Long-run mean rate in bit/s.
    fn mean_bps(&self) -> f64;

    /// How long until it starts anew; none if it never does.
    fn period(&self) -> Option<Duration> {
        None
    }

    /// The rate of the `index`th other user of the same cell; none if it is the same.
    fn neighbour(&self, _index: u64) -> Option<Rate> {
        None
    }

    /// The signal walk that it comes from, if there is one.
    fn walk(self: Arc<Self>) -> Option<Arc<SignalWalk>> {
        None
    }

    /// How it lets packets go, from the start of the run.
    fn service(self: Arc<Self>) -> Service;

    /// What it could have carried.
    fn meter(self: Arc<Self>) -> Box<dyn Meter>;
}

/// How packets leave.
#[derive(Debug)]
pub(crate) enum Service {
    /// One after another.
    Fluid(Fluid),
    /// At instants, as many bytes as each has.
    Opportunities(Box<dyn Opportunities>),
}

impl<M: Model + 'static> From<M> for Rate {
    fn from(model: M) -> Self {
        Self(Arc::new(model))
    }
}

/// A recording that several rates can share.
impl From<Arc<super::Trace>> for Rate {
    fn from(trace: Arc<super::Trace>) -> Self {
        Self(trace)
    }
}

/// A recording that several rates can share.
impl From<Arc<super::RateSeries>> for Rate {
    fn from(series: Arc<super::RateSeries>) -> Self {
        Self(series)
    }
}

impl Rate {
    /// The same rate for ever, in bit/s; rounded to whole bits per second, at least 1.
    pub fn constant(bits_per_second: f64) -> Self {
        Constant::new(bits_per_second).into()
    }

    /// Long-run mean rate in bit/s.
    pub fn mean_bps(&self) -> f64 {
        self.0.mean_bps()
    }

    /// How long until it starts anew; none if it never does.
    pub fn period(&self) -> Option<Duration> {
        self.0.period()
    }

    /// The signal walk that the rate comes from, if there is one.
    pub fn walk(&self) -> Option<Arc<SignalWalk>> {
        self.0.clone().walk()
    }

    /// How it lets packets go, from the start of the run.
    pub(crate) fn service(&self) -> Service {
        self.0.clone().service()
    }

    /// What it could have carried.
    pub(super) fn meter(&self) -> Box<dyn Meter> {
        self.0.clone().meter()
    }

    /// The rate of the `index`th of `users` in the same cell, and how far ahead of this one it is in its loop. A
    /// random rate gets a seed of its own, a recorded one begins elsewhere in the recording.
    pub(crate) fn neighbour(&self, index: u64, users: u64) -> (Self, Duration) {
        let ahead = |period: Duration| {
            // Whole milliseconds, as recorded opportunities are.
            Duration::from_millis((period.as_millis() as u64).saturating_mul(index) / users)
        };
        (
            self.0.neighbour(index).unwrap_or_else(|| self.clone()),
            self.0.period().map_or(Duration::ZERO, ahead),
        )
    }
}
