//! What a server says while it serves. A full disk or a closed pipe costs the line, not the server, which `println!` would end.

pub use tidegate_terminal::warn as err;

/// Prints a line on standard output. The agent alone prints nothing there.
#[cfg(feature = "full")]
pub fn out(line: impl std::fmt::Display) {
    use std::io::Write;
    let _ = writeln!(tidegate_terminal::out(), "{line}");
}
