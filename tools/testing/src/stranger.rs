//! A hostile other user of the machine.

use nix::fcntl::{FcntlArg, OFlag, fcntl, open};
use nix::libc;
use nix::sys::stat::Mode;
use nix::unistd::{Gid, Uid, setgroups, setresgid, setresuid};
use std::io;
use std::os::fd::IntoRawFd;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};

/// The user `nobody`, and his group.
const NOBODY: u32 = 65534;

/// A process of the user `nobody`, with none of root's rights; killed when dropped.
#[derive(Debug)]
pub struct Stranger(Child);

impl Stranger {
    /// Opens the file for reading and takes a lock on it, for reading as well.
    ///
    /// # Errors
    /// If the kernel does not let it, or without root.
    pub fn locks(path: &Path) -> io::Result<Self> {
        let path: PathBuf = path.into();
        Self::does(move || {
            let file = open(&path, OFlag::O_RDONLY, Mode::empty())?;
            // SAFETY: all zeroes is a valid flock: from the beginning to the end.
            let mut lock: libc::flock = unsafe { std::mem::zeroed() };
            lock.l_type = libc::F_RDLCK as libc::c_short;
            fcntl(&file, FcntlArg::F_SETLK(&lock))?;
            // SAFETY: an open descriptor.
            let shared = unsafe { libc::flock(file.into_raw_fd(), libc::LOCK_SH | libc::LOCK_NB) };
            nix::errno::Errno::result(shared).map(drop)
        })
    }

    /// Runs `act` as that user, and then keeps the process alive. `act` runs between fork and exec: it may only make
    /// system calls.
    ///
    /// # Errors
    /// Errors of `act`.
    pub fn does(
        mut act: impl FnMut() -> nix::Result<()> + Send + Sync + 'static,
    ) -> io::Result<Self> {
        let mut command = Command::new("sleep");
        command.arg("600");
        let become_and_act = move || {
            let (user, group) = (Uid::from_raw(NOBODY), Gid::from_raw(NOBODY));
            setgroups(&[group])?;
            setresgid(group, group, group)?;
            setresuid(user, user, user)?;
            Ok(act()?)
        };
        // SAFETY: only system calls that are allowed between fork and exec.
        unsafe { command.pre_exec(become_and_act) };
        command.spawn().map(Self)
    }

    /// The number of his process.
    pub fn pid(&self) -> i32 {
        self.0.id() as i32
    }
}

impl Drop for Stranger {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
