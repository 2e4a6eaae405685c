//! Anonymous network namespaces.
//!
//! A namespace here has no name and no mount: only file descriptors, sockets and threads hold it.
//! When the process ends in any way, the kernel removes the namespace and every device in it.

use anyhow::{Context, Result, anyhow};
use nix::sched::{CloneFlags, setns, unshare};
use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::thread;

/// A network namespace, alive as long as this value, or a socket or thread inside it.
#[derive(Debug)]
pub struct Namespace {
    fd: OwnedFd,
}

impl Namespace {
    /// Makes a new, empty namespace: only a loopback device, down.
    ///
    /// # Errors
    /// Without `CAP_SYS_ADMIN`, or where the kernel has no network namespaces.
    pub fn new() -> Result<Self> {
        // In a separate thread, since unshare moves the calling thread.
        on_thread(|| {
            unshare(CloneFlags::CLONE_NEWNET).context(
                "cannot make a network namespace, expected CAP_SYS_ADMIN (run it as root)",
            )?;
            Self::current()
        })
    }

    /// The namespace that the calling thread is in.
    ///
    /// # Errors
    /// Where `/proc` is not mounted.
    pub fn current() -> Result<Self> {
        // thread-self, since /proc/self would be the main thread's.
        let file = File::open("/proc/thread-self/ns/net")
            .context("cannot open /proc/thread-self/ns/net")?;
        Ok(Self { fd: file.into() })
    }

    /// Runs `work` on a thread inside the namespace; threads that it spawns stay inside.
    ///
    /// # Errors
    /// Errors of `work`, and if the namespace cannot be entered. A panic of `work` becomes an error.
    pub fn run<T: Send>(&self, work: impl FnOnce() -> Result<T> + Send) -> Result<T> {
        on_thread(|| {
            self.enter()?;
            work()
        })
    }

    /// Moves the calling thread into the namespace, for good.
    ///
    /// # Errors
    /// Without `CAP_SYS_ADMIN`.
    pub fn enter(&self) -> Result<()> {
        self.try_enter().context("cannot enter a network namespace")
    }

    /// The same in a single system call, so that it may be used between fork and exec.
    ///
    /// # Errors
    /// The kernel's, unchanged.
    pub fn try_enter(&self) -> nix::Result<()> {
        setns(self.fd.as_fd(), CloneFlags::CLONE_NEWNET)
    }
}

impl AsFd for Namespace {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

fn on_thread<T: Send>(work: impl FnOnce() -> Result<T> + Send) -> Result<T> {
    thread::scope(|scope| scope.spawn(work).join())
        .unwrap_or_else(|panic| Err(anyhow!("a thread panicked: {}", panic_text(&*panic))))
}

/// The message of a panic, if it has one.
pub fn panic_text(panic: &(dyn std::any::Any + Send)) -> &str {
    panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no message")
}
