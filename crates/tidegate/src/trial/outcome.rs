//! A trial's result, as `--json` prints it.

use super::ping::By;
use super::slot::{Measured, Slot};
use super::verdict::{Finding, judge};
use super::words;
use serde::Serialize;
use std::net::SocketAddr;
use tidegate_laws::Law;
use tidegate_measure::{median, quantile};

/// What was tried, and where.
#[derive(Clone, Debug, Serialize)]
pub struct About {
    /// When it began, in seconds since 1970.
    pub at: u64,
    /// The law that steered.
    pub law: Law,
    /// The interfaces that were steered.
    pub interfaces: Vec<String>,
    /// The load in words.
    pub load: String,
    /// Whether the load ran in a control group of its own.
    pub in_control_group: bool,
    /// The host that round trips were measured to,
    pub pinged: String,
    /// its address, with the port for handshakes,
    pub pinged_address: SocketAddr,
    /// and the method.
    pub pinged_by: By,
    /// How many pairs were planned.
    pub pairs: usize,
    /// Length of a slot, in seconds.
    pub slot_s: f64,
    /// The seed of the slots' order.
    pub seed: u64,
}

/// The whole result.
#[derive(Clone, Debug, Serialize)]
pub struct TrialReport {
    /// The verdict in a sentence.
    pub headline: String,
    /// Further sentences.
    pub said: Vec<String>,
    /// The finding.
    #[serde(flatten)]
    pub finding: Finding,
    /// What was tried.
    pub about: About,
    /// The slots that were completed.
    pub slots: Vec<Row>,
}

/// A slot with statistics of its round trips.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// The slot.
    #[serde(flatten)]
    pub slot: Slot,
    /// How many probes were answered.
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
