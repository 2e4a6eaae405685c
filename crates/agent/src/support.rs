//! What the kernel and the caller must have before anything is tried.

use crate::{AgentError, capabilities};
use std::ffi::CStr;
use std::path::Path;

/// Where the kernel describes its types.
pub(crate) const BTF: &str = "/sys/kernel/btf/vmlinux";

/// The oldest kernel that the programs were loaded into, major and minor number (docs/packaging.md).
const OLDEST: (u32, u32) = (5, 10);

/// Checks what the agent cannot do without: a kernel that is not too old, privilege, and `btf`, the
/// kernel's type information (normally `/sys/kernel/btf/vmlinux`).
pub fn require(btf: &Path) -> Result<(), AgentError> {
    let release = release();
    if version(&release).is_some_and(|v| v < OLDEST) {
        return Err(AgentError::TooOld(release));
    }
    capabilities::require()?;
    if !btf.exists() {
        return Err(AgentError::NoBtf);
    }
    Ok(())
}

/// The running kernel's release, as `uname -r` prints it.
fn release() -> String {
    // SAFETY: all zeroes are valid strings.
    let mut names: libc::utsname = unsafe { std::mem::zeroed() };
    // SAFETY: the record outlives the call, which fills it with NUL-terminated strings.
    let release = unsafe {
        libc::uname(&raw mut names);
        CStr::from_ptr(names.release.as_ptr())
    };
    release.to_string_lossy().into_owned()
}

/// Its major and minor number; none if it is of another form than any kernel's so far.
fn version(release: &str) -> Option<(u32, u32)> {
    let (major, rest) = release.split_once('.')?;
    let minor = rest.split(|c: char| !c.is_ascii_digit()).next()?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions() {
        assert_eq!(version("6.1.0-50-cloud-amd64"), Some((6, 1)));
        assert_eq!(version("5.10"), Some((5, 10)));
        assert_eq!(version("6.12+deb13"), Some((6, 12)));
        assert_eq!(version("linux"), None);
        assert!(version("4.19.0") < Some(OLDEST) && version(&release()) >= Some(OLDEST));
    }
}
