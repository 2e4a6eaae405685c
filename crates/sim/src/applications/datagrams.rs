//! Datagrams without congestion control.

use super::{Application, Context, Flow};
use crate::hosts::Hosts;
use crate::packet::Datagram;
use crate::random;
use rand_pcg::Pcg64Mcg;
use std::time::Duration;
use tidegate_basics::random::exponential;
use tidegate_basics::time::Instant;
use tidegate_measure::Window;
use tidegate_scenario::{Direction, RunResult, Side, Spacing};

/// IP and UDP headers, in bytes.
const HEADERS: u64 = 28;

/// A source, and a sink that counts.
pub struct Datagrams {
    flow: Flow,
    bytes: u64,
    nanos_each: f64,
    gaps: Gaps,
    /// When the next datagram is due, in units of the mean gap since the first.
    next: f64,
    over: bool,
}

/// Gaps between datagrams, with a mean of 1.
pub enum Gaps {
    /// All gaps are equal.
    Constant,
    /// Exponentially distributed: a Poisson process.
    Poisson(Pcg64Mcg),
}

impl Gaps {
    /// The gaps of the workload with that name.
    pub fn new(spacing: Spacing, seed: u64, name: &str) -> Self {
        match spacing {
            Spacing::Constant => Self::Constant,
            Spacing::Poisson => Self::Poisson(random::stream(seed, name)),
        }
    }

    fn draw(&mut self) -> f64 {
        match self {
            Self::Constant => 1.0,
            Self::Poisson(rng) => exponential(rng),
        }
    }
}

impl Datagrams {
    /// IP packets of `bytes` at `mbps`.
    pub fn new(
        name: &str,
        direction: Direction,
        mbps: f64,
        bytes: u64,
        gaps: Gaps,
        window: Window,
    ) -> Self {
        Self {
            flow: Flow::new(name.to_owned(), direction, window),
            bytes,
            nanos_each: bytes as f64 * 8e3 / mbps,
            gaps,
            next: 0.0,
            over: false,
        }
    }
}

impl Application for Datagrams {
    fn wake(&mut self, context: &mut Context) -> Option<Instant> {
        let began = *self.flow.began.get_or_insert(context.now());
        let due = |next: f64| began + Duration::from_nanos((next * self.nanos_each) as u64);
        if context.now() >= due(self.next) {
            self.next += self.gaps.draw();
            context.send(self.flow.direction, self.bytes);
        }
        Some(due(self.next))
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
