//! Sprout (Winstein, Sivaraman, Balakrishnan: "Stochastic Forecasts Achieve High Throughput and Low Delay over Cellular
//! Networks", NSDI 2013), both ends without I/O.
//!
//! [The receiver](receiver) infers the link's rate from arrivals ([belief]), and tells the sender how many packets the
//! link will deliver at least in the next 160 ms ([forecast]). [The sender](sender) sends as much as will leave the
//! queue within 100 ms by that forecast.
//!
//! Where the paper leaves something open, this follows its authors' program (github.com/keithw/sprout). That program
//! carries forecasts in the packets of the other direction, which its tests saturate as well; here data go one way,
//! and each tick's forecast has a packet of its own.

pub mod belief;
pub mod forecast;
pub mod receiver;
pub mod sender;

use std::time::Duration;
use tidegate_basics::time::Instant;

/// A tick (§3.2).
pub const TICK: Duration = Duration::from_millis(20);

/// Bytes of the packets that rates are counted in, IP header included.
pub const PACKET_BYTES: u64 = 1500;

/// Ticks that a forecast looks ahead (§3.3): 160 ms.
pub const HORIZON: usize = 8;

/// IP and UDP headers, and Sprout's own: a sequence number, time stamps, the settled bytes and the time to the next packet.
pub const HEADERS: u64 = 28 + 16;

/// A forecast beside the headers: its tick, received or lost bytes, eight counts.
const FORECAST_BYTES: u64 = 8 + 8 + 2 * HORIZON as u64;

/// Bytes of the packet that carries a forecast.
pub const FEEDBACK_BYTES: u64 = HEADERS + FORECAST_BYTES;

/// A packet of data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Data {
    /// Bytes sent before it, headers included.
    pub sequence: u64,
    /// Its own bytes, headers included.
    pub bytes: u64,
    /// All bytes before this number that have not arrived are lost (§3.4's throwaway number).
    pub settled: u64,
    /// Time until the next packet is sent (§3.2's time-to-next): zero within a flight.
    pub time_to_next: Duration,
    /// When it was sent.
    pub sent: Instant,
}

/// The receiver's forecast of what the link will deliver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Forecast {
    /// Packets that arrive at least until the end of each of the next ticks.
    pub cumulative: [u32; HORIZON],
    /// Bytes that have arrived or are lost.
    pub received_or_lost: u64,
    /// When the newest packet that has arrived was sent; none before the first.
    pub newest: Option<Instant>,
}

#[cfg(test)]
mod tests;
