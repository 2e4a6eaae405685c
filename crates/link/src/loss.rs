//! Loss that is not the queue's.

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Loss on the link, after the queue.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Loss {
    /// Each packet is lost with this probability, independently.
    #[schemars(extend("unit" = "probability"))]
    Random(#[schemars(range(min = 0.0, max = 0.999))] f64),
    /// Gilbert's two-state model: in the bad state every packet is lost, in the good state none.
    ///
    /// A `probability` above `mean_length / (mean_length + 1)` cannot be had, since every run of
    /// losses is followed by at least one packet that arrives; the most that can be had is taken.
    Bursty {
        /// Long-run share of packets lost, 0 to less than 1.
        #[schemars(extend("unit" = "probability"))]
        #[schemars(range(min = 0.0, max = 0.999))]
        probability: f64,
        /// Mean number of packets lost in a row, at least 1.
        #[schemars(extend("unit" = "packets"))]
        #[schemars(range(min = 1.0, max = 1_000_000.0))]
        mean_length: f64,
    },
}

/// A [`Loss`] under way, seeded.
#[derive(Debug)]
pub(crate) struct LossProcess {
    rng: Pcg64Mcg,
    model: Model,
}

#[derive(Debug)]
enum Model {
    None,
    Random(f64),
    Gilbert(Gilbert),
}

impl LossProcess {
    pub(crate) fn new(loss: Option<Loss>, seed: u64) -> Self {
        let mut rng = Pcg64Mcg::seed_from_u64(seed);
        let model = match loss {
            None => Model::None,
            Some(Loss::Random(p)) => Model::Random(p),
            Some(Loss::Bursty {
                probability,
                mean_length,
            }) => Model::Gilbert(Gilbert::new(probability, mean_length, &mut rng)),
        };
        Self { rng, model }
    }

    /// Whether the next packet is lost.
    #[inline]
    pub(crate) fn strikes(&mut self) -> bool {
        match &mut self.model {
            Model::None => false,
            Model::Random(p) => chance(&mut self.rng, *p),
            Model::Gilbert(gilbert) => gilbert.step(&mut self.rng),
        }
    }
}

/// E. N. Gilbert, "Capacity of a burst-noise channel", BSTJ 39 (1960), with loss for noise.
///
/// ```text
///            enter
///   Good ─────────────▶ Bad
///    ▲                   │
///    └───────────────────┘
///            leave
/// ```
#[derive(Debug)]
struct Gilbert {
    bad: bool,
    /// Probability, each packet, of going from good to bad.
    enter: f64,
    /// Probability, each packet, of going from bad to good.
    leave: f64,
}

impl Gilbert {
    /// Runs of losses are geometric with mean 1/`leave`; the share of time spent in the bad state is
    /// `enter` / (`enter` + `leave`). The first state is drawn from that share.
    fn new(probability: f64, mean_length: f64, rng: &mut Pcg64Mcg) -> Self {
        let leave = 1.0 / mean_length.max(1.0);
        Self {
            bad: chance(rng, probability),
            enter: (leave * probability / (1.0 - probability)).min(1.0),
            leave,
        }
    }

    /// This packet's fate, and the state for the next one.
    fn step(&mut self, rng: &mut Pcg64Mcg) -> bool {
        let lost = self.bad;
        let turn = if lost { self.leave } else { self.enter };
        self.bad ^= chance(rng, turn);
        lost
    }
}

/// True with probability `p`; never for `p` ≤ 0, always for `p` ≥ 1.
fn chance(rng: &mut Pcg64Mcg, p: f64) -> bool {
    rng.random::<f64>() < p
}

#[cfg(test)]
mod tests;
