//! The warden: a process that outlives a link, and restores the machine's settings when the link ends, even by `kill
//! -9`.
//!
//! If the warden is killed as well, the guard goes on dropping packets, and the next link clears up.

use super::guard::{Guard, Turn};
use super::routing::Version;
use super::uplinks::Uplinks;
use anyhow::{Context, Result};
use nix::fcntl::{OFlag, open};
use nix::net::if_::if_nametoindex;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::SigSet;
use nix::sys::stat::Mode;
use nix::sys::wait::{WaitStatus, waitpid};
use nix::unistd::{ForkResult, Pid, dup2_stdin, dup2_stdout, fork, pipe2, setsid};
use std::collections::BTreeSet;
use std::os::fd::{AsFd, OwnedFd};
use std::panic::catch_unwind;
use tidegate_linux::rtnetlink::default_routes;

/// How often it checks whether the machine has become a router or moved to another network, in milliseconds.
const POLL_INTERVAL: u16 = 1000;

/// A link's warden. When dropped, it waits until all settings are restored.
#[derive(Debug)]
pub struct Warden {
    link: u32,
    process: Pid,
    /// The link lives as long as this is open.
    alive: Option<OwnedFd>,
    /// Whether IPv6 is forwarded, too.
    pub ipv6: bool,
}

impl Warden {
    /// Starts the process, and lets the link with that device send by the uplinks, in the calling thread's
    /// namespace.
    ///
    /// # Errors
    /// Without root or nf_tables; when a setting cannot be written.
    pub fn post(device: &str, uplinks: &Uplinks) -> Result<Self> {
        let link = if_nametoindex(device).context("cannot find the link's device")?;
        let (theirs, alive) = pipe2(OFlag::O_CLOEXEC).context("cannot make a pipe")?;
        // SAFETY: the child allocates, which the C library allows after fork, and shares nothing else with threads
        // that it has lost. It never returns.
        let process = match unsafe { fork() }.context("cannot fork")? {
            ForkResult::Parent { child } => child,
            ForkResult::Child => watch_over(link, theirs, uplinks.follow_routes),
        };
        let warden = Self {
            link,
            process,
            alive: Some(alive),
            ipv6: Version::forwardable().contains(&Version::V6),
        };
        let uplinks: Vec<_> = uplinks.chosen.iter().map(|uplink| uplink.index).collect();
        let _turn = Turn::take()?;
        for guard in Guard::all()? {
            guard.join(link, &uplinks)?;
        }
        Ok(warden)
    }
}

impl Drop for Warden {
    fn drop(&mut self) {
        self.alive = None;
        let is_done = matches!(waitpid(self.process, None), Ok(WaitStatus::Exited(_, 0)));
        // It may have been killed.
        if !is_done && let Err(error) = clear_up(self.link) {
            complain(&error);
        }
    }
}

fn clear_up(link: u32) -> Result<()> {
    let _turn = Turn::take()?;
    let guards = Guard::all()?;
    let left = guards.iter().try_for_each(|guard| guard.leave(Some(link)));
    left.context("cannot restore the machine's IP forwarding settings")
}

fn complain(error: &anyhow::Error) {
    tidegate_terminal::warn(format_args!("tidegate link: {error:#}"));
}

/// The warden's process. `alive` is closed when the link ends.
fn watch_over(link: u32, alive: OwnedFd, follow_routes: bool) -> ! {
    let done = catch_unwind(|| {
        detach(alive)?;
        // After any error it still has to wait for the end.
        if let Err(error) = watch_until_the_end(follow_routes) {
            complain(
                &error.context("cannot follow changes of routes, so the link may lose its way out"),
            );
            while !is_over(PollTimeout::NONE)? {}
        }
        clear_up(link)
    });
    let status = match done {
        Ok(Ok(())) => 0,
        Ok(Err(error)) => {
            complain(&error);
            1
        }
        Err(_) => 1,
    };
    // SAFETY: ends the process, without what others have registered for its end.
    unsafe { libc::_exit(status) }
}

/// Closes all of the caller's descriptors except standard error, so that it keeps nothing open that other processes
/// wait for, and makes `alive` its standard input.
fn detach(alive: OwnedFd) -> Result<()> {
    // The terminal's signals are not meant for it.
    setsid()?;
    SigSet::all().thread_block()?;
    nix::sys::prctl::set_name(c"tidegate-warden")?;
    let nothing = open("/dev/null", OFlag::O_WRONLY, Mode::empty())?;
    dup2_stdout(nothing.as_fd())?;
    dup2_stdin(alive.as_fd())?;
    std::mem::forget((nothing, alive));
    // SAFETY: nothing here uses a descriptor from now on that it has not opened itself.
    let closed = unsafe { libc::syscall(libc::SYS_close_range, 3, u32::MAX, 0) };
    nix::errno::Errno::result(closed)?;
    Ok(())
}

fn watch_until_the_end(follow_routes: bool) -> Result<()> {
    let mut watches: Vec<_> = Guard::all()?.into_iter().map(Watch::new).collect();
    while !is_over(PollTimeout::from(POLL_INTERVAL))? {
        let routes = match follow_routes {
            true => default_routes()?,
            false => BTreeSet::new(),
        };
        watches.iter_mut().try_for_each(|w| w.look(&routes))?;
    }
    Ok(())
}

/// Waits up to `at_most` for the link's end. Returns whether it has ended.
fn is_over(at_most: PollTimeout) -> Result<bool> {
    let alive = std::io::stdin();
    let mut ends = [PollFd::new(alive.as_fd(), PollFlags::POLLIN)];
    match poll(&mut ends, at_most) {
        Err(nix::errno::Errno::EINTR) => Ok(false),
        ready => Ok(ready? > 0),
    }
}

/// The warden's state for one version of IP.
struct Watch {
    guard: Guard,
    is_router: bool,
    routes: BTreeSet<u32>,
}

impl Watch {
    fn new(guard: Guard) -> Self {
        Self {
            is_router: guard.version().is_router(),
            guard,
            routes: BTreeSet::new(),
        }
    }

    fn look(&mut self, routes: &BTreeSet<u32>) -> Result<()> {
        let is_router = self.guard.version().is_router();
        if self.is_router != is_router {
            let _turn = Turn::take()?;
            self.guard.follow(is_router)?;
            self.is_router = is_router;
        }
        if self.routes != *routes {
            let _turn = Turn::take()?;
            routes
                .iter()
                .try_for_each(|uplink| self.guard.open(*uplink))?;
            self.routes = routes.clone();
        }
        Ok(())
    }
}
