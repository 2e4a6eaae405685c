//! The rights of a command that a scenario brings.

use super::Caller;
use nix::errno::Errno;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// As whom a scenario's commands run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rights {
    /// As the user who called; as root if root itself did. Without capabilities in either case, and no program that
    /// they start can give them more (`PR_SET_NO_NEW_PRIVS`).
    Caller(Option<Caller>),
    /// As root with all of its capabilities.
    Root,
}

impl Rights {
    /// Starts the command with these. What is to be done before the start and needs root has to be asked for before
    /// this.
    pub fn take(&self, command: &mut Command) {
        if let Self::Caller(caller) = self {
            if let Some(caller) = caller {
                caller.take(command);
            }
            renounce(command);
        }
    }
}

/// Starts the command without capabilities, which it cannot gain either: set-user-ID bits, capabilities of files and,
/// for root, the mere start of a program give it none (execve(2), `PR_SET_NO_NEW_PRIVS` in prctl(2)).
fn renounce(command: &mut Command) {
    let give_up = || {
        nix::sys::prctl::set_no_new_privs()?;
        clear_capabilities().map_err(io::Error::from)
    };
    // SAFETY: the closure runs between fork and exec and makes two system calls, without allocating.
    unsafe { command.pre_exec(give_up) };
}

/// Of the calling thread: effective, permitted and inheritable ones, and with these ambient ones (capset(2)). The
/// bounding set stays: without it a program whose file has a capability, as ping has, could not be started at all.
fn clear_capabilities() -> nix::Result<()> {
    /// `_LINUX_CAPABILITY_VERSION_3`: two records of 32 bits each.
    const VERSION: u32 = 0x2008_0522;
    let header = [VERSION, 0];
    let none = [[0_u32; 3]; 2];
    // SAFETY: struct __user_cap_header_struct and two of __user_cap_data_struct, which the kernel only reads.
    let done = unsafe { libc::syscall(libc::SYS_capset, header.as_ptr(), none.as_ptr()) };
    Errno::result(done).map(drop)
}
