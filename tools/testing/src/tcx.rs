//! A kernel without tcx.

use nix::libc;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// Makes the command run as on a kernel before 6.6, which has no tcx: no program can be attached by a link. This also
/// holds for its children.
pub fn without_tcx(command: &mut Command) {
    // SAFETY: nothing but system calls between fork and exec.
    unsafe { command.pre_exec(refuse_links) };
}

/// Refuses bpf(BPF_LINK_CREATE) like a kernel that does not know the attach type.
fn refuse_links() -> io::Result<()> {
    const BPF_LINK_CREATE: u32 = 28;
    /// Where `struct seccomp_data` has the call's number and the lower half of its first argument.
    const NUMBER: u32 = 0;
    const COMMAND: u32 = if cfg!(target_endian = "little") {
        16
    } else {
        20
    };
    let load = |at| instruction(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, at);
    // Skips `skipped` instructions unless the word equals `value`.
    let unless =
        |skipped, value| instruction(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, skipped, value);
    let end = |verdict| instruction(libc::BPF_RET | libc::BPF_K, 0, verdict);
    let mut filter = [
        load(NUMBER),
        unless(3, libc::SYS_bpf as u32),
        load(COMMAND),
        unless(1, BPF_LINK_CREATE),
        end(libc::SECCOMP_RET_ERRNO | libc::EINVAL as u32),
        end(libc::SECCOMP_RET_ALLOW),
    ];
    let program = libc::sock_fprog {
        len: filter.len() as u16,
        filter: filter.as_mut_ptr(),
    };
    // SAFETY: a program and its instructions that outlive the call.
    let status = unsafe {
        libc::prctl(
            libc::PR_SET_SECCOMP,
            libc::SECCOMP_MODE_FILTER,
            &raw const program,
        )
    };
    match status {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

fn instruction(code: u32, otherwise: u8, k: u32) -> libc::sock_filter {
    libc::sock_filter {
        code: code as u16,
        jt: 0,
        jf: otherwise,
        k,
    }
}
