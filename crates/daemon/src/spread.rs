//! How delays were distributed.

use serde::{Deserialize, Serialize};
use std::fmt::{self, Display, Formatter};
use tidegate_agent::Histogram;
use tidegate_terminal::units::delay;

/// How delays were distributed over packets, with a histogram's resolution.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, PartialEq, Eq)]
pub struct Spread {
    /// Half of the packets waited less, in µs.
    pub median_us: u32,
    /// 19 of 20 waited less, in µs.
    pub p95_us: u32,
    /// How many packets were measured.
    pub packets: u64,
}

impl Spread {
    /// The spread of a histogram; none if it is empty.
    pub fn of(histogram: &Histogram) -> Option<Self> {
        let at = |part| Some(histogram.quantile(part)?.min(u64::from(u32::MAX)) as u32);
        Some(Self {
            median_us: at(0.5)?,
            p95_us: at(0.95)?,
            packets: histogram.count(),
        })
    }
}

impl Display for Spread {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        let (median, p95) = (delay(self.median_us), delay(self.p95_us));
        write!(f, "{median} (median), {p95} (95 of 100 packets)")
    }
}
