//! Locks between processes. Only a user who may write to the lock's folder can hold one.
//!
//! A lock is a record lock (fcntl(2)) on a file: the kernel knows its holder, and releases it when the holder ends in
//! any way. A write lock needs the file opened for writing, but a read lock, which keeps write locks out, needs only
//! permission to read it. So other users may not open the file at all, and a read lock does not count.

use nix::errno::Errno;
use nix::fcntl::{AtFlags, FcntlArg, OFlag, fcntl, openat};
use nix::libc;
use nix::sys::stat::{FileStat, Mode, SFlag, fchmod, fstat, fstatat};
use nix::unistd::{UnlinkatFlags, geteuid, unlinkat};
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;

/// The permission bits of a file's mode.
const MODE: libc::mode_t = 0o777;
/// Write permission of group and others: with it they may open the lock.
const WRITTEN_BY_OTHERS: libc::mode_t = 0o022;
/// Tries before giving up against a process that keeps replacing the lock.
const TRIES: usize = 100;

/// A lock that is held; released when dropped.
#[derive(Debug)]
pub struct Lock {
    folder: OwnedFd,
    name: String,
    file: File,
}

/// The result of [`Lock::take`].
#[derive(Debug)]
pub enum Taken {
    /// We hold the lock.
    Lock(Lock),
    /// The process with this id holds it; 0: one of another process namespace.
    By(i32),
    /// The file system has no locks.
    Unsupported(io::Error),
}

impl Lock {
    /// Takes the lock of that name in the folder. Removes anything of that name that cannot be a lock: a link, a file
    /// with a second name, or a file that a user who may not write to the folder has opened or made.
    ///
    /// # Errors
    /// If the file can be neither opened nor made.
    pub fn take(folder: OwnedFd, name: &str) -> io::Result<Taken> {
        for _ in 0..TRIES {
            let Some(file) = open(&folder, name)? else {
                remove(&folder, name)?;
                continue;
            };
            match fcntl(&file, FcntlArg::F_SETLK(&whole())) {
                // The previous holder may have removed it since it was opened.
                Ok(_) if is_there(&folder, name, &file) => {
                    let name = name.to_owned();
                    return Ok(Taken::Lock(Self { folder, name, file }));
                }
                Ok(_) => {}
                Err(Errno::EACCES | Errno::EAGAIN) => match obstacle(&file)? {
                    Some((libc::F_WRLCK, pid)) => return Ok(Taken::By(pid)),
                    // A stranger's read lock, from a time when others could read the file.
                    Some(_) => remove(&folder, name)?,
                    None => {}
                },
                Err(error) => return Ok(Taken::Unsupported(error.into())),
            }
        }
        let message = "another process keeps replacing the lock's file, expected it to stay";
        Err(io::Error::other(message))
    }

    /// The id of the process that holds the lock of that name in the folder; 0: one of another process namespace.
    ///
    /// # Errors
    /// If the file exists and cannot be opened.
    pub fn holder(folder: &OwnedFd, name: &str) -> io::Result<Option<i32>> {
        let flags = OFlag::O_RDONLY | OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK | OFlag::O_CLOEXEC;
        match openat(folder, name, flags, Mode::empty()) {
            Ok(file) => Ok(obstacle(&File::from(file))?
                .and_then(|(kind, pid)| (kind == libc::F_WRLCK).then_some(pid))),
            // A link is no lock.
            Err(Errno::ENOENT | Errno::ELOOP) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Releases it and removes its file. A process that has just opened the file notices in [`Self::take`] that it is
    /// gone.
    pub fn remove(self) {
        let _ = unlinkat(&self.folder, self.name.as_str(), UnlinkatFlags::NoRemoveDir);
        drop(self.file);
    }
}

/// Opens the file, or makes it. None if there is something that cannot be the lock.
fn open(folder: &OwnedFd, name: &str) -> io::Result<Option<File>> {
    // Does not follow a planted link, nor wait for a planted pipe.
    let flags = OFlag::O_RDWR | OFlag::O_CREAT | OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK;
    let around = fstat(folder)?;
    let mode = mode(&around);
    let file = openat(
        folder,
        name,
        flags | OFlag::O_CLOEXEC,
        Mode::from_bits_truncate(mode),
    );
    let file = match file {
        Ok(file) => File::from(file),
        Err(Errno::ELOOP | Errno::ENXIO) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let about = fstat(&file)?;
    if !is_trusted(&about, &around) {
        return Ok(None);
    }
    if about.st_mode & MODE != mode {
        // Only the owner may do this; others need not.
        let _ = fchmod(&file, Mode::from_bits_truncate(mode));
    }
    Ok(Some(file))
}

/// The lock's mode: users who may write to the folder may open it.
fn mode(folder: &FileStat) -> libc::mode_t {
    let others = folder.st_mode & WRITTEN_BY_OTHERS;
    0o600 | others | others << 1
}

/// Whether it is a regular file with one name, of a user who may write to the folder.
fn is_trusted(file: &FileStat, folder: &FileStat) -> bool {
    let is_regular = SFlag::from_bits_truncate(file.st_mode) & SFlag::S_IFMT == SFlag::S_IFREG;
    let owners = [geteuid().as_raw(), folder.st_uid, 0];
    let is_others = folder.st_mode & WRITTEN_BY_OTHERS != 0;
    is_regular && file.st_nlink == 1 && (is_others || owners.contains(&file.st_uid))
}

fn is_there(folder: &OwnedFd, name: &str, file: &File) -> bool {
    let now = fstatat(folder, name, AtFlags::AT_SYMLINK_NOFOLLOW);
    let identity = |about: FileStat| (about.st_dev, about.st_ino);
    fstat(file).is_ok_and(|ours| now.is_ok_and(|now| identity(now) == identity(ours)))
}

fn remove(folder: &OwnedFd, name: &str) -> io::Result<()> {
    match unlinkat(folder, name, UnlinkatFlags::NoRemoveDir) {
        Err(Errno::ENOENT) => Ok(()),
        done => Ok(done?),
    }
}

/// The lock that keeps this process out: its kind, and its holder's process id.
fn obstacle(file: &File) -> io::Result<Option<(libc::c_int, i32)>> {
    let mut lock = whole();
    fcntl(file, FcntlArg::F_GETLK(&mut lock))?;
    let kind = libc::c_int::from(lock.l_type);
    Ok((kind != libc::F_UNLCK).then_some((kind, lock.l_pid)))
}

/// A write lock on the whole file.
fn whole() -> libc::flock {
    libc::flock {
        l_type: libc::F_WRLCK as libc::c_short,
        l_whence: libc::SEEK_SET as libc::c_short,
        l_start: 0,
        l_len: 0,
        l_pid: 0,
    }
}
