//! A control group for the load: every process that the load starts is in it, whatever its session, and ends with it.
//!
//! A warden process, which outlives this one however this one ends, kills the group's processes and removes the group.
//! Without a writable unified hierarchy the load's own process still dies with this one (PR_SET_PDEATHSIG), and each
//! slot ends by killing its process group.

use anyhow::{Context, Result};
use nix::errno::Errno;
use nix::fcntl::{OFlag, open};
use nix::sys::signal::{SigSet, kill};
use nix::sys::stat::Mode;
use nix::sys::wait::waitpid;
use nix::unistd::{ForkResult, Pid, dup2_stderr, dup2_stdin, dup2_stdout, fork, pipe2, setsid};
use std::fs::{self, File, OpenOptions};
use std::io::Read;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tidegate_agent::{Cgroup, Meter};

/// Prefix of the groups' names; the process's number follows.
const NAME: &str = "tidegate-try-";

/// How long we wait for the kernel to kill a group's processes.
const TIMEOUT: Duration = Duration::from_secs(5);

/// The group; when it is dropped, its processes are killed and it is removed.
#[derive(Debug)]
pub struct ControlGroup {
    folder: PathBuf,
    warden: Pid,
    /// While this is open the warden keeps the group.
    alive: Option<OwnedFd>,
}

impl ControlGroup {
    /// Makes a group below this process's own, and forks its warden, so it must run before any thread is started. None
    /// if that is not possible.
    ///
    /// # Errors
    /// If no process can be forked.
    pub fn make() -> Result<Option<Self>> {
        let Some(parent) = own() else {
            return Ok(None);
        };
        clear_up(&parent);
        let folder = parent.join(format!("{NAME}{}", std::process::id()));
        if fs::create_dir(&folder).is_err() {
            return Ok(None);
        }
        let (theirs, alive) = pipe2(OFlag::O_CLOEXEC).context("cannot make a pipe")?;
        // SAFETY: there are no other threads. The child never returns.
        match unsafe { fork() }.context("cannot fork")? {
            ForkResult::Parent { child } => Ok(Some(Self {
                folder,
                warden: child,
                alive: Some(alive),
            })),
            ForkResult::Child => {
                drop(alive);
                watch_over(&folder, theirs)
            }
        }
    }

    /// The file to which a process writes "0" to join the group.
    ///
    /// # Errors
    /// If the group is gone.
    pub fn door(&self) -> Result<File> {
        let door = self.folder.join("cgroup.procs");
        let opened = OpenOptions::new().write(true).open(&door);
        opened.with_context(|| format!("cannot open {}", door.display()))
    }

    /// Counts the bytes of its processes from now on. None if the kernel cannot.
    pub fn meter(&self) -> Option<Meter> {
        Meter::attach(&self.folder).ok()
    }

    /// Kills all processes in the group.
    pub fn empty(&self) {
        empty(&self.folder);
    }
}

impl Drop for ControlGroup {
    fn drop(&mut self) {
        self.alive = None;
        let _ = waitpid(self.warden, None);
    }
}

/// The folder of this process's own group.
fn own() -> Option<PathBuf> {
    let groups = fs::read_to_string("/proc/self/cgroup").ok()?;
    let own = groups.lines().find_map(|line| line.strip_prefix("0::/"))?;
    let folder = Cgroup::root()?.join(own);
    folder.is_dir().then_some(folder)
}

/// Removes groups whose process and warden were both killed.
fn clear_up(parent: &Path) {
    let folders = fs::read_dir(parent).into_iter().flatten().flatten();
    for folder in folders {
        let name = folder.file_name();
        let number = name.to_str().and_then(|name| name.strip_prefix(NAME));
        let Some(process) = number.and_then(|number| number.parse().ok()) else {
            continue;
        };
        if kill(Pid::from_raw(process), None) == Err(Errno::ESRCH) {
            empty(&folder.path());
            let _ = fs::remove_dir(folder.path());
        }
    }
}

/// Kills processes until none is left.
fn empty(folder: &Path) {
    let began = Instant::now();
    let populated = || {
        let events = fs::read_to_string(folder.join("cgroup.events"));
        events.is_ok_and(|events| events.contains("populated 1"))
    };
    while populated() && began.elapsed() < TIMEOUT {
        // Needs Linux 5.14; before that only the load's process group is killed.
        let _ = fs::write(folder.join("cgroup.kill"), "1");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The warden: waits until the other end of `theirs` is closed.
fn watch_over(folder: &Path, theirs: OwnedFd) -> ! {
    if let Ok(mut alive) = detach(theirs) {
        while matches!(alive.read(&mut [0]), Err(e) if e.kind() == std::io::ErrorKind::Interrupted)
        {
        }
        empty(folder);
        let _ = fs::remove_dir(folder);
    }
    // SAFETY: _exit ends the process and runs none of the exit handlers that others have registered.
    unsafe { libc::_exit(0) }
}

/// Closes all inherited descriptors: an open copy would keep others waiting for the end of a pipe.
fn detach(theirs: OwnedFd) -> Result<File> {
    // The warden must not get the terminal's signals.
    setsid()?;
    SigSet::all().thread_block()?;
    nix::sys::prctl::set_name(c"tidegate-warden")?;
    let nothing = open("/dev/null", OFlag::O_RDWR, Mode::empty())?;
    dup2_stdout(nothing.as_fd())?;
    dup2_stderr(nothing.as_fd())?;
    dup2_stdin(theirs.as_fd())?;
    std::mem::forget((nothing, theirs));
    // SAFETY: nothing here uses a descriptor from now on that it has not opened itself.
    let closed = unsafe { libc::syscall(libc::SYS_close_range, 3, u32::MAX, 0) };
    Errno::result(closed)?;
    let alive = std::io::stdin().as_fd().try_clone_to_owned()?;
    Ok(alive.into())
}
