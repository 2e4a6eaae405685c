//! The interval at which bursts come (thesis §4.2.1: 10 ms on HSPA, 4 ms on HSPA+ and LTE).
//!
//! Arrivals on a grid of T have one phase modulo T, whether or not every turn is used: the length of the mean of
//! e^(2πi·t/T) is 1 (Rayleigh's test), and for arrivals at any time near 0. Three things would fool it, and do not:
//!
//! * A grid of T is one of T/2, T/3 …: the longest of those that fit is chosen.
//! * Packets that are sent one after another at a low rate come on a grid too, of the time that one takes. That one
//!   grows with the packets: an interval counts only if trains of every size have it. Sizes of 200, 560 and
//!   1420 bytes share only the time of 20.
//! * Recorded links come in whole milliseconds. An interval is looked for from 2 ms on.

use super::bursts::{backlogged, split};
use crate::Arrival;
use serde::{Deserialize, Serialize};
use std::f64::consts::TAU;
use std::time::Duration;
use tidegate_basics::time::Instant;

/// An interval of bursts.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
pub struct Period {
    /// Milliseconds.
    pub ms: f64,
    /// How well arrivals keep to it, 0 to 1: the train's that keeps to it least.
    pub coherence: f64,
}

/// Range of intervals that are tried, in milliseconds.
const SHORTEST_MS: f64 = 1.9;
const LONGEST_MS: f64 = 21.0;
const STEP_MS: f64 = 0.02;

/// Arrivals keep to an interval with at least this coherence; timers of hosts blur it by some tenths.
const COHERENT: f64 = 0.6;

/// Of the intervals that fit, the longest within this share of the best is chosen.
const AS_GOOD: f64 = 0.9;

/// Clocks drift, so phases are compared only within this time; with too few bursts in all there is no result.
const WINDOW: Duration = Duration::from_millis(500);
const LEAST: usize = 40;

/// The interval that all trains keep to, if there is one.
pub fn period(trains: &[&[Arrival]]) -> Option<Period> {
    let starts: Vec<Vec<Instant>> = trains.iter().map(|train| burst_starts(train)).collect();
    if starts.is_empty() || starts.iter().any(|s| s.len() < LEAST) {
        return None;
    }
    let steps = ((LONGEST_MS - SHORTEST_MS) / STEP_MS) as usize;
    let candidates: Vec<Period> = (0..=steps)
        .map(|n| SHORTEST_MS + n as f64 * STEP_MS)
        .map(|ms| Period {
            ms,
            coherence: (starts.iter())
                .map(|s| coherence(s, ms))
                .fold(1.0, f64::min),
        })
        .collect();
    let best = candidates.iter().map(|p| p.coherence).fold(0.0, f64::max);
    if best < COHERENT {
        return None;
    }
    let bound = (AS_GOOD * best).max(COHERENT);
    let longest = candidates.iter().rposition(|p| p.coherence >= bound)?;
    // The top of the hill whose far foot this is.
    let hill = candidates[..=longest].iter().rev();
    hill.take_while(|p| p.coherence >= bound)
        .copied()
        .max_by(|a, b| a.coherence.total_cmp(&b.coherence))
}

/// The beginnings of bursts while the queue stands; without bursts, the arrivals of packets.
fn burst_starts(arrivals: &[Arrival]) -> Vec<Instant> {
    let busy = backlogged(arrivals);
    split(&busy, super::bursts::GAP / 2)
        .iter()
        .map(|b| b.first)
        .collect()
}

/// How well `moments` keep to an interval: the mean over windows, each with a phase of its own.
fn coherence(moments: &[Instant], ms: f64) -> f64 {
    let (mut sum, mut count) = (0.0, 0.0);
    let mut rest = moments;
    while let Some(&first) = rest.first() {
        let end = rest.partition_point(|&at| at - first < WINDOW);
        let (window, later) = rest.split_at(end);
        rest = later;
        // For few moments the length of the mean is large by chance.
        if window.len() >= 8 {
            let n = window.len() as f64;
            let squared = (resultant_squared(window, first, ms) - n).max(0.0) / (n * (n - 1.0));
            sum += squared * n;
            count += n;
        }
    }
    if count > 0.0 {
        (sum / count).sqrt()
    } else {
        0.0
    }
}

/// Squared length of the sum of e^(2πi·t/T).
fn resultant_squared(moments: &[Instant], from: Instant, ms: f64) -> f64 {
    let (mut sine, mut cosine) = (0.0, 0.0);
    for &at in moments {
        let (s, c) = libm::sincos(TAU * (at - from).as_secs_f64() * 1e3 / ms);
        sine += s;
        cosine += c;
    }
    sine * sine + cosine * cosine
}
