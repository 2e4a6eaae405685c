//! A file that is not complete yet: `.NAME.HASH.part` in the folder where it is to be.

use super::{CHUNK, FileError, name};
use nix::errno::Errno;
use nix::fcntl::{AT_FDCWD, Flock, FlockArg, OFlag, RenameFlags, renameat2};
use nix::unistd::geteuid;
use std::fs::{self, File, Metadata, Permissions};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// A part's mode: no other user may open it.
const CLOSED: u32 = 0o600;

/// The file, locked: only one connection receives it.
pub struct Part {
    path: PathBuf,
    file: Flock<File>,
    hasher: blake3::Hasher,
    length: u64,
}

impl Part {
    /// Opens or creates the part, and hashes its bytes. None while another connection has it.
    ///
    /// # Errors
    /// If it is a link, not a regular file, another user's, or has a second name: written bytes would appear there,
    /// too.
    pub fn open(folder: &Path, name: &str, hash: &blake3::Hash) -> Result<Option<Self>, FileError> {
        let part = name::of_part(name, hash);
        let path = folder.join(&part);
        let mut options = File::options();
        options.read(true).write(true).create(true).truncate(false);
        // A user who could read it could lock it, and keep the file from ever arriving.
        options.mode(CLOSED);
        // We follow no planted link, and wait for no planted pipe.
        options.custom_flags((OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK).bits());
        let file = options
            .open(&path)
            .map_err(FileError::file("cannot open", &path))?;
        let about = file.metadata();
        let about = about.map_err(FileError::file("cannot open", &path))?;
        if let Some(why) = is_not_ours(&about) {
            return Err(FileError::Refused(format!("{part} {why}")));
        }
        // The part may be from an older version. Some file systems have no modes.
        let _ = file.set_permissions(Permissions::from_mode(CLOSED));
        let file = match Flock::lock(file, FlockArg::LockExclusiveNonblock) {
            Ok(file) => file,
            Err((_, Errno::EWOULDBLOCK)) => return Ok(None),
            Err((_, error)) => return Err(FileError::file("cannot lock", &path)(error.into())),
        };
        // Between opening and locking, the part may have been completed and renamed: then it must be left alone.
        let still = path.symlink_metadata();
        if !still.is_ok_and(|now| (now.dev(), now.ino()) == (about.dev(), about.ino())) {
            return Ok(None);
        }
        let mut part = Self {
            path,
            file,
            hasher: blake3::Hasher::new(),
            length: 0,
        };
        part.read()?;
        Ok(Some(part))
    }

    /// Reads to the end of the part.
    fn read(&mut self) -> Result<(), FileError> {
        let mut buffer = vec![0; CHUNK];
        let mut file = &*self.file;
        loop {
            let count = file
                .read(&mut buffer)
                .map_err(FileError::file("cannot read", &self.path))?;
            if count == 0 {
                return Ok(());
            }
            self.hasher.update(&buffer[..count]);
            self.length += count as u64;
        }
    }

    /// Bytes in the part.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// BLAKE3 of these bytes.
    pub fn hash(&self) -> blake3::Hash {
        self.hasher.finalize()
    }

    /// Truncates the part to nothing: the file does not begin like this.
    pub fn clear(&mut self) -> Result<(), FileError> {
        self.hasher.reset();
        self.length = 0;
        let mut file = &*self.file;
        let place = file.set_len(0).and_then(|()| file.rewind());
        place.map_err(FileError::file("cannot write", &self.path))
    }

    /// Appends `bytes`.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), FileError> {
        (&*self.file)
            .write_all(bytes)
            .map_err(FileError::file("cannot write", &self.path))?;
        self.hasher.update(bytes);
        self.length += bytes.len() as u64;
        Ok(())
    }

    /// The file is complete: renames it, atomically and durably, without replacing another file unless `force`.
    pub fn finish(self, to: &Path, force: bool) -> Result<(), FileError> {
        let open = Permissions::from_mode(ordinary_mode());
        let _ = self.file.set_permissions(open);
        self.file
            .sync_all()
            .map_err(FileError::file("cannot write", &self.path))?;
        let flags = match force {
            true => RenameFlags::empty(),
            false => RenameFlags::RENAME_NOREPLACE,
        };
        let renamed = match renameat2(AT_FDCWD, &self.path, AT_FDCWD, to, flags) {
            // This file system cannot do that; then this is the best we can do.
            Err(Errno::EINVAL | Errno::ENOSYS) if !to.exists() => fs::rename(&self.path, to),
            other => other.map_err(io::Error::from),
        };
        renamed.map_err(FileError::file("cannot create", to))?;
        // Only now is the name on the disk, too (fsync(2)).
        let folder = to.parent().expect("a name in a folder");
        let synced = File::open(folder).and_then(|folder| folder.sync_all());
        synced.map_err(FileError::file("cannot write", folder))
    }

    /// Removes the part.
    pub fn discard(self) {
        // If that fails, the next try finds it too long, or its hash wrong.
        let _ = fs::remove_file(&self.path);
    }
}

/// Why what stands there is not a file that this user began.
/// The mode of a file that this process makes: what its umask leaves. The kernel tells it in proc(5); to ask by umask(2)
/// changes it for all threads. Where there is no /proc, the file stays closed.
fn ordinary_mode() -> u32 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("Umask:"));
    let mask = mask.and_then(|mask| u32::from_str_radix(mask.trim(), 8).ok());
    mask.map_or(CLOSED, |mask| 0o666 & !mask)
}

fn is_not_ours(about: &Metadata) -> Option<&'static str> {
    if !about.is_file() {
        return Some("is not a regular file");
    }
    if about.nlink() != 1 {
        return Some("has another name besides");
    }
    (about.uid() != geteuid().as_raw()).then_some("is somebody else's")
}
