//! The same scenario in simulator and laboratory, number by number.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One quantity of one scenario, as the kernel and the simulator have it.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize, PartialEq)]
pub struct Comparison {
    /// The scenario's name, with the run's if it has several.
    pub scenario: String,
    /// What is compared: the result schema's name of it.
    pub quantity: String,
    /// Measured in the laboratory.
    pub kernel: f64,
    /// Measured in the simulator.
    pub sim: f64,
    /// |sim − kernel| ÷ kernel.
    pub error: f64,
    /// The largest error that passes.
    pub allowed: f64,
    /// Whether it passes.
    pub ok: bool,
    /// Why it is known to miss, if it is.
    pub reason: Option<String>,
}
