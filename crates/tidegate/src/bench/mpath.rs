//! mPath: what it costs on one core.

mod goodput;

use super::Row;
use anyhow::Result;
use std::sync::atomic::AtomicBool;

/// Half a minute; `stop` ends it early with an error.
pub fn measure(stop: &AtomicBool) -> Result<Vec<Row>> {
    goodput::measure(stop)
}
