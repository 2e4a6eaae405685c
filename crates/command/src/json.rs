//! Prints results as JSON on standard output.

use anyhow::Result;
use serde::Serialize;
use std::io::{BufWriter, Write};

/// Prints a result with one key per line.
///
/// # Errors
/// If standard output takes no more.
pub fn print(value: &impl Serialize) -> Result<()> {
    // Unbuffered standard output makes a system call for each line, and a result with curves has millions.
    let mut out = BufWriter::new(tidegate_terminal::data());
    serde_json::to_writer_pretty(&mut out, value)?;
    writeln!(out)?;
    Ok(out.flush()?)
}
