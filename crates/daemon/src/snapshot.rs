//! What a running agent reports: the protocol between `tidegate run` and `tidegate top`.

use crate::about::About;
use crate::account::Account;
use crate::devices::DeviceView;
use crate::udp::HoldCounts;
use serde::{Deserialize, Serialize};
use tidegate_agent::{Count, FlowView, LeftView, PathView, TableView, WindowlessView};

/// Raised when a field changes its meaning or is removed. New fields and new words may be added at any time: a `top`
/// older than its agent says so and ends.
pub const VERSION: u32 = 3;

/// The agent's whole state at one moment.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Snapshot {
    /// The format's version, `VERSION`.
    pub version: u32,
    /// When, µs of CLOCK_MONOTONIC.
    pub at_us: u64,
    /// The agent.
    pub agent: About,
    /// What was done with packets, by reason.
    pub counts: Vec<Count>,
    /// The interfaces, by direction, and their groups of flows.
    pub paths: Vec<PathView>,
    /// How full the tables of flows are.
    #[serde(default)]
    pub tables: Vec<TableView>,
    /// The devices that flows belong to, if shares are by device.
    #[serde(default)]
    pub devices: Vec<DeviceView>,
    /// Measured flows.
    pub flows: Vec<FlowView>,
    /// TCP data that are left alone.
    pub left: Vec<LeftView>,
    /// Flows without a window.
    pub windowless: Vec<WindowlessView>,
    /// Totals of the hold; absent without one.
    #[serde(default)]
    pub hold: Option<HoldCounts>,
    /// The account of the last hour, or since the start if that is later.
    #[serde(default)]
    pub account: Account,
}
