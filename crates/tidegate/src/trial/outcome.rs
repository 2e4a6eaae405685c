//! A trial's result, as `--json` has it.

use super::ping::By;
use super::slot::{Measured, Slot, median, quantile};
use super::verdict::{Finding, judge};
use super::words;
use serde::Serialize;
use std::net::SocketAddr;
use tidegate_laws::Law;

/// What was tried, and where.
#[derive(Clone, Debug, Serialize)]
pub struct About {
    /// When it began, in seconds since 1970.
    pub at: u64,
    /// What steered.
    pub law: Law,
    /// On which interfaces.
    pub interfaces: Vec<String>,
    /// What loaded the link.
    pub load: String,
    /// Whether that was in a control group of its own.
    pub in_control_group: bool,
    /// Who was asked for round trips,
    pub pinged: String,
    /// where, the port for handshakes,
    pub pinged_address: SocketAddr,
    /// and how.
    pub pinged_by: By,
    /// Pairs that were to count.
    pub pairs: usize,
    /// Length of a slot, in seconds.
    pub slot_s: f64,
    /// By which the order was drawn.
    pub seed: u64,
}

/// All of it.
#[derive(Clone, Debug, Serialize)]
pub struct TrialReport {
    /// The verdict in a sentence.
    pub headline: String,
    /// What else is to be said.
    pub said: Vec<String>,
    /// What was found.
    #[serde(flatten)]
    pub finding: Finding,
    /// What was tried.
    pub about: About,
    /// Slots that are over.
    pub slots: Vec<Row>,
}

/// A slot, and its delays.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// The slot.
    #[serde(flatten)]
    pub slot: Slot,
    /// Answers.
    pub answered: usize,
    /// Median round trip, in ms.
    pub median_ms: Option<f64>,
    /// The 95th percentile, in ms.
    pub p95_ms: Option<f64>,
}

impl TrialReport {
    /// Judges what was measured.
    pub fn of(about: About, measured: Measured) -> Self {
        let finding = judge(&measured);
        let row = |slot: Slot| {
            let delays = slot.delays_ms();
            Row {
                answered: delays.len(),
                median_ms: median(&delays),
                p95_ms: quantile(&delays, 0.95),
                slot,
            }
        };
        Self {
            headline: words::headline(&finding),
            said: words::sentences(&finding, measured.cut_short),
            finding,
            about,
            slots: measured.slots.into_iter().map(row).collect(),
        }
    }
}
