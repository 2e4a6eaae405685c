//! How full the queues on a path are, as its round trips show.

use std::time::Duration;

/// Rounds over which averages go. A window's saw-tooth may last for hundreds.
const MEMORY: u32 = 256;

/// Rounds after which averages are meaningful.
const ENOUGH: u32 = 8;

/// The round trips of a path, in rounds of one each.
#[derive(Clone, Copy, Debug, Default)]
pub struct Queueing {
    /// The longest of this round and of the one before, in seconds.
    peak: f64,
    peak_before: f64,
    /// Rounds so far.
    rounds: u32,
    /// The peaks' mean and mean deviation, in seconds.
    mean: f64,
    deviation: f64,
    /// The share of rounds in which queues were long.
    usual: f64,
}

impl Queueing {
    /// A packet has taken `round_trip`, there and back.
    pub fn sample(&mut self, round_trip: Duration) {
        self.peak = self.peak.max(round_trip.as_secs_f64());
    }

    /// A round trip has passed, with at least one sample.
    pub fn end_round(&mut self) {
        let gain = 1.0 / f64::from(self.rounds.min(MEMORY) + 1);
        self.mean += (self.peak - self.mean) * gain;
        self.deviation += ((self.peak - self.mean).abs() - self.deviation) * gain;
        let long = f64::from(u8::from(self.is_long()));
        self.usual += (long - self.usual) * gain;
        self.rounds += 1;
        self.peak_before = std::mem::take(&mut self.peak);
    }

    /// Whether round trips were longer than usual in this round or the one before: by more than one and a half mean
    /// deviations.
    pub fn is_long(&self) -> bool {
        self.peak.max(self.peak_before) > self.mean + 1.5 * self.deviation
    }

    /// How often they are longer, as a share of all rounds; none before there have been enough rounds.
    pub fn usually_long(&self) -> Option<f64> {
        (self.rounds >= ENOUGH).then_some(self.usual)
    }
}
