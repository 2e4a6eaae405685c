//! Known differences between simulator and kernel, with their reasons, from a file beside the scenarios.
//!
//! ```toml
//! [scenario-name]
//! "queue_delay_ms.p95" = "One sentence."
//! "rtt_ms.p50" = { within = 0.2, because = "One sentence." }
//! ```
//!
//! A sentence alone explains a miss, but never makes it pass. If the two sides are known to differ, a wider tolerance
//! is given with its reason, and a larger error fails.

use super::compare::Quantity;
use anyhow::{Context, Result};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::Path;
use tidegate_command::exit::BadInput;

/// The file's name.
pub const FILE: &str = "reasons.toml";

/// A known difference.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(
    untagged,
    deny_unknown_fields,
    expecting = "expected a string, or a table with `within` and `because`"
)]
pub enum Known {
    /// Only its reason.
    Miss(String),
    /// A wider tolerance with its reason.
    Wider {
        /// The largest error that passes, as a share of the kernel's value.
        within: f64,
        /// The reason.
        because: String,
    },
}

/// By scenario and quantity.
#[derive(Debug, Default, Deserialize)]
#[serde(transparent)]
pub struct Reasons(BTreeMap<String, BTreeMap<String, Known>>);

impl Reasons {
    /// Reads the file of a folder, which may have none; `labels` are all runs that may have reasons.
    ///
    /// # Errors
    /// If the file is malformed, or names a run or quantity that does not exist.
    pub fn load(folder: &Path, labels: &[String]) -> Result<Self> {
        let path = folder.join(FILE);
        let text = match std::fs::read_to_string(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Self::default()),
            read => read.with_context(|| format!("cannot read {}", path.display()))?,
        };
        Self::parse(&text, labels)
            .map_err(|complaint| BadInput(format!("{}: {complaint}", path.display())).into())
    }

    /// Parses the file; `labels` are all runs that may have reasons.
    pub fn parse(text: &str, labels: &[String]) -> Result<Self, String> {
        let reasons: Self = toml::from_str(text).map_err(|e| e.to_string())?;
        for (label, quantities) in &reasons.0 {
            if !labels.contains(label) {
                return Err(format!("there is no scenario \"{label}\""));
            }
            let known = |name: &str| Quantity::ALL.iter().any(|q| q.name() == name);
            if let Some(name) = quantities.keys().find(|name| !known(name)) {
                return Err(format!("{label}: \"{name}\" is not compared"));
            }
            let odd = quantities.iter().find_map(|(name, known)| match known {
                Known::Wider { within, .. } if !(0.0..1.0).contains(within) => Some((name, within)),
                _ => None,
            });
            if let Some((name, within)) = odd {
                return Err(format!(
                    "{label}: \"{name}\" is within {within}, expected a share below 1"
                ));
            }
        }
        Ok(reasons)
    }

    /// The known difference of this quantity in that scenario.
    pub fn of(&self, label: &str, quantity: Quantity) -> Option<&Known> {
        self.0.get(label)?.get(quantity.name())
    }
}

#[cfg(test)]
mod tests;
