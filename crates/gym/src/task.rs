//! The task of an agent.

use std::time::Duration;

/// The value that an agent sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::EnumString)]
#[strum(serialize_all = "lowercase")]
pub enum Act {
    /// The receiver's window, in bytes.
    Window,
    /// The sender's congestion window, in segments.
    Cwnd,
    /// The sender's rate, in bit/s.
    Rate,
    /// None: the run's law acts.
    None,
}

impl Act {
    /// The least and the largest value that an agent can set.
    pub fn range(self) -> (f64, f64) {
        match self {
            Self::Window => (3_000.0, 32e6),
            Self::Cwnd => (2.0, 50_000.0),
            Self::Rate => (1e5, 1e10),
            Self::None => (0.0, f64::INFINITY),
        }
    }
}

/// The reward for a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::EnumString)]
#[strum(serialize_all = "lowercase")]
pub enum Reward {
    /// The flow's goodput, headers included, by the link's capacity, at most 1, and 1 if the link could carry nothing;
    /// minus the queueing delay by 100 ms.
    Tide,
    /// (10 · packets/s - 1000 · round trip in s - 2000 · share lost) · 0.001 (PCC-RL; Jay et al., ICML 2019).
    Pcc,
    /// (delivered - 5 · lost) ÷ delay, by the largest delivered ÷ the least delay, where a delay up to 1.25 times the
    /// least counts as the least (after Abbasloo et al., SIGCOMM 2020).
    Orca,
}

/// The task of an agent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Task {
    /// The value that it sets.
    pub act: Act,
    /// The reward for a step.
    pub reward: Reward,
    /// Virtual milliseconds of a step, more than 0.
    pub step_ms: f64,
    /// Virtual milliseconds before the agent begins.
    pub start_ms: f64,
    /// Steps in an observation, at least 1.
    pub history: usize,
    /// The share by which an action of 1 changes the agent's value.
    pub delta: f64,
}

impl Task {
    /// A step.
    pub fn step(&self) -> Duration {
        Duration::from_secs_f64(self.step_ms / 1e3)
    }

    /// The time before the agent begins.
    pub fn start(&self) -> Duration {
        Duration::from_secs_f64(self.start_ms / 1e3)
    }
}
