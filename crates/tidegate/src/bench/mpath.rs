//! What mPath costs on one core.

mod goodput;
mod proxy;

use super::Row;
use anyhow::Result;
use std::sync::atomic::AtomicBool;

/// Takes a little more than half a minute; `stop` ends it early with an error.
pub fn measure(stop: &AtomicBool) -> Result<Vec<Row>> {
    let mut rows = goodput::measure(stop)?;
    rows.extend(proxy::measure(stop)?);
    Ok(rows)
}
