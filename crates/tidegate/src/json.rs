//! Results on standard output as JSON, for people and programs.

use anyhow::Result;
use serde::Serialize;
use std::io::{BufWriter, Write};

/// Prints a result with one key a line.
///
/// # Errors
/// Standard output that takes no more.
pub fn print(value: &impl Serialize) -> Result<()> {
    // Standard output ends every line with a call: a result with curves has millions.
    let mut out = BufWriter::new(tidegate_terminal::data());
    serde_json::to_writer_pretty(&mut out, value)?;
    writeln!(out)?;
    Ok(out.flush()?)
}
