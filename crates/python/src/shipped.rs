//! Scenarios that come with the package: those that read no file.

use pyo3::prelude::*;

macro_rules! shipped {
    ($($name:literal),* $(,)?) => {
        [$(($name, include_str!(concat!("../../../scenarios/", $name, ".toml")))),*]
    };
}

const SHIPPED: [(&str, &str); 13] = shipped![
    "adaptive-video",
    "both-directions",
    "flow-completion",
    "late-comer",
    "lte-download",
    "lte-download-bbr",
    "pausing-server",
    "quic-download",
    "route-change",
    "shared-queue",
    "steady-download",
    "upload-beside-download",
    "web-beside-download",
];

/// Their names.
#[pyfunction]
pub fn shipped_names() -> Vec<&'static str> {
    SHIPPED.iter().map(|(name, _)| *name).collect()
}

/// The text of the scenario `name`, if it exists.
#[pyfunction]
pub fn shipped(name: &str) -> Option<&'static str> {
    let found = SHIPPED.iter().find(|(known, _)| *known == name);
    found.map(|(_, text)| *text)
}
