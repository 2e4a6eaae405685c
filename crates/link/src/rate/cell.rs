//! Generated cells.

mod profile;
mod radio;

use super::trace::{OPPORTUNITY, Trace};
use super::{Meter, Model, Opportunities, Rate, Service, tti};
use crate::Instant;
use profile::Profile;
use radio::Radio;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::time::Duration;
use strum::{Display, EnumString, VariantNames};

/// Cellular technologies that the generated cells resemble.
///
/// They were modelled on traces recorded by saturating US networks on the road (Winstein, Sivaraman,
/// Balakrishnan, "Stochastic forecasts achieve high throughput and low delay over cellular
/// networks", NSDI 2013); none of them is shipped. In Mbit/s over windows of one second, with
/// *gap*, the longest time in milliseconds without an opportunity to send 1500 bytes:
///
/// | | minutes | mean | p5 | p50 | p95 | gap |
/// | --- | --- | --- | --- | --- | --- | --- |
/// | T-Mobile LTE, recorded | 8 | 12.8 | 2.9 | 10.0 | 30.5 | 1058 |
/// | AT&T LTE, recorded | 13 | 5.2 | 0.7 | 5.4 | 9.5 | 1515 |
/// | [`CellKind::Lte`] | ∞ | 12.0 | 3.3 | 10.4 | 25.5 | 1208 |
/// | T-Mobile UMTS, recorded | 15 | 2.0 | 0.01 | 1.9 | 5.4 | 5753 |
/// | [`CellKind::Hspa`] | ∞ | 3.0 | 0.2 | 2.5 | 7.6 | 6050 |
/// | Verizon EVDO, recorded | 18 | 0.52 | 0.01 | 0.41 | 1.5 | 11567 |
/// | [`CellKind::Evdo`] | ∞ | 0.60 | 0.05 | 0.46 | 1.6 | 12060 |
#[derive(
    Clone,
    Copy,
    Debug,
    Deserialize,
    Display,
    EnumString,
    Eq,
    JsonSchema,
    PartialEq,
    Serialize,
    VariantNames,
)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum CellKind {
    /// LTE: bursts every 4 ms, 12 Mbit/s, no outage longer than 1.2 s.
    Lte,
    /// HSPA: bursts every 10 ms, 3 Mbit/s, outages of up to 6 s.
    Hspa,
    /// EVDO: bursts every 10 ms, 0.6 Mbit/s, outages of up to 12 s.
    Evdo,
}

impl CellKind {
    fn profile(self) -> &'static Profile {
        match self {
            Self::Lte => &profile::LTE,
            Self::Hspa => &profile::HSPA,
            Self::Evdo => &profile::EVDO,
        }
    }
}

/// A generated cell: at the end of every transmission time interval (TTI), what the radio gave during it leaves as one
/// burst. The same model always gives the same opportunities, however often they are asked for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CellModel {
    kind: CellKind,
    mean_bps: f64,
    seed: u64,
}

impl CellModel {
    /// A cell of that technology with that long-run mean rate in bit/s, by default the
    /// technology's own. The mean of a single minute varies by 20 % (LTE) to 30 % (HSPA), as it
    /// does outdoors.
    pub fn new(kind: CellKind, mean_bps: Option<f64>, seed: u64) -> Self {
        Self {
            kind,
            mean_bps: mean_bps.unwrap_or(kind.profile().mean_bps),
            seed,
        }
    }

    /// Its long-run mean rate in bit/s.
    pub fn mean_bps(&self) -> f64 {
        self.mean_bps
    }

    /// Its opportunities from the start of the run.
    fn cursor(&self) -> tti::Cursor<Radio> {
        tti::Cursor::new(Radio::new(self.kind.profile(), self.mean_bps, self.seed))
    }

    /// The cell's first `duration`, at least until its first opportunity, as a trace that can be
    /// saved in Mahimahi's format: an opportunity wherever the bursts have amounted to 1500 more
    /// bytes. The trace's period ends with its last opportunity.
    pub fn trace(&self, duration: Duration) -> Trace {
        let end = (Instant::ZERO + duration).min(Instant::from_millis(u32::MAX.into()));
        let mut cursor = self.cursor();
        let mut trace = Trace::empty();
        let mut bytes = 0;
        while cursor.peek().at <= end || trace.opportunities() == 0 {
            let burst = cursor.peek();
            cursor.advance();
            bytes += burst.bytes;
            while bytes >= OPPORTUNITY {
                bytes -= OPPORTUNITY;
                trace.push((burst.at.as_nanos() / 1_000_000) as u32);
            }
        }
        trace
    }
}

impl Model for CellModel {
    fn mean_bps(&self) -> f64 {
        self.mean_bps
    }

    /// Another user of such a cell.
    fn neighbour(&self, index: u64) -> Option<Rate> {
        let other = Self {
            seed: self.seed.wrapping_add(index << 32),
            ..*self
        };
        Some(other.into())
    }

    fn service(self: Arc<Self>) -> Service {
        Service::Opportunities(Box::new(self.cursor()))
    }

    fn meter(self: Arc<Self>) -> Box<dyn Meter> {
        Box::new(tti::Replay::new(self.cursor()))
    }
}

#[cfg(test)]
mod tests;
