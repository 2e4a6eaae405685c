//! Reads a file of leases, but not one that any user could have made.

use nix::fcntl::OFlag;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

/// The first user id of people; a DHCP server runs as root or below this.
const PEOPLE: u32 = 1000;

/// The longest list, in bytes: more addresses than a router assigns.
const MOST: u64 = 4 << 20;

/// Reads the file that the user named; anybody may own it.
pub fn read(path: &Path) -> io::Result<String> {
    read_of(path, OFlag::empty(), u32::MAX)
}

/// Reads one of the usual files. In /tmp any user could make it if there is no DHCP server, so its owner is checked.
pub fn read_the_systems(path: &Path) -> io::Result<String> {
    read_of(path, OFlag::O_NOFOLLOW, PEOPLE)
}

/// Reads a regular file whose owner is below `people`, without blocking, up to a length. A device's name need not be
/// text.
fn read_of(path: &Path, flags: OFlag, people: u32) -> io::Result<String> {
    let mut options = File::options();
    options
        .read(true)
        .custom_flags((flags | OFlag::O_NONBLOCK).bits());
    let file = options.open(path)?;
    let about = file.metadata()?;
    if !about.is_file() || about.uid() >= people {
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    let mut bytes = Vec::new();
    file.take(MOST).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use nix::sys::stat::Mode;
    use nix::unistd::mkfifo;
    use std::os::unix::fs::symlink;

    #[test]
    fn what_a_stranger_has_put_there_is_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let text = "1700000000 02:00:5e:10:00:01 192.0.2.7 tv 01:02\n";
        std::fs::write(path("list"), text).unwrap();
        symlink(path("list"), path("link")).unwrap();
        symlink("/dev/zero", path("endless")).unwrap();
        mkfifo(&path("pipe"), Mode::S_IRUSR).unwrap();
        let read_of = |name: &str, people| read_of(&path(name), OFlag::O_NOFOLLOW, people);
        let mine = nix::unistd::geteuid().as_raw();
        assert_eq!(read_of("list", mine + 1).unwrap(), text);
        assert!(read_of("list", mine).is_err());
        assert!(read_of("link", mine + 1).is_err());
        // Neither a pipe without a writer nor an endless file blocks us.
        assert!(read(&path("pipe")).is_err());
        assert!(read(&path("endless")).is_err());
    }
}
