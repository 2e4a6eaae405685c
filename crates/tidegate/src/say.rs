//! Prints what a server says while it serves. On a full disk or a closed pipe the line is lost; `println!` would end
//! the server.

pub use tidegate_terminal::warn as err;

/// Prints a line on standard output. The agent alone prints nothing there.
#[cfg(feature = "full")]
pub fn out(line: impl std::fmt::Display) {
    use std::io::Write;
    let _ = writeln!(tidegate_terminal::out(), "{line}");
}
