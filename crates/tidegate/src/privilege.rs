//! The privilege that commands with namespaces of their own need.

use tidegate_command::exit::BadInput;

/// An error unless the user is root; `what` needs it.
pub fn require_root(what: &str) -> Result<(), BadInput> {
    // SAFETY: no arguments, cannot fail.
    if unsafe { libc::geteuid() } == 0 {
        return Ok(());
    }
    Err(BadInput(format!(
        "{what} needs root, to make network namespaces and TUN devices"
    )))
}
