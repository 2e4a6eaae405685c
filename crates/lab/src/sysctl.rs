//! Settings of the calling thread's network namespace, below `/proc/sys/net`.

use anyhow::{Context, Result};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The file of a setting, such as `ipv4/tcp_rmem`.
pub fn path(key: &str) -> PathBuf {
    Path::new("/proc/sys/net").join(key)
}

/// The setting's value, without the line's end.
///
/// # Errors
/// When the kernel has no such setting.
pub fn read(key: &str) -> Result<String> {
    let path = path(key);
    let text =
        fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    Ok(text.trim_end().into())
}

/// Changes the setting.
///
/// # Errors
/// When the kernel has no such setting or refuses the value.
pub fn write(key: &str, value: &str) -> Result<()> {
    try_write(key, value)
        .with_context(|| format!("cannot write {value} to {}", path(key).display()))
}

/// The same, for callers that handle the error.
///
/// # Errors
/// The kernel's.
pub fn try_write(key: &str, value: &str) -> io::Result<()> {
    fs::write(path(key), value)
}

/// Whether the kernel has IPv6, and it is not switched off.
pub fn has_ipv6() -> bool {
    path("ipv6/conf/all").exists()
}
