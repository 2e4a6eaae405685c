//! Generated cells.

mod profile;
mod radio;

use super::burst::Burst;
use super::fluid::NANOBITS_PER_BYTE;
use super::trace::{OPPORTUNITY, Trace};
use crate::Instant;
use profile::Profile;
use radio::Radio;
use std::time::Duration;

/// Cellular technologies that the generated cells resemble.
///
/// They were modelled on traces recorded by saturating US networks on the road (Winstein, Sivaraman,
/// Balakrishnan, "Stochastic forecasts achieve high throughput and low delay over cellular
/// networks", NSDI 2013), of which none is shipped. In Mbit/s over windows of one second, with
/// *gap*, the longest time in milliseconds without an opportunity to send 1500 bytes:
///
/// | | minutes | mean | p5 | p50 | p95 | gap |
/// | --- | --- | --- | --- | --- | --- | --- |
/// | T-Mobile LTE, recorded | 8 | 12.8 | 2.9 | 10.0 | 30.5 | 1058 |
/// | AT&T LTE, recorded | 13 | 5.2 | 0.7 | 5.4 | 9.5 | 1515 |
/// | [`Cell::Lte`] | ∞ | 12.0 | 3.3 | 10.4 | 25.5 | 1208 |
/// | T-Mobile UMTS, recorded | 15 | 2.0 | 0.01 | 1.9 | 5.4 | 5753 |
/// | [`Cell::Hspa`] | ∞ | 3.0 | 0.2 | 2.5 | 7.6 | 6050 |
/// | Verizon EVDO, recorded | 18 | 0.52 | 0.01 | 0.41 | 1.5 | 11567 |
/// | [`Cell::Evdo`] | ∞ | 0.60 | 0.05 | 0.46 | 1.6 | 12060 |
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cell {
    /// LTE: bursts every 4 ms, 12 Mbit/s, no outage longer than 1.2 s.
    Lte,
    /// HSPA: bursts every 10 ms, 3 Mbit/s, outages of up to 6 s.
    Hspa,
    /// EVDO: bursts every 10 ms, 0.6 Mbit/s, outages of up to 12 s.
    Evdo,
}

impl Cell {
    fn profile(self) -> &'static Profile {
        match self {
            Self::Lte => &profile::LTE,
            Self::Hspa => &profile::HSPA,
            Self::Evdo => &profile::EVDO,
        }
    }
}

/// A generated cell: at the end of every transmission time interval (TTI), what the radio gave
/// during it leaves as one burst. The same model gives the same opportunities, whoever asks and
/// however often.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CellModel {
    cell: Cell,
    mean_bps: f64,
    seed: u64,
}

impl CellModel {
    /// A cell of that technology with that long-run mean rate in bit/s, by default the
    /// technology's own. The mean of a single minute varies by 20 % (LTE) to 30 % (HSPA), as it
    /// does outdoors.
    pub fn new(cell: Cell, mean_bps: Option<f64>, seed: u64) -> Self {
        Self {
            cell,
            mean_bps: mean_bps.unwrap_or(cell.profile().mean_bps),
            seed,
        }
    }

    /// The cell's first `duration`, at least until its first opportunity, as a trace that can be
    /// saved in Mahimahi's format: an opportunity wherever the bursts have amounted to 1500 more
    /// bytes. The trace's period ends with its last opportunity.
    pub fn trace(&self, duration: Duration) -> Trace {
        let end = (Instant::ZERO + duration).min(Instant::from_millis(u32::MAX.into()));
        let mut cursor = Cursor::new(self);
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

/// Walks through a cell's opportunities.
#[derive(Clone, Debug)]
pub(crate) struct Cursor {
    radio: Radio,
    /// The next opportunity.
    next: Burst,
    /// Nanobits left over by the whole bytes so far.
    remainder: u64,
    /// When the last opportunity was passed.
    passed: Instant,
    /// Bytes of all opportunities passed.
    carried: u64,
}

impl Cursor {
    pub(super) fn new(model: &CellModel) -> Self {
        let mut cursor = Self {
            radio: Radio::new(model.cell.profile(), model.mean_bps, model.seed),
            next: Burst::default(),
            remainder: 0,
            passed: Instant::ZERO,
            carried: 0,
        };
        cursor.advance();
        cursor
    }

    pub(super) fn peek(&self) -> Burst {
        self.next
    }

    pub(super) fn advance(&mut self) {
        let Burst { mut at, bytes } = self.next;
        self.passed = at;
        self.carried += bytes;
        let tti = self.radio.tti();
        // An interval without a whole byte is no opportunity.
        while self.remainder < NANOBITS_PER_BYTE {
            at += tti;
            self.remainder += self.radio.next_rate() * tti.as_nanos() as u64;
        }
        self.next = Burst {
            at,
            bytes: self.remainder / NANOBITS_PER_BYTE,
        };
        self.remainder %= NANOBITS_PER_BYTE;
    }

    pub(super) fn skip_past(&mut self, now: Instant) {
        while self.next.at <= now {
            self.advance();
        }
    }

    /// When the last opportunity was passed.
    pub(super) fn passed(&self) -> Instant {
        self.passed
    }

    /// Bytes of all opportunities passed.
    pub(super) fn carried(&self) -> u64 {
        self.carried
    }
}

#[cfg(test)]
mod tests;
