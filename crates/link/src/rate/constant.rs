//! A rate that never changes.

use super::capacity::whole_bytes;
use super::fluid::Piecewise;
use super::{Fluid, Meter, Model, Service, whole_bps};
use crate::Instant;
use std::sync::Arc;

/// The same rate for ever.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Constant {
    bits_per_second: u64,
}

impl Constant {
    /// In bit/s; rounded to whole ones, at least 1.
    pub(crate) fn new(bits_per_second: f64) -> Self {
        Self {
            bits_per_second: whole_bps(bits_per_second),
        }
    }
}

impl Piecewise for Constant {
    fn at(&self, _: Instant) -> (u64, Instant) {
        (self.bits_per_second, Instant::MAX)
    }
}

impl Meter for Constant {
    fn bytes_before(&mut self, t: Instant) -> u64 {
        whole_bytes(u128::from(self.bits_per_second) * u128::from(t.as_nanos()))
    }
}

impl Model for Constant {
    fn mean_bps(&self) -> f64 {
        self.bits_per_second as f64
    }

    fn service(self: Arc<Self>) -> Service {
        Service::Fluid(Fluid::new(self))
    }

    fn meter(self: Arc<Self>) -> Box<dyn Meter> {
        Box::new(*self)
    }
}
