//! What the kernel and the caller must have before anything is tried.

use crate::AgentError;
use std::path::Path;

/// Where the kernel describes its types.
pub(crate) const BTF: &str = "/sys/kernel/btf/vmlinux";

/// Checks what the agent cannot do without: `btf`, the kernel's type information (normally
/// `/sys/kernel/btf/vmlinux`), and privilege.
pub fn require(btf: &Path) -> Result<(), AgentError> {
    // SAFETY: no arguments, cannot fail.
    if unsafe { libc::geteuid() } != 0 {
        return Err(AgentError::NotRoot);
    }
    if !btf.exists() {
        return Err(AgentError::NoBtf);
    }
    Ok(())
}
