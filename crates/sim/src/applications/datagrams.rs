//! Datagrams at a constant rate that no congestion slows down.

use super::{Application, Context, Flow};
use crate::hosts::Hosts;
use crate::packet::Datagram;
use tidegate_measure::Window;
use tidegate_scenario::{Direction, RunResult, Side};
use tidegate_time::Instant;

/// IP and UDP headers, in bytes.
const HEADERS: u64 = 28;

/// A source, and a sink that counts.
pub struct Datagrams {
    flow: Flow,
    bytes: u64,
    nanos_each: f64,
    sent: u64,
    over: bool,
}

impl Datagrams {
    /// IP packets of `bytes` at `mbps`.
    pub fn new(name: &str, direction: Direction, mbps: f64, bytes: u64, window: Window) -> Self {
        Self {
            flow: Flow::new(name.to_owned(), direction, window),
            bytes,
            nanos_each: bytes as f64 * 8e3 / mbps,
            sent: 0,
            over: false,
        }
    }
}

impl Application for Datagrams {
    fn wake(&mut self, context: &mut Context) -> Option<Instant> {
        let began = *self.flow.began.get_or_insert(context.now());
        let due =
            |n: u64| Instant::from_nanos(began.as_nanos() + (n as f64 * self.nanos_each) as u64);
        if context.now() >= due(self.sent) {
            self.sent += 1;
            context.send(self.flow.direction, self.bytes);
        }
        Some(due(self.sent))
    }

    fn datagram(&mut self, _now: Instant, _side: Side, _datagram: &Datagram) -> Option<u64> {
        if !self.over {
            self.flow.received += self.bytes - HEADERS;
        }
        None
    }

    fn stop(&mut self, _context: &mut Context) {
        self.over = true;
    }

    fn flow(&mut self) -> Option<&mut Flow> {
        Some(&mut self.flow)
    }

    fn report(&mut self, _hosts: &Hosts, end: Instant, result: &mut RunResult) {
        result.flows.push(self.flow.result(end));
    }
}
