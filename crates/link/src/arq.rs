//! Retransmission on the link itself, as HARQ and RLC's acknowledged mode do it.

use crate::rate::Signal;
use crate::{Instant, SignalWalk};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use std::sync::Arc;
use std::time::Duration;

/// Link-layer retransmission with delivery in order: a packet that fails is sent again, and those
/// behind it wait at the far end, so that loss becomes delay. Only a packet that fails every time is
/// lost, and those behind it wait until the link gives it up.
///
/// Retransmissions take nothing from the link's rate: rates in recorded traces and data sheets already exclude them.
/// They run in parallel, as HARQ's processes do.
#[derive(Clone, Debug, PartialEq)]
pub struct Arq {
    /// Probability that a transmission fails.
    pub error: BlockError,
    /// From the end of one transmission to the end of the next (HARQ in LTE: 8 ms).
    pub retry: Duration,
    /// Transmissions of one packet, the first included, at least 1.
    pub tries: u32,
}

/// How likely a transmission is to fail, independently of others.
#[derive(Clone, Debug, PartialEq)]
pub enum BlockError {
    /// The same always.
    Constant(f64),
    /// It depends on the signal when the packet is first sent.
    Signal {
        /// The walk that the signal comes from: the link's own rate, or another.
        walk: Arc<SignalWalk>,
        /// Signal in dB and probability, in order of signal, not empty: piecewise linear, and
        /// constant beyond the ends.
        curve: Vec<(f64, f64)>,
    },
}

/// An [`Arq`] under way, seeded.
#[derive(Debug)]
pub(crate) struct ArqProcess {
    rng: Pcg64Mcg,
    chances: Chances,
    retry: Duration,
    tries: u32,
    /// When everything so far has been delivered or given up.
    settled: Instant,
}

#[derive(Debug)]
enum Chances {
    Constant(f64),
    Signal {
        signal: Signal,
        curve: Vec<(f64, f64)>,
    },
}

impl ArqProcess {
    pub(crate) fn new(arq: Arq, seed: u64) -> Self {
        Self {
            rng: Pcg64Mcg::seed_from_u64(seed),
            chances: match arq.error {
                BlockError::Constant(p) => Chances::Constant(p),
                BlockError::Signal { walk, curve } => Chances::Signal {
                    signal: Signal::new(walk),
                    curve,
                },
            },
            retry: arq.retry,
            tries: arq.tries.max(1),
            settled: Instant::ZERO,
        }
    }

    /// When a packet first sent by `at`, which never decreases, is delivered; none if it is lost.
    pub(crate) fn deliver(&mut self, at: Instant) -> Option<Instant> {
        let p = match &mut self.chances {
            Chances::Constant(p) => *p,
            Chances::Signal { signal, curve } => interpolate(curve, signal.at(at)),
        };
        let failures = (0..self.tries)
            .take_while(|_| self.rng.random::<f64>() < p)
            .count() as u32;
        // The last failure is known when it would have arrived.
        let retries = failures.min(self.tries - 1);
        self.settled = self.settled.max(at + self.retry * retries);
        (failures < self.tries).then_some(self.settled)
    }
}

/// Piecewise linear through `points`, constant beyond their ends; 0 without any.
fn interpolate(points: &[(f64, f64)], x: f64) -> f64 {
    let next = points.partition_point(|p| p.0 <= x);
    match (next.checked_sub(1).map(|i| points[i]), points.get(next)) {
        (Some((x0, y0)), Some(&(x1, y1))) => y0 + (y1 - y0) * (x - x0) / (x1 - x0),
        (Some((_, y)), None) | (None, Some(&(_, y))) => y,
        (None, None) => 0.0,
    }
}

#[cfg(test)]
mod tests;
