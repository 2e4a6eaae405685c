//! mPath: what a proxy does on one core.

mod proxy;

use super::Row;
use anyhow::Result;
use std::sync::atomic::AtomicBool;

/// Some seconds; `stop` ends it early with an error.
pub fn measure(stop: &AtomicBool) -> Result<Vec<Row>> {
    proxy::measure(stop)
}
