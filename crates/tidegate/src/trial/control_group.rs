//! A control group of the load's own: whatever the load starts is in it, in whatever session, and ends with it.
//!
//! A warden, a process that outlives this one however that ends, empties the group and removes it. Where there is no
//! unified hierarchy, or it may not be written to, the load's own process dies with this one all the same
//! (PR_SET_PDEATHSIG), and its process group is ended with each slot.

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

/// What the groups are called, the process's number behind it.
const NAME: &str = "tidegate-try-";

/// How long the kernel may take to end what is in a group.
const TIMEOUT: Duration = Duration::from_secs(5);

/// The group; dropped, it goes with all that is in it.
#[derive(Debug)]
pub struct ControlGroup {
    folder: PathBuf,
    warden: Pid,
    /// As long as this is open the group is wanted.
    alive: Option<OwnedFd>,
}

impl ControlGroup {
    /// Makes one below this process's own, and starts its warden: before any thread is. None where that cannot be done.
    ///
    /// # Errors
    /// When there can be no further process.
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

    /// Where a process that writes "0" joins the group.
    ///
    /// # Errors
    /// If the group is gone.
    pub fn door(&self) -> Result<File> {
        let door = self.folder.join("cgroup.procs");
        let opened = OpenOptions::new().write(true).open(&door);
        opened.with_context(|| format!("cannot open {}", door.display()))
    }

    /// Counts what its processes carry from now on. None where the kernel does not count that.
    pub fn meter(&self) -> Option<Meter> {
        Meter::attach(&self.folder).ok()
    }

    /// Ends all that is in it.
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

/// Removes the groups of those whose warden was killed as well.
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

/// Kills until there is nobody left.
fn empty(folder: &Path) {
    let began = Instant::now();
    let populated = || {
        let events = fs::read_to_string(folder.join("cgroup.events"));
        events.is_ok_and(|events| events.contains("populated 1"))
    };
    while populated() && began.elapsed() < TIMEOUT {
        // Linux 5.14; before that there is only the load's process group.
        let _ = fs::write(folder.join("cgroup.kill"), "1");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The warden: waits for the end of the other end of `theirs`.
fn watch_over(folder: &Path, theirs: OwnedFd) -> ! {
    if let Ok(mut alive) = detach(theirs) {
        while matches!(alive.read(&mut [0]), Err(e) if e.kind() == std::io::ErrorKind::Interrupted)
        {
        }
        empty(folder);
        let _ = fs::remove_dir(folder);
    }
    // SAFETY: ends the process, without what others have registered for its end.
    unsafe { libc::_exit(0) }
}

/// Gives up all that the caller had, lest it keeps open what others wait for.
fn detach(theirs: OwnedFd) -> Result<File> {
    // What a terminal sends is not meant for it.
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
