//! What a server says while it serves. A full disk or a closed pipe costs the line, not the server, which `println!` would end.

use std::fmt::Display;
use std::io::Write;

/// A line on standard output. The agent alone says nothing there.
#[cfg(feature = "full")]
pub fn out(line: impl Display) {
    let _ = writeln!(std::io::stdout(), "{line}");
}

/// A line on standard error.
pub fn err(line: impl Display) {
    let _ = writeln!(std::io::stderr(), "{line}");
}
