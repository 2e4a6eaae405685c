//! Pins: names in the BPF file system by which programs, maps and tcx links stay in the kernel when their process ends.
//! A program that is attached by a pinned link goes on steering.

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

/// Checks that there is a BPF file system to pin in. The agent does not mount one, since it would outlive the agent;
/// systemd does.
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
                "{place} belongs to another user, or others may write to it; remove it, and mount the file system with mode=700"
            );
            return Err(failed(io::Error::other(message)));
        }
    }
    Ok(folder)
}

/// The folder with all that is pinned, if there is one. A folder or symbolic link that another user has put there does
/// not count: clearing it would remove whatever the link leads to.
pub(crate) fn found_folder() -> Result<Option<PathBuf>, AgentError> {
    let folder = pin_folder()?;
    let is_there = with_parent(&folder).into_iter().all(is_ours);
    Ok(is_there.then_some(folder))
}

/// The machine's folder before that of the network namespace.
fn with_parent(folder: &Path) -> [&Path; 2] {
    [folder.parent().expect("a folder below another"), folder]
}

/// Whether root or this user has made the folder, and no other user may write to it. A BPF file system that is mounted
/// without `mode=700` lets every user make folders and links in it.
fn is_ours(folder: &Path) -> bool {
    // SAFETY: no arguments, cannot fail.
    let owners = [0, unsafe { libc::geteuid() }];
    fs::symlink_metadata(folder).is_ok_and(|about| {
        about.is_dir() && owners.contains(&about.uid()) && about.mode() & 0o022 == 0
    })
}

/// Removes all that is pinned in the folder, and the folder. This detaches a link that no process holds.
pub(crate) fn clear(folder: &Path) -> io::Result<()> {
    for pin in fs::read_dir(folder)? {
        fs::remove_file(pin?.path())?;
    }
    fs::remove_dir(folder)?;
    // Goes with the last namespace's folder; otherwise it is not empty and stays.
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
