//! Videos in several bit rates: the player chooses one for each segment.

use crate::complaints::Complaints;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A video whose player asks for each segment in one of several bit rates, over one connection.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub struct AdaptiveVideoSpec {
    /// How the player chooses.
    pub algorithm: AbrAlgorithm,
    /// The bit rates, rising; every segment of one is as large as any other.
    #[serde(default = "ladder")]
    #[schemars(extend("unit" = "kbit/s"))]
    #[schemars(length(min = 1, max = 20), inner(range(min = 1.0, max = 1e8)))]
    pub ladder_kbps: Vec<f64>,
    /// Seconds of video in a segment.
    #[serde(default = "four")]
    #[schemars(range(min = 0.01, max = 86_400.0))]
    pub segment_s: f64,
    /// Seconds of video that the player keeps at most.
    #[serde(default = "sixty")]
    #[schemars(range(min = 0.01, max = 86_400.0))]
    pub buffer_s: f64,
    /// Seconds of video at which it begins to play, and goes on after it has run dry.
    #[serde(default = "four")]
    #[schemars(range(min = 0.01, max = 86_400.0))]
    pub startup_s: f64,
    /// Of `bba`: it asks for the lowest rate while at most that many seconds are buffered (the reservoir).
    #[serde(default = "five")]
    #[schemars(range(min = 0.0, max = 86_400.0))]
    pub reservoir_s: f64,
    /// Of `bba`: it asks for the highest rate once that many seconds more are buffered (the cushion).
    #[serde(default = "ten")]
    #[schemars(range(min = 0.001, max = 86_400.0))]
    pub cushion_s: f64,
    /// What quality of experience is made of; `robust_mpc` looks for the best.
    #[serde(default)]
    pub qoe: QoeSpec,
}

/// How a player chooses the bit rate of the next segment.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, Serialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum AbrAlgorithm {
    /// By throughput: the highest that is no more than the harmonic mean of the last five segments'.
    Rate,
    /// By the buffer (BBA-0, Huang et al., SIGCOMM 2014).
    Bba,
    /// By model-predictive control (robustMPC, Yin et al., SIGCOMM 2015), five segments ahead.
    RobustMpc,
}

/// Weights of quality of experience (Yin et al. 2015, equation 5): the segments' Mbit/s, less what is here.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, Serialize, PartialEq)]
#[serde(default, deny_unknown_fields)]
pub struct QoeSpec {
    /// For each Mbit/s by which one segment differs from the one before (λ).
    #[schemars(extend("unit" = "ratio"))]
    #[schemars(range(min = 0.0, max = 1000.0))]
    pub switch: f64,
    /// For each second of stalls (μ).
    #[schemars(extend("unit" = "Mbit/s"))]
    #[schemars(range(min = 0.0, max = 1_000_000.0))]
    pub stall_per_s: f64,
    /// For each second before it begins to play (μs).
    #[schemars(extend("unit" = "Mbit/s"))]
    #[schemars(range(min = 0.0, max = 1_000_000.0))]
    pub startup_per_s: f64,
}

impl Default for QoeSpec {
    /// A second of waiting costs as much as the highest rate of the usual ladder brings (Pensieve's `QoE_lin`, Mao et al.,
    /// SIGCOMM 2017, which counts the start as a stall).
    fn default() -> Self {
        Self {
            switch: 1.0,
            stall_per_s: 4.3,
            startup_per_s: 4.3,
        }
    }
}

/// Pensieve's.
fn ladder() -> Vec<f64> {
    vec![300.0, 750.0, 1200.0, 1850.0, 2850.0, 4300.0]
}

fn four() -> f64 {
    4.0
}

fn five() -> f64 {
    5.0
}

fn ten() -> f64 {
    10.0
}

fn sixty() -> f64 {
    60.0
}

impl AdaptiveVideoSpec {
    /// By that algorithm, everything else as Pensieve has it.
    pub fn of(algorithm: AbrAlgorithm) -> Self {
        Self {
            algorithm,
            ladder_kbps: ladder(),
            segment_s: four(),
            buffer_s: sixty(),
            startup_s: four(),
            reservoir_s: five(),
            cushion_s: ten(),
            qoe: QoeSpec::default(),
        }
    }

    /// The bit rates in Mbit/s.
    pub fn ladder_mbps(&self) -> Vec<f64> {
        self.ladder_kbps.iter().map(|kbps| kbps / 1e3).collect()
    }

    /// Complains of all that makes no sense in it.
    pub(crate) fn complain(&self, to: &mut Complaints) {
        let Self {
            segment_s,
            buffer_s,
            startup_s,
            ..
        } = self;
        let least = segment_s.max(*startup_s);
        let ok = least <= *buffer_s || !to.sound([""]);
        to.expect(ok, "buffer_s", || {
            format!(
                "adaptive_video.buffer_s is {buffer_s}, expected {least} (segment_s and startup_s) or more"
            )
        });
        let rises = self.ladder_kbps.is_sorted_by(|a, b| a < b);
        to.expect(rises, "ladder_kbps", || {
            format!(
                "adaptive_video.ladder_kbps is {:?}, expected each rate above the one before",
                self.ladder_kbps
            )
        });
    }
}
