//! What an agent is to do.

use std::time::Duration;

/// What an agent has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::EnumString)]
#[strum(serialize_all = "lowercase")]
pub enum Act {
    /// The receiver's window, in bytes.
    Window,
    /// The sender's congestion window, in segments.
    Cwnd,
    /// The sender's rate, in bit/s.
    Rate,
    /// Nothing: the run's law acts.
    None,
}

impl Act {
    /// The least and the most that an agent can have.
    pub fn range(self) -> (f64, f64) {
        match self {
            Self::Window => (3_000.0, 32e6),
            Self::Cwnd => (2.0, 50_000.0),
            Self::Rate => (1e5, 1e10),
            Self::None => (0.0, f64::INFINITY),
        }
    }
}

/// What a step is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::EnumString)]
#[strum(serialize_all = "lowercase")]
pub enum Reward {
    /// What the flow delivered, headers included, by what the link could have carried, at most 1, and 1 where it could carry
    /// nothing; less the queueing delay by 100 ms.
    Tide,
    /// (10 · packets/s - 1000 · round trip in s - 2000 · part lost) · 0.001 (PCC-RL; Jay et al., ICML 2019).
    Pcc,
    /// (delivered - 5 · lost) ÷ delay, by the most delivered ÷ the least delay, where a delay up to 1.25 times the least
    /// counts as that (after Abbasloo et al., SIGCOMM 2020).
    Orca,
}

/// What an agent is to do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Task {
    /// What it has.
    pub act: Act,
    /// What a step is worth.
    pub reward: Reward,
    /// Virtual milliseconds of a step, more than 0.
    pub step_ms: f64,
    /// Virtual milliseconds that the run has before the agent.
    pub start_ms: f64,
    /// Steps that an observation has, at least 1.
    pub history: usize,
    /// By which part an action of 1 changes what the agent has.
    pub delta: f64,
}

impl Task {
    /// A step.
    pub fn step(&self) -> Duration {
        Duration::from_secs_f64(self.step_ms / 1e3)
    }

    /// What the run has before the agent.
    pub fn start(&self) -> Duration {
        Duration::from_secs_f64(self.start_ms / 1e3)
    }
}
