//! What the kernel and the caller must have before anything is tried.

use crate::AgentError;
use std::path::Path;

/// Where the kernel describes its types.
pub const BTF: &str = "/sys/kernel/btf/vmlinux";

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

/// Whether the kernel tells a program at an interface in which control group a packet's socket is.
pub fn sees_cgroups() -> bool {
    helper(libbpf_sys::BPF_FUNC_skb_ancestor_cgroup_id)
}

/// Whether it tells the user.
pub fn sees_users() -> bool {
    helper(libbpf_sys::BPF_FUNC_get_socket_uid)
}

/// Whether programs at an interface may call that function of the kernel's: it is tried.
fn helper(id: libbpf_sys::bpf_func_id) -> bool {
    let kind = libbpf_sys::BPF_PROG_TYPE_SCHED_CLS;
    // SAFETY: plain numbers, no options.
    unsafe { libbpf_sys::libbpf_probe_bpf_helper(kind, id, std::ptr::null()) == 1 }
}
