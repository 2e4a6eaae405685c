//! What stays in the kernel when its process ends: programs, maps and tcx links with a name in the
//! BPF file system. A program that is attached by a pinned link goes on steering.

use crate::{AgentError, network_namespace};
use std::ffi::CString;
use std::fs;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

const FILE_SYSTEM: &str = "/sys/fs/bpf";

/// The folder with all that is pinned for the network namespace of the calling thread.
pub fn pin_folder() -> Result<PathBuf, AgentError> {
    let namespace = network_namespace()?;
    Ok(Path::new(FILE_SYSTEM).join(format!("tidegate/{namespace}")))
}

/// Whether anything can be pinned. The BPF file system is the machine's to mount, as systemd does: one
/// that an agent mounted would outlive it.
///
/// # Errors
/// [`AgentError::NoBpfFileSystem`]
pub fn require_bpf_file_system() -> Result<(), AgentError> {
    if !is_bpf(FILE_SYSTEM) {
        return Err(AgentError::NoBpfFileSystem);
    }
    Ok(())
}

/// Makes that folder.
pub(crate) fn make_folder() -> Result<PathBuf, AgentError> {
    require_bpf_file_system()?;
    let folder = pin_folder()?;
    for folder in with_parent(&folder) {
        match fs::DirBuilder::new().mode(0o700).create(folder) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            made => made.map_err(failed)?,
        }
        if !is_ours(folder) {
            let place = folder.display();
            let message = format!(
                "{place} was made by somebody else, or others may write to it; remove it, and mount the file system with mode=700"
            );
            return Err(failed(io::Error::other(message)));
        }
    }
    Ok(folder)
}

/// The folder with all that is pinned, if there is one. What somebody else has put in its place is none: by a link there
/// he would have whatever it leads to removed.
pub(crate) fn found_folder() -> Result<Option<PathBuf>, AgentError> {
    let folder = pin_folder()?;
    let is_there = with_parent(&folder).into_iter().all(is_ours);
    Ok(is_there.then_some(folder))
}

/// The machine's folder before that of the network namespace.
fn with_parent(folder: &Path) -> [&Path; 2] {
    [folder.parent().expect("a folder below another"), folder]
}

/// A folder that root or this user has made, to which nobody else may write. A BPF file system that is mounted without
/// `mode=700` lets everybody make folders and links in it.
fn is_ours(folder: &Path) -> bool {
    // SAFETY: no arguments, cannot fail.
    let owners = [0, unsafe { libc::geteuid() }];
    fs::symlink_metadata(folder).is_ok_and(|about| {
        about.is_dir() && owners.contains(&about.uid()) && about.mode() & 0o022 == 0
    })
}

/// Removes all that is pinned in the folder, and the folder. A link that nobody else holds is
/// detached thereby.
pub(crate) fn clear(folder: &Path) -> io::Result<()> {
    for pin in fs::read_dir(folder)? {
        fs::remove_file(pin?.path())?;
    }
    fs::remove_dir(folder)?;
    // The last one of the machine's.
    if let Some(parent) = folder.parent() {
        let _ = fs::remove_dir(parent);
    }
    Ok(())
}

/// Gives a program, a map or a link a name.
pub(crate) fn pin(fd: BorrowedFd<'_>, path: &Path) -> Result<(), AgentError> {
    let name = CString::new(path.as_os_str().as_bytes()).expect("a path without NUL");
    // SAFETY: a descriptor and a NUL-terminated string that live through the call.
    let status = unsafe { libbpf_sys::bpf_obj_pin(fd.as_raw_fd(), name.as_ptr()) };
    match status {
        0 => Ok(()),
        error => Err(failed(io::Error::from_raw_os_error(-error))),
    }
}

fn failed(source: io::Error) -> AgentError {
    AgentError::System {
        what: "pin the programs below /sys/fs/bpf",
        source,
    }
}

/// Whether a BPF file system is mounted there.
fn is_bpf(path: &str) -> bool {
    let path = CString::new(path).expect("a path without NUL");
    // SAFETY: all zeroes is a valid statfs.
    let mut status: libc::statfs = unsafe { std::mem::zeroed() };
    // SAFETY: a NUL-terminated string and a record that live through the call.
    let known = unsafe { libc::statfs(path.as_ptr(), &raw mut status) } == 0;
    known && status.f_type as i64 == i64::from(libc::BPF_FS_MAGIC as u32)
}
