//! How much an application has read by when.

use crate::ReadRate;
use std::f64::consts::TAU;
use std::time::Duration;

impl ReadRate {
    /// Time from one read to the next.
    pub const TICK: Duration = Duration::from_millis(1);

    /// Bytes that the application reads in the `elapsed` after its start, if they are there.
    pub fn bytes_before(&self, elapsed: Duration) -> u64 {
        let t = elapsed.as_secs_f64();
        let megabits = match *self {
            Self::Constant { mbps } => mbps * t,
            Self::Slots { ref mbps, slot_s } => {
                let slots = (t / slot_s).floor();
                let (count, slot) = (mbps.len(), slots as usize % mbps.len());
                let cycles = (slots / count as f64).floor();
                let cycle: f64 = mbps.iter().sum();
                let before: f64 = mbps[..slot].iter().sum();
                let within = (t - slots * slot_s).clamp(0.0, slot_s);
                slot_s * (cycles * cycle + before) + mbps[slot] * within
            }
            Self::OnOff { mbps, on_s, off_s } => {
                let cycles = (t / (on_s + off_s)).floor();
                let within = t - cycles * (on_s + off_s);
                mbps * (cycles * on_s + within.min(on_s))
            }
            // The integral of mean + swing · sin(2πt/period). This cosine is the same on every machine.
            Self::Sinusoid {
                mean_mbps,
                swing_mbps,
                period_s,
            } => {
                let turn = 1.0 - libm::cos(TAU * (t / period_s).fract());
                mean_mbps * t + swing_mbps * period_s / TAU * turn
            }
        };
        (megabits * 1e6 / 8.0) as u64
    }
}

/// An application that reads at a rate of its own, look by look.
#[derive(Clone, Debug)]
pub struct SlowReader {
    reads: ReadRate,
    /// Bytes that it has read or, where there were none, missed.
    passed: u64,
}

impl SlowReader {
    /// One that has just begun.
    pub fn new(reads: ReadRate) -> Self {
        Self { reads, passed: 0 }
    }

    /// Bytes that it wants `elapsed` after its start, and does not ask for again.
    pub fn wants(&mut self, elapsed: Duration) -> u64 {
        // Rounding may take a byte back where one slot passes into the next.
        let wanted = self.reads.bytes_before(elapsed).saturating_sub(self.passed);
        self.passed += wanted;
        wanted
    }
}

#[cfg(test)]
mod tests;
