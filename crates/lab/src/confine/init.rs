//! A PID namespace for the command: every process that it has started, in any session, ends with it or with the link,
//! even by `kill -9` (pid_namespaces(7)).
//!
//! The first process of such a namespace inherits orphans, and gets only signals that it asks for. So the command is
//! the second process; the first forwards signals, and reports how the command ended.

use anyhow::{Context, Result};
use nix::errno::Errno;
use nix::fcntl::OFlag;
use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, unshare};
use nix::sys::prctl::set_pdeathsig;
use nix::sys::signal::{SigHandler, SigSet, Signal, kill, signal};
use nix::unistd::{ForkResult, Pid, fork, pipe2, read, setpgid};
use std::ffi::CString;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Command, ExitStatus};

/// Signals that people and programs send to end a command or to talk to it.
pub const FORWARDED: [Signal; 7] = [
    Signal::SIGHUP,
    Signal::SIGINT,
    Signal::SIGQUIT,
    Signal::SIGTERM,
    Signal::SIGUSR1,
    Signal::SIGUSR2,
    Signal::SIGCONT,
];

/// The command's place in the terminal's job control, and what the first process does about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// In the caller's process group, so that it may read the terminal and gets the signals of its keys. The first
    /// process forwards its signals to the command alone, and the namespace ends with the command.
    Foreground,
    /// In a separate group, which gets the signals. The namespace lasts as long as any process is in it: a server that
    /// the command has left behind goes on serving.
    Background,
}

/// The first process's report on the command.
#[derive(Debug)]
pub struct Report(OwnedFd);

/// Makes the command run as the second process of new PID and mount namespaces, in which `resolver`, if there is one,
/// is mounted over `/etc/resolv.conf`. Hooks (`pre_exec`) added before this call run in the first process, later ones
/// in the second.
///
/// The calling thread has to start the command, and cannot start threads from now on. The child dies with the thread.
///
/// # Errors
/// Without root, or where the kernel has no such namespaces.
pub fn confine(command: &mut Command, place: Place, resolver: Option<&Path>) -> Result<Report> {
    unshare(CloneFlags::CLONE_NEWPID).context("cannot make a PID namespace")?;
    let (ours, theirs) =
        pipe2(OFlag::O_CLOEXEC | OFlag::O_NONBLOCK).context("cannot make a pipe")?;
    let resolver = resolver.map(|path| CString::new(path.as_os_str().as_bytes()));
    let resolver = resolver.transpose()?;
    let begin = move || -> io::Result<()> {
        set_pdeathsig(Signal::SIGKILL)?;
        // SAFETY: no handler is installed. The parent may ignore the signal, which hides how children end.
        unsafe { signal(Signal::SIGCHLD, SigHandler::SigDfl) }?;
        cover(resolver.as_ref())?;
        SigSet::all().thread_set_mask()?;
        // SAFETY: the child goes on as this process did, between fork and exec.
        match unsafe { fork() }? {
            ForkResult::Child if place == Place::Background => {
                setpgid(Pid::from_raw(0), Pid::from_raw(0)).map_err(io::Error::from)
            }
            ForkResult::Child => Ok(()),
            ForkResult::Parent { child } => be_the_first(child, place, &theirs),
        }
    };
    // SAFETY: the closure runs between fork and exec and makes system calls, without allocating.
    unsafe { command.pre_exec(begin) };
    Ok(Report(ours))
}

impl Report {
    /// How the command ended; returned once. None as long as it runs, and if the first process could not report. The
    /// [`Command`] has to be dropped before.
    pub fn read(&self) -> Option<ExitStatus> {
        let mut status = [0; 4];
        let told = read(&self.0, &mut status).is_ok_and(|bytes| bytes == status.len());
        told.then(|| ExitStatus::from_raw(i32::from_ne_bytes(status)))
    }
}

/// Mounts /proc and the resolver's file for the command only. If that fails, or other processes would see the mounts,
/// it makes none.
fn cover(resolver: Option<&CString>) -> nix::Result<()> {
    const NOTHING: Option<&str> = None;
    unshare(CloneFlags::CLONE_NEWNS)?;
    let ours = MsFlags::MS_REC | MsFlags::MS_SLAVE;
    if mount(NOTHING, c"/", NOTHING, ours, NOTHING).is_ok() {
        let safe = MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_NOEXEC;
        let _ = mount(Some(c"proc"), c"/proc", Some(c"proc"), safe, NOTHING);
        if let Some(file) = resolver {
            let over = c"/etc/resolv.conf";
            let _ = mount(
                Some(file.as_c_str()),
                over,
                NOTHING,
                MsFlags::MS_BIND,
                NOTHING,
            );
        }
    }
    Ok(())
}

/// The first process: tells `report` how the command ended, and exits when the command's place says.
fn be_the_first(command: Pid, place: Place, report: &OwnedFd) -> ! {
    // SAFETY: system calls of numbers. All descriptors but the report's, which is then 0, are the command's alone,
    // and Rust's own by which it learns that a start has failed. _exit ends the process.
    unsafe {
        libc::dup2(report.as_raw_fd(), 0);
        libc::syscall(libc::SYS_close_range, 1, u32::MAX, 0);
        if !has_reader(0) {
            // The parent was killed before this process could ask to die with it.
            libc::_exit(1);
        }
        attend(command, place);
        libc::_exit(0)
    }
}

fn has_reader(pipe: i32) -> bool {
    let mut ends = libc::pollfd {
        fd: pipe,
        events: 0,
        revents: 0,
    };
    // SAFETY: one pollfd.
    let polled = unsafe { libc::poll(&raw mut ends, 1, 0) };
    polled < 0 || ends.revents & libc::POLLERR == 0
}

/// Waits for the end that the place asks for, and forwards signals until then.
fn attend(command: Pid, place: Place) {
    let mut awaited: SigSet = FORWARDED.into_iter().collect();
    awaited.add(Signal::SIGCHLD);
    let addressee = match place {
        Place::Foreground => command,
        Place::Background => Pid::from_raw(-command.as_raw()),
    };
    loop {
        let mut info = MaybeUninit::<libc::siginfo_t>::zeroed();
        // SAFETY: a set and room for one description.
        let number = unsafe { libc::sigwaitinfo(awaited.as_ref(), info.as_mut_ptr()) };
        // SAFETY: zeroes are a valid one.
        let info = unsafe { info.assume_init() };
        if number == libc::SIGCHLD {
            if is_over(command, place) {
                return;
            }
        } else if info.si_code != libc::SI_KERNEL
            && let Ok(signal) = Signal::try_from(number)
        {
            // A command in the foreground has got the terminal's signals itself.
            let _ = kill(addressee, signal);
        }
    }
}

/// Reaps all processes that have ended, and reports the command's status if it is among them. Returns whether the
/// namespace has ended.
fn is_over(command: Pid, place: Place) -> bool {
    loop {
        let mut status = 0;
        // SAFETY: room for a status.
        let ended = unsafe { libc::waitpid(-1, &raw mut status, libc::WNOHANG) };
        if ended == command.as_raw() {
            report(status);
            if place == Place::Foreground {
                return true;
            }
        }
        if ended == 0 {
            return false;
        }
        // ECHILD: no process is left.
        if ended < 0 && Errno::last() != Errno::EINTR {
            return true;
        }
    }
}

/// Reports a status in the form of wait(2).
fn report(status: libc::c_int) {
    let status = status.to_ne_bytes();
    // SAFETY: descriptor 0 is the report's.
    unsafe { libc::write(0, status.as_ptr().cast(), status.len()) };
}
