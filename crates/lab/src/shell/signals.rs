//! Waits for a child, and forwards signals to it.

use crate::confine::FORWARDED;
use anyhow::{Context, Result};
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{SigSet, SigmaskHow, Signal, kill};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::unistd::Pid;
use std::os::fd::{AsFd, FromRawFd, OwnedFd, RawFd};
use std::process::{Child, ExitStatus};

/// Holds signals back from the calling thread, and from those that it starts, while it lives.
pub struct Signals {
    fd: SignalFd,
    mask_before: SigSet,
}

impl Signals {
    /// Begins to hold them back.
    ///
    /// # Errors
    /// When there are too many open files.
    pub fn hold() -> Result<Self> {
        let forwarded: SigSet = FORWARDED.into_iter().collect();
        let fd = SignalFd::with_flags(&forwarded, SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK)
            .context("cannot watch for signals")?;
        let mask_before = forwarded.thread_swap_mask(SigmaskHow::SIG_BLOCK)?;
        Ok(Self { fd, mask_before })
    }

    /// The mask that a child should start with.
    pub fn mask_before(&self) -> SigSet {
        self.mask_before
    }

    /// Waits for the child, and forwards signals until then.
    ///
    /// # Errors
    /// When the child cannot be waited for.
    pub fn wait(&self, child: &mut Child) -> Result<ExitStatus> {
        let pid = Pid::from_raw(child.id() as i32);
        let exit = pidfd(pid)?;
        loop {
            if let Some(status) = child.try_wait()? {
                return Ok(status);
            }
            let mut fds =
                [exit.as_fd(), self.fd.as_fd()].map(|fd| PollFd::new(fd, PollFlags::POLLIN));
            match poll(&mut fds, PollTimeout::NONE) {
                Ok(_) | Err(Errno::EINTR) => {}
                Err(error) => return Err(error).context("cannot wait for the command"),
            }
            while let Some(info) = self.fd.read_signal()? {
                // The terminal's signals reach the child anyway, since it is in the same group.
                if info.ssi_code != libc::SI_KERNEL {
                    let _ = kill(pid, Signal::try_from(info.ssi_signo as i32)?);
                }
            }
        }
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        let _ = self.mask_before.thread_set_mask();
    }
}

/// A descriptor that becomes readable when the process ends.
fn pidfd(pid: Pid) -> Result<OwnedFd> {
    // SAFETY: pidfd_open takes two numbers.
    let result = unsafe { libc::syscall(libc::SYS_pidfd_open, pid.as_raw(), 0) };
    let fd = Errno::result(result).context("cannot watch a process (Linux 5.3)")?;
    // SAFETY: the kernel has just opened it for us.
    Ok(unsafe { OwnedFd::from_raw_fd(fd as RawFd) })
}
