//! Locks between processes, which only those can hold who may write to the lock's folder.
//!
//! A lock is a record lock (fcntl(2)) on a file: the kernel knows its holder, and releases it when that ends, however it
//! does. For a write lock a process must have opened the file for writing, but a read lock, which keeps write locks out,
//! needs no more than to read it. So nobody else may open the file at all, and a read lock that somebody holds all the
//! same is nobody's.

use nix::errno::Errno;
use nix::fcntl::{AtFlags, FcntlArg, OFlag, fcntl, openat};
use nix::libc;
use nix::sys::stat::{FileStat, Mode, SFlag, fchmod, fstat, fstatat};
use nix::unistd::{UnlinkatFlags, geteuid, unlinkat};
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;

/// A file's own: who may read, write and execute it.
const MODE: libc::mode_t = 0o777;
/// To write to it, of the group and of others; they may open the lock then.
const WRITTEN_BY_OTHERS: libc::mode_t = 0o022;
/// A stranger that puts something else in the lock's place again and again is given up.
const TRIES: usize = 100;

/// A lock that is held; released when dropped.
#[derive(Debug)]
pub struct Lock {
    folder: OwnedFd,
    name: String,
    file: File,
}

/// What became of the wish for one.
#[derive(Debug)]
pub enum Taken {
    /// It is held.
    Lock(Lock),
    /// This process holds it; 0: one of another process namespace.
    By(i32),
    /// The file system has no locks.
    Unsupported(io::Error),
}

impl Lock {
    /// Takes the lock of that name in the folder. What is there and cannot be it is removed: a link, a file with another
    /// name besides, or one that somebody who may not write to the folder has opened or made.
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
                // The one before may have removed it since it was opened.
                Ok(_) if is_there(&folder, name, &file) => {
                    let name = name.to_owned();
                    return Ok(Taken::Lock(Self { folder, name, file }));
                }
                Ok(_) => {}
                Err(Errno::EACCES | Errno::EAGAIN) => match obstacle(&file)? {
                    Some((libc::F_WRLCK, pid)) => return Ok(Taken::By(pid)),
                    // A stranger's, from when the file could be read.
                    Some(_) => remove(&folder, name)?,
                    None => {}
                },
                Err(error) => return Ok(Taken::Unsupported(error.into())),
            }
        }
        let message = "something else is put in its place again and again";
        Err(io::Error::other(message))
    }

    /// Who holds the lock of that name in the folder; 0: a process of another process namespace.
    ///
    /// # Errors
    /// If the file is there and cannot be looked at.
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

    /// Releases it and removes its file. Whoever has opened that file meanwhile finds in [`Self::take`] that it has gone.
    pub fn remove(self) {
        let _ = unlinkat(&self.folder, self.name.as_str(), UnlinkatFlags::NoRemoveDir);
        drop(self.file);
    }
}

/// Opens the file, or makes it. None if what is there cannot be the lock.
fn open(folder: &OwnedFd, name: &str) -> io::Result<Option<File>> {
    // No planted link is followed, and no planted pipe is waited for.
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
        // Only its owner may; whoever is not has nothing to make right.
        let _ = fchmod(&file, Mode::from_bits_truncate(mode));
    }
    Ok(Some(file))
}

/// The lock's mode: who may write to the folder may open it.
fn mode(folder: &FileStat) -> libc::mode_t {
    let others = folder.st_mode & WRITTEN_BY_OTHERS;
    0o600 | others | others << 1
}

/// A regular file with one name, of somebody who may write to the folder.
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

/// What keeps this process from the lock: its kind, and who holds it.
fn obstacle(file: &File) -> io::Result<Option<(libc::c_int, i32)>> {
    let mut lock = whole();
    fcntl(file, FcntlArg::F_GETLK(&mut lock))?;
    let kind = libc::c_int::from(lock.l_type);
    Ok((kind != libc::F_UNLCK).then_some((kind, lock.l_pid)))
}

/// For writing, from the beginning to the end.
fn whole() -> libc::flock {
    libc::flock {
        l_type: libc::F_WRLCK as libc::c_short,
        l_whence: libc::SEEK_SET as libc::c_short,
        l_start: 0,
        l_len: 0,
        l_pid: 0,
    }
}
