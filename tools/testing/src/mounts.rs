//! Mounts that only the calling thread sees, with the threads and processes that it starts from then on. They vanish
//! with the last of these.

use crate::skipped;
use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, unshare};
use std::fs::read_to_string;

/// Gives the calling thread an empty BPF file system of its own at `/sys/fs/bpf`, whether or not the
/// machine has one.
///
/// # Panics
/// Without root, or where the kernel has no BPF.
pub fn own_bpf_file_system() {
    unshare_mounts();
    mount_at("bpf", "/sys/fs/bpf");
}

/// Gives the calling thread the unified hierarchy of control groups at `/sys/fs/cgroup`, unless one is
/// mounted somewhere.
///
/// # Panics
/// Without root, or where the kernel has no control groups.
pub fn own_cgroups() {
    let mounts = read_to_string("/proc/thread-self/mounts").expect("/proc is mounted");
    if !mounts
        .lines()
        .any(|l| l.split(' ').nth(2) == Some("cgroup2"))
    {
        unshare_mounts();
        mount_at("cgroup2", "/sys/fs/cgroup");
    }
}

/// Shows the calling thread an empty folder where the machine has `folder`, which is below `/sys`.
///
/// # Panics
/// Without root, or where there is no such folder.
pub fn hide(folder: &str) {
    unshare_mounts();
    mount_at("tmpfs", folder);
}

/// Gives the calling thread, and its children, an empty /run. Returns whether it could: if the root folder is not a
/// mount (chroot), other processes would see the mount, too; then says that the test is skipped.
///
/// # Panics
/// Without root.
pub fn own_run() -> bool {
    unshare(CloneFlags::CLONE_NEWNS).expect("a mount namespace");
    let private = MsFlags::MS_REC | MsFlags::MS_PRIVATE;
    if mount(None::<&str>, "/", None::<&str>, private, None::<&str>).is_err() {
        skipped("needs a root folder that is a mount");
        return false;
    }
    mount_at("tmpfs", "/run");
    true
}

/// From now on the calling thread's mounts below `/sys` are its own.
fn unshare_mounts() {
    unshare(CloneFlags::CLONE_NEWNS).expect("a mount namespace");
    // Not all mounts: in a chroot the root folder is not a mount.
    let private = MsFlags::MS_REC | MsFlags::MS_PRIVATE;
    mount(None::<&str>, "/sys", None::<&str>, private, None::<&str>).expect("/sys is mounted");
}

fn mount_at(kind: &str, folder: &str) {
    let mounted = mount(
        Some(kind),
        folder,
        Some(kind),
        MsFlags::empty(),
        None::<&str>,
    );
    mounted.unwrap_or_else(|error| panic!("cannot mount {kind} at {folder}: {error}"));
}
