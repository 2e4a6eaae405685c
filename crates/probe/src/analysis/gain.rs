//! The gain of steering on the measured link: a prediction, not a measurement.

use crate::results::rate;
use serde::{Deserialize, Serialize};

/// One TCP over the link, by itself and with its window steered.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
pub struct Gain {
    /// With Linux alone.
    pub linux: Transfer,
    /// With the law that `tidegate run` uses by default.
    pub steered: Transfer,
}

/// A long transfer.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
pub struct Transfer {
    /// Mean round trip, in milliseconds.
    pub rtt_ms: f64,
    /// Its goodput, in bit/s.
    pub goodput_bps: f64,
}

impl Gain {
    /// How many times shorter round trips become.
    pub fn factor(&self) -> f64 {
        self.linux.rtt_ms / self.steered.rtt_ms
    }

    /// In words.
    pub fn words(&self) -> String {
        let Self { linux, steered } = self;
        // A quarter less of each round trip is worth it.
        let verdict = match self.factor() > 4.0 / 3.0 {
            true => format!("round trips {:.1} times shorter", self.factor()),
            false => "little gained".into(),
        };
        format!(
            "{verdict}, as the simulator predicts for one transfer over what was recorded: {:.0} ms and {}, steered {:.0} ms and {}",
            linux.rtt_ms,
            rate(linux.goodput_bps),
            steered.rtt_ms,
            rate(steered.goodput_bps)
        )
    }
}
