//! The sender (§3.5): sends as much as will have left the queue within 100 ms, by the latest forecast.

use super::{Data, Forecast, HEADERS, HORIZON, PACKET_BYTES, TICK};
use std::collections::VecDeque;
use std::time::Duration;
use tidegate_basics::time::Instant;

/// Ticks that a packet may wait: 100 ms.
const TOLERANCE: usize = 5;

/// A packet that has not arrived is lost once one that was sent this much later has (§3.4).
const REORDERING: Duration = Duration::from_millis(10);

/// Interval of heartbeats, by which a sender says that it has nothing to send.
const HEARTBEAT: Duration = Duration::from_millis(50);

/// The sending end, of a source that always has something to send.
#[derive(Debug)]
pub struct Sender {
    /// Bytes sent.
    sent: u64,
    /// The packets of the last 10 ms: their sequence numbers, and when they were sent.
    recent: VecDeque<(u64, Instant)>,
    forecast: Forecast,
    received_at: Instant,
    /// Ticks of the forecast that are over.
    tick: usize,
    /// Bytes in the queue, according to the forecast.
    queue: u64,
    heartbeat_at: Instant,
}

impl Sender {
    /// A sender that begins now, with the forecast of a receiver that knows nothing.
    pub const fn new(cumulative: [u32; HORIZON], now: Instant) -> Self {
        Self {
            sent: 0,
            recent: VecDeque::new(),
            forecast: Forecast {
                cumulative,
                received_or_lost: 0,
                newest: None,
            },
            received_at: now,
            tick: 0,
            queue: 0,
            heartbeat_at: now,
        }
    }

    /// A forecast has arrived. One that acknowledges no more than an earlier one has been overtaken and is old.
    pub fn receive(&mut self, now: Instant, forecast: &Forecast) {
        if forecast.received_or_lost < self.forecast.received_or_lost {
            return;
        }
        self.forecast = *forecast;
        self.received_at = now;
        self.tick = 0;
        self.queue = self.sent.saturating_sub(forecast.received_or_lost);
    }

    /// When the window can grow, or a heartbeat is due.
    pub fn next(&self) -> Instant {
        let tick = self.received_at + TICK * (self.tick as u32 + 1);
        if self.tick + 1 < HORIZON {
            tick.min(self.heartbeat_at)
        } else {
            self.heartbeat_at
        }
    }

    /// Takes off the queue what the forecast delivers in the ticks that are over.
    fn advance(&mut self, now: Instant) {
        while self.tick + 1 < HORIZON && now >= self.received_at + TICK * (self.tick as u32 + 1) {
            let before = self.tick.checked_sub(1).map_or(0, |tick| self.until(tick));
            self.queue = self.queue.saturating_sub(self.until(self.tick) - before);
            self.tick += 1;
        }
    }

    /// Bytes forecast until the end of a tick.
    fn until(&self, tick: usize) -> u64 {
        u64::from(self.forecast.cumulative[tick.min(HORIZON - 1)]) * PACKET_BYTES
    }

    /// Bytes that may be sent now.
    pub fn window(&mut self, now: Instant) -> u64 {
        self.advance(now);
        let leaves = self.until(self.tick + TOLERANCE) - self.until(self.tick);
        leaves.saturating_sub(self.queue)
    }

    /// Returns a flight of packets, a heartbeat, or nothing.
    pub fn transmit(&mut self, now: Instant) -> Vec<Data> {
        let packets = self.window(now) / PACKET_BYTES;
        let mut flight: Vec<_> = (0..packets)
            .map(|_| self.packet(now, PACKET_BYTES))
            .collect();
        if flight.is_empty() && now >= self.heartbeat_at {
            flight.push(self.packet(now, HEADERS));
        }
        if let Some(last) = flight.last_mut() {
            last.time_to_next = HEARTBEAT;
            self.heartbeat_at = now + HEARTBEAT;
        }
        flight
    }

    fn packet(&mut self, now: Instant, bytes: u64) -> Data {
        let sequence = self.sent;
        self.sent += bytes;
        self.queue += bytes;
        self.recent.push_back((sequence, now));
        while self.recent[0].1 + REORDERING < now {
            self.recent.pop_front();
        }
        Data {
            sequence,
            bytes,
            settled: self.recent[0].0,
            time_to_next: Duration::ZERO,
            sent: now,
        }
    }
}
