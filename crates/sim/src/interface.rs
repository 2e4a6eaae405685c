//! The interface through which packets enter a host, one after the other, at its line rate.
//!
//! A link can release many packets at one instant: a Mahimahi trace a millisecond's worth, a cell what fits into a
//! slot. They reach a host over a wire, and the application reads the first while the others arrive. Linux relies on
//! that: it sizes the receive buffer by what was read in a round trip, less what is still unread at its end
//! (`tcp_rcv_space_adjust`). If a window's worth arrived in no time, all of it would be unread, and the window would
//! never grow.

use crate::packet::Packet;
use rand::RngExt;
use rand_pcg::Pcg64Mcg;
use std::collections::VecDeque;
use std::time::Duration;
use tidegate_basics::time::Instant;

/// Line rate in bit/s, unless a link is nearly as fast: an interface is not the bottleneck. Of 1.5, 2.5 and 10 Gbit/s
/// the value with which `tidegate validate scenarios/bursts` agrees best.
const LINE_RATE: f64 = 2.5e9;

/// An interface is at least this many times as fast as the fastest link.
const HEADROOM: f64 = 2.0;

/// A host's interface.
#[derive(Debug)]
pub struct Interface {
    /// Nanoseconds that a byte takes.
    byte_ns: f64,
    /// When the last packet has arrived completely.
    free: Instant,
    waiting: VecDeque<Packet>,
    wakes: Option<Wakes>,
}

/// How long an idle host takes to wake for a packet: uniform up to the longest.
///
/// Without this jitter a periodic pattern repeats exactly: a packet finds the queue full in every round trip or in
/// none (phase effects: Floyd and Jacobson, "On traffic phase effects in packet-switched gateways", 1992). Real hosts
/// have such jitter.
#[derive(Debug)]
pub struct Wakes {
    /// Random numbers for the draws.
    pub rng: Pcg64Mcg,
    /// The longest wake-up time.
    pub longest: Duration,
}

impl Interface {
    /// The interface behind links whose fastest has a mean of `fastest` bit/s.
    pub fn behind(fastest: f64) -> Self {
        Self {
            byte_ns: 8e9 / LINE_RATE.max(HEADROOM * fastest),
            free: Instant::ZERO,
            waiting: VecDeque::new(),
            wakes: None,
        }
    }

    /// The same interface, of a host that takes time to wake.
    pub fn that_wakes(self, wakes: Wakes) -> Self {
        Self {
            wakes: Some(wakes),
            ..self
        }
    }

    /// A packet arrives. Returns it if it enters at once, because no other is before it.
    pub fn arrive(&mut self, now: Instant, packet: Packet) -> Option<Packet> {
        let is_idle = self.waiting.is_empty() && self.free <= now;
        match &mut self.wakes {
            Some(wakes) if is_idle => {
                self.free = now + wakes.longest.mul_f64(wakes.rng.random::<f64>());
            }
            None if is_idle => {
                self.occupy(now, &packet);
                return Some(packet);
            }
            _ => {}
        }
        self.waiting.push_back(packet);
        None
    }

    /// The next packet that has entered.
    pub fn poll(&mut self, now: Instant) -> Option<Packet> {
        if self.free > now {
            return None;
        }
        let packet = self.waiting.pop_front()?;
        self.occupy(now, &packet);
        Some(packet)
    }

    /// When [`Self::poll`] has a packet.
    pub fn next_event(&self) -> Option<Instant> {
        (!self.waiting.is_empty()).then_some(self.free)
    }

    fn occupy(&mut self, now: Instant, packet: &Packet) {
        let took = Duration::from_nanos((f64::from(packet.bytes) * self.byte_ns) as u64);
        self.free = now + took;
    }
}

#[cfg(test)]
mod tests;
