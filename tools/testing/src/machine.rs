//! Checks for what only the machine can provide.

use crate::skipped;
use std::fs::OpenOptions;

/// Capabilities without which there are no namespaces, devices and mounts, CAP_NET_ADMIN and
/// CAP_SYS_ADMIN (linux/capability.h): a container's root often lacks them.
const NEEDED: u64 = 1 << 12 | 1 << 21;

/// Whether the calling thread has root's capabilities. If not, says that the test is skipped.
#[must_use]
pub fn is_root() -> bool {
    let root = nix::unistd::geteuid().is_root() && capabilities() & NEEDED == NEEDED;
    if !root {
        skipped("needs root, with CAP_NET_ADMIN and CAP_SYS_ADMIN");
    }
    root
}

/// The same for TUN devices, which join the laboratory's hosts to their link.
#[must_use]
pub fn has_tun() -> bool {
    if !is_root() {
        return false;
    }
    let device = OpenOptions::new().write(true).open("/dev/net/tun");
    if let Err(error) = &device {
        skipped(format!("needs a TUN driver, /dev/net/tun: {error}"));
    }
    device.is_ok()
}

/// Whether a program, from that Debian package, can be started. If not, says that the test is skipped.
#[must_use]
pub fn has_program(name: &str, package: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let there = std::env::split_paths(&path).any(|folder| folder.join(name).is_file());
    if !there {
        skipped(format!("needs {name} (Debian package {package})"));
    }
    there
}

/// The effective capabilities of the calling thread, a bit each.
fn capabilities() -> u64 {
    let status = std::fs::read_to_string("/proc/thread-self/status").unwrap_or_default();
    let effective = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    let bits = effective.map(|hex| u64::from_str_radix(hex.trim(), 16));
    bits.and_then(Result::ok).unwrap_or_default()
}
