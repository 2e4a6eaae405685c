//! Checks that kernel and process have what the agent needs, before it starts.

use crate::{AgentError, capabilities};
use std::ffi::CStr;
use std::path::Path;

/// Where the kernel describes its types.
pub const BTF: &str = "/sys/kernel/btf/vmlinux";

/// The oldest kernel that the programs are written for, major and minor number: 5.10 refuses a function
/// with arguments in memory (docs/internals/packaging.md).
const OLDEST: (u32, u32) = (5, 15);

/// Checks what the agent cannot do without: a kernel that is not too old, and privilege.
pub fn require() -> Result<(), AgentError> {
    let release = release();
    if version(&release).is_some_and(|v| v < OLDEST) {
        return Err(AgentError::TooOld(release));
    }
    capabilities::require()?;
    if is_bpf_refused() {
        return Err(AgentError::BpfRefused);
    }
    Ok(())
}

/// Whether a filter of system calls keeps bpf(2) from this process, whatever its capabilities: profiles of container
/// runtimes from before CAP_BPF allow it to CAP_SYS_ADMIN alone.
fn is_bpf_refused() -> bool {
    // SAFETY: plain numbers. 0: there is no filter, so a refusal would be the kernel's.
    if unsafe { libc::prctl(libc::PR_GET_SECCOMP) } == 0 {
        return false;
    }
    // There is no such command. The kernel says so (EINVAL) to a process that may call bpf(2); a filter of system calls
    // refuses all commands alike.
    let (command, nothing) = (libc::c_long::from(i32::MAX), std::ptr::null::<u8>());
    // SAFETY: of a record of no bytes nothing is read.
    let status = unsafe { libc::syscall(libc::SYS_bpf, command, nothing, 0) };
    let error = std::io::Error::last_os_error().raw_os_error();
    status == -1 && matches!(error, Some(libc::EPERM | libc::EACCES | libc::ENOSYS))
}

/// Whether the kernel describes its types, so that the programs can ask a socket for its window scale. Otherwise they
/// learn scales only from SYNs, and leave connections alone whose SYNs they have not seen.
pub fn has_btf() -> bool {
    Path::new(BTF).exists()
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

/// The major and minor number of a release; none if it cannot be read.
fn version(release: &str) -> Option<(u32, u32)> {
    let (major, rest) = release.split_once('.')?;
    let minor = rest.split(|c: char| !c.is_ascii_digit()).next()?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

/// Whether the kernel tells a program at an interface in which control group a packet's socket is.
pub fn sees_cgroups() -> bool {
    helper(libbpf_sys::BPF_FUNC_skb_ancestor_cgroup_id)
}

/// Whether it tells the user.
pub fn sees_users() -> bool {
    helper(libbpf_sys::BPF_FUNC_get_socket_uid)
}

/// Whether programs at an interface may call that kernel function, found by loading one that does.
fn helper(id: libbpf_sys::bpf_func_id) -> bool {
    let kind = libbpf_sys::BPF_PROG_TYPE_SCHED_CLS;
    // SAFETY: plain numbers, no options.
    unsafe { libbpf_sys::libbpf_probe_bpf_helper(kind, id, std::ptr::null()) == 1 }
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
