//! Child processes that do not outlive their parent.

use anyhow::Result;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

/// Makes the kernel kill the child as soon as the thread that spawns it ends, even by `kill -9`. So the thread has to
/// wait for the child. Grandchildren are not covered.
pub fn die_with_parent(command: &mut Command) {
    let kill_it = || nix::sys::prctl::set_pdeathsig(Signal::SIGKILL).map_err(io::Error::from);
    // SAFETY: the closure runs between fork and exec and makes one system call, without allocating.
    unsafe { command.pre_exec(kill_it) };
}

/// Ends the first process of a PID namespace, and with it all others in it: first by SIGTERM, which it forwards, so
/// that they may report; then by SIGKILL.
///
/// # Errors
/// When the child cannot be waited for.
pub fn terminate(child: &mut Child) -> Result<()> {
    const GRACE: Duration = Duration::from_millis(300);
    const POLL_INTERVAL: Duration = Duration::from_millis(10);
    if child.try_wait()?.is_some() {
        return Ok(());
    }
    kill(Pid::from_raw(child.id() as i32), Signal::SIGTERM)?;
    let asked = Instant::now();
    while child.try_wait()?.is_none() && asked.elapsed() < GRACE {
        std::thread::sleep(POLL_INTERVAL);
    }
    child.kill()?;
    child.wait()?;
    Ok(())
}
