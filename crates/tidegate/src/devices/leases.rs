//! Names that devices have told the DHCP server, from the list that dnsmasq keeps.

use super::Mac;
use nix::fcntl::OFlag;
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

/// Where DHCP servers of routers keep who has which address: OpenWrt's dnsmasq, and Debian's.
const USUAL: [&str; 2] = ["/tmp/dhcp.leases", "/var/lib/misc/dnsmasq.leases"];

/// Numbers of users that are people begin here; a DHCP server is root or one below.
const PEOPLE: u32 = 1000;

/// Bytes of the longest list: more addresses than a router gives away.
const MOST: u64 = 4 << 20;

/// Names by MAC, from that file or from the usual places.
pub fn names(file: Option<&Path>) -> HashMap<Mac, String> {
    let texts: Vec<_> = match file {
        Some(file) => read(file, OFlag::empty(), u32::MAX).into_iter().collect(),
        // Everybody may make a file in /tmp, where there is no DHCP server.
        None => USUAL
            .iter()
            .filter_map(|file| read(Path::new(file), OFlag::O_NOFOLLOW, PEOPLE).ok())
            .collect(),
    };
    texts
        .iter()
        .flat_map(|text| text.lines())
        .filter_map(lease)
        .collect()
}

/// dnsmasq's lines are expiry, MAC, address, name and client.
fn lease(line: &str) -> Option<(Mac, String)> {
    let mut words = line.split_whitespace();
    let mac = words.nth(1)?.parse().ok()?;
    Some((mac, words.nth(1)?.to_owned()))
}

/// Reads a regular file of an owner below `people`, waiting for nobody, up to a length. What a device calls itself need not
/// be text.
fn read(path: &Path, flags: OFlag, people: u32) -> io::Result<String> {
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
        let read = |name: &str, people| read(&path(name), OFlag::O_NOFOLLOW, people);
        let mine = nix::unistd::geteuid().as_raw();
        assert_eq!(read("list", mine + 1).unwrap(), text);
        assert!(read("list", mine).is_err());
        assert!(read("link", mine + 1).is_err());
        // Without waiting for somebody who writes, or for an end.
        assert_eq!(names(Some(&path("pipe"))), HashMap::new());
        assert_eq!(names(Some(&path("endless"))), HashMap::new());
    }

    #[test]
    fn a_name_that_is_no_text_hides_no_other() {
        let folder = tempfile::tempdir().unwrap();
        let list = folder.path().join("list");
        let lines = [
            &b"1 02:00:5e:10:00:01 192.0.2.7 \xff\xfe *\n"[..],
            b"1 02:00:5e:10:00:02 192.0.2.8 tv *\n",
        ];
        std::fs::write(&list, lines.concat()).unwrap();
        let names = names(Some(&list));
        assert_eq!(names[&"02:00:5e:10:00:02".parse().unwrap()], "tv");
    }
}
