//! What steering the window would gain on the link that was measured: a model, not a measurement.
//!
//! A sender that backs off at losses only, as CUBIC does, fills the buffer: its round trips become the empty link's
//! and the time that a full buffer takes to empty, d = size ÷ rate. A receiver that steers keeps what stands in the
//! queue within three of the least round trips (thesis §5.1.2, the bound of RSFC, which is the loosest of the
//! laws here). The gain is d against the smaller of d and that bound.

use super::buffer::{Buffer, Unit};
use serde::{Deserialize, Serialize};

/// Round trips without and with a steered window.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
pub struct Gain {
    /// Of the empty link, in milliseconds.
    pub base_ms: f64,
    /// With a full buffer.
    pub full_ms: f64,
    /// Steered, at most.
    pub steered_ms: f64,
}

/// Round trips that a steered queue may take (thesis §5.1.2).
const QUEUE_TRIPS: f64 = 3.0;

/// Full-size packets, by which a buffer of packets is filled.
const PACKET_BITS: f64 = 1500.0 * 8.0;

impl Gain {
    /// On a link with that least round trip, buffer and rate.
    pub fn of(base_ms: f64, buffer: &Buffer, rate_bps: f64) -> Self {
        let seconds = match buffer.unit {
            Unit::Packets => buffer.size * PACKET_BITS / rate_bps,
            Unit::Bytes | Unit::Unclear => buffer.size * 8.0 / rate_bps,
            Unit::Time => buffer.size,
        };
        let wait_ms = seconds * 1e3;
        Self {
            base_ms,
            full_ms: base_ms + wait_ms,
            steered_ms: base_ms + wait_ms.min(QUEUE_TRIPS * base_ms),
        }
    }

    /// How many times shorter round trips become.
    pub fn factor(&self) -> f64 {
        self.full_ms / self.steered_ms
    }

    /// Whether it is worth it: a quarter of each round trip.
    pub fn is_worth_it(&self) -> bool {
        self.factor() > 4.0 / 3.0
    }
}
