//! The rights of a command that a scenario brings.

use super::Caller;
use nix::errno::Errno;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// The rights with which a scenario's commands run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rights {
    /// As the user who called; as root if root itself did. Without capabilities in either case, and no program that
    /// they start can give them more (`PR_SET_NO_NEW_PRIVS`).
    Caller(Option<Caller>),
    /// As root with all of its capabilities.
    Root,
}

impl Rights {
    /// Starts the command with these rights. Hooks (`pre_exec`) that need root have to be added before this call.
    pub fn take(&self, command: &mut Command) {
        if let Self::Caller(caller) = self {
            if let Some(caller) = caller {
                caller.take(command);
            }
            renounce(command);
        }
    }
}

/// Starts the command without capabilities, and so that it cannot gain any: neither from set-user-ID bits and file
/// capabilities nor, as root, by starting a program (execve(2), `PR_SET_NO_NEW_PRIVS` in prctl(2)).
fn renounce(command: &mut Command) {
    let give_up = || {
        nix::sys::prctl::set_no_new_privs()?;
        clear_capabilities().map_err(io::Error::from)
    };
    // SAFETY: the closure runs between fork and exec and makes two system calls, without allocating.
    unsafe { command.pre_exec(give_up) };
}

/// Clears the calling thread's effective, permitted and inheritable capabilities, and with these the ambient ones
/// (capset(2)). The bounding set stays: without it a program whose file has a capability, such as ping, could not be
/// started at all.
fn clear_capabilities() -> nix::Result<()> {
    /// `_LINUX_CAPABILITY_VERSION_3`: two records of 32 bits each.
    const VERSION: u32 = 0x2008_0522;
    let header = [VERSION, 0];
    let none = [[0_u32; 3]; 2];
    // SAFETY: struct __user_cap_header_struct and two of __user_cap_data_struct, which the kernel only reads.
    let done = unsafe { libc::syscall(libc::SYS_capset, header.as_ptr(), none.as_ptr()) };
    Errno::result(done).map(drop)
}
