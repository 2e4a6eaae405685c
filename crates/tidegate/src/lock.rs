//! One agent in each network namespace.
//!
//! A record lock of the kernel's (fcntl(2)): it knows its holder, and goes with it, however that
//! ends. The file means nothing without it.

use crate::exit::BadInput;
use anyhow::{Context, Result};
use nix::errno::Errno;
use nix::fcntl::{FcntlArg, fcntl};
use std::fs::{File, OpenOptions};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// A folder of their own: a service's runtime folder goes with the service.
const FOLDER: &str = "/run/tidegate-locks";

/// The right to run an agent; given back when dropped.
pub struct Lock {
    _file: File,
    path: PathBuf,
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Still ours: whoever opens it now finds in `take` that it has gone.
        let _ = std::fs::remove_file(&self.path);
    }
}

fn path() -> Result<PathBuf> {
    let namespace = tidegate_agent::network_namespace()?;
    Ok(Path::new(FOLDER).join(format!("{namespace}.lock")))
}

/// Takes it, or says who has it.
pub fn take() -> Result<Lock> {
    let path = path()?;
    let what = || format!("cannot lock {}", path.display());
    std::fs::create_dir_all(FOLDER).with_context(what)?;
    loop {
        let mut options = OpenOptions::new();
        let file = options.read(true).write(true).create(true).truncate(false);
        let file = file.open(&path).with_context(what)?;
        match fcntl(&file, FcntlArg::F_SETLK(&whole(libc::F_WRLCK))) {
            Ok(_) => {}
            Err(Errno::EACCES | Errno::EAGAIN) => match holder_of(&file)? {
                Some(pid) => return Err(refusal(pid).into()),
                None => continue,
            },
            Err(e) => return Err(e).with_context(what),
        }
        // The one before may have removed it since it was opened.
        let same = path
            .metadata()
            .is_ok_and(|now| file.metadata().is_ok_and(|ours| ours.ino() == now.ino()));
        if same {
            return Ok(Lock { _file: file, path });
        }
    }
}

fn refusal(pid: i32) -> BadInput {
    // The kernel has no number for a process that cannot be seen from here.
    BadInput(match pid {
        0 => "an agent runs here already, outside of this container".into(),
        pid => {
            format!("an agent runs here already, with process id {pid}; `tidegate stop` ends it")
        }
    })
}

/// Process id of the agent that runs in this network namespace.
pub fn holder() -> Result<Option<i32>> {
    match File::open(path()?) {
        Ok(file) => holder_of(&file),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(e).context("cannot tell whether an agent runs"),
    }
}

/// Of the file's lock, unless it is this process.
fn holder_of(file: &File) -> Result<Option<i32>> {
    let mut lock = whole(libc::F_WRLCK);
    fcntl(file, FcntlArg::F_GETLK(&mut lock)).context("cannot tell whether an agent runs")?;
    Ok((lock.l_type != libc::F_UNLCK as libc::c_short).then_some(lock.l_pid))
}

fn whole(kind: libc::c_int) -> libc::flock {
    // SAFETY: all zeroes is a valid flock: from the beginning to the end.
    let mut lock: libc::flock = unsafe { std::mem::zeroed() };
    lock.l_type = kind as libc::c_short;
    lock
}

#[cfg(test)]
mod tests {
    use super::FOLDER;
    use crate::run::serve::SOCKET;
    use std::path::Path;

    #[test]
    fn locks_do_not_go_with_the_services_runtime_folder() {
        let runtime = Path::new(SOCKET).parent().unwrap();
        assert!(!Path::new(FOLDER).starts_with(runtime));
    }
}
