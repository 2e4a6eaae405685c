//! Allows one agent in each network namespace.

use anyhow::{Context, Result, bail};
use nix::errno::Errno;
use nix::fcntl::{OFlag, open};
use nix::sys::stat::{Mode, fchmod, fstat};
use nix::unistd::geteuid;
use std::fs::DirBuilder;
use std::io::ErrorKind;
use std::os::fd::OwnedFd;
use std::os::unix::fs::DirBuilderExt;
use tidegate_command::exit::BadInput;
use tidegate_lock::{self as lock, Taken};

/// The locks have a folder of their own, since a service's runtime folder is removed with the service.
const FOLDER: &str = "/run/tidegate-locks";

/// The lock of a running agent; released when dropped.
pub struct Lock(Option<lock::Lock>);

impl Drop for Lock {
    fn drop(&mut self) {
        self.0.take().into_iter().for_each(lock::Lock::remove);
    }
}

fn name() -> Result<String> {
    Ok(format!("{}.lock", tidegate_agent::network_namespace()?))
}

/// Takes the lock, or says who holds it.
pub fn take() -> Result<Lock> {
    let name = name()?;
    let what = || format!("cannot lock {FOLDER}/{name}");
    let made = DirBuilder::new().mode(0o700).create(FOLDER);
    if let Err(error) = made
        && error.kind() != ErrorKind::AlreadyExists
    {
        return Err(error).with_context(what);
    }
    let folder = folder()?.with_context(what)?;
    match lock::Lock::take(folder, &name).with_context(what)? {
        Taken::Lock(lock) => Ok(Lock(Some(lock))),
        Taken::By(pid) => Err(refusal(pid).into()),
        Taken::Unsupported(error) => Err(error).with_context(what),
    }
}

fn refusal(pid: i32) -> BadInput {
    // A process outside of our PID namespace has number 0.
    BadInput(match pid {
        0 => "an agent runs here already, outside of this container".into(),
        pid => {
            format!("an agent runs here already, with process id {pid}; `tidegate stop` ends it")
        }
    })
}

/// Process id of the agent that runs in this network namespace.
pub fn holder() -> Result<Option<i32>> {
    let what = "cannot tell whether an agent runs";
    match folder().context(what)? {
        Some(folder) => lock::Lock::holder(&folder, &name()?).context(what),
        None => Ok(None),
    }
}

/// The folder, which only root may write to; none if it does not exist yet.
fn folder() -> Result<Option<OwnedFd>> {
    const OTHERS: u32 = 0o022;
    let flags = OFlag::O_DIRECTORY | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
    let folder = match open(FOLDER, flags, Mode::empty()) {
        Ok(folder) => folder,
        Err(Errno::ENOENT) => return Ok(None),
        Err(Errno::ENOTDIR | Errno::ELOOP) => bail!("{FOLDER} is no folder; remove it"),
        Err(error) => return Err(error).context(FOLDER),
    };
    let about = fstat(&folder)?;
    if ![0, geteuid().as_raw()].contains(&about.st_uid) {
        bail!(
            "{FOLDER} belongs to user {}, expected root; remove it",
            about.st_uid
        );
    }
    if about.st_mode & OTHERS != 0 {
        let mode = Mode::from_bits_truncate(about.st_mode & 0o777 & !OTHERS);
        fchmod(&folder, mode).with_context(|| format!("close {FOLDER} to other users"))?;
    }
    Ok(Some(folder))
}

#[cfg(test)]
mod tests {
    use super::FOLDER;
    use crate::meeting::SOCKET;
    use std::path::Path;

    #[test]
    fn locks_do_not_go_with_the_services_runtime_folder() {
        let runtime = Path::new(SOCKET).parent().unwrap();
        assert!(!Path::new(FOLDER).starts_with(runtime));
    }
}
