//! What stays in the kernel when its process ends: programs, maps and tcx links with a name in the
//! BPF file system. A program that is attached by a pinned link goes on steering.

use crate::{AgentError, network_namespace};
use std::ffi::CString;
use std::fs;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::os::unix::ffi::OsStrExt;
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
    fs::create_dir_all(&folder).map_err(failed)?;
    Ok(folder)
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
