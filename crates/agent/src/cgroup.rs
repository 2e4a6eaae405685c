//! Control groups, as rules name them and as the kernel tells those of a packet.

use std::path::{Path, PathBuf};

/// A control group of the unified hierarchy, with all that is below it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cgroup {
    /// The inode of its folder.
    pub id: u64,
    /// How deep below the root, which has 0.
    pub level: u32,
}

impl Cgroup {
    /// Where the calling thread sees the unified hierarchy mounted, if it does.
    pub fn root() -> Option<PathBuf> {
        let mounts = std::fs::read_to_string("/proc/thread-self/mounts").unwrap_or_default();
        // Device, folder, type.
        let mut mounts = mounts.lines().map(|l| l.split(' ').collect::<Vec<_>>());
        let mount = mounts.find(|fields| fields.get(2) == Some(&"cgroup2"))?;
        Some(mount[1].into())
    }

    /// The group of that folder, a path from the hierarchy's root or from the file system's. An error says what was
    /// expected.
    pub fn find(folder: &Path) -> Result<Self, String> {
        use std::os::unix::fs::MetadataExt;
        let root = Self::root()
            .ok_or("no cgroup2 hierarchy is mounted, expected one at /sys/fs/cgroup")?;
        let below = folder.strip_prefix(&root);
        let below = below.or_else(|_| folder.strip_prefix("/"));
        let below = below.unwrap_or(folder);
        let path = root.join(below);
        let metadata = path.metadata().ok().filter(std::fs::Metadata::is_dir);
        let metadata = metadata
            .ok_or_else(|| format!("{} is not a folder, expected a cgroup's", path.display()))?;
        Ok(Self {
            id: metadata.ino(),
            level: below.components().count() as u32,
        })
    }
}
