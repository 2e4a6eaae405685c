//! How names resolve behind a link.
//!
//! Many systems run a resolver on the loopback device, which a command in a separate namespace cannot reach, and keep a
//! list of its upstream resolvers.

use std::net::IpAddr;
use std::path::{Path, PathBuf};

/// Lists that systemd-resolved and NetworkManager keep.
const LISTS: [&str; 2] = [
    "/run/systemd/resolve/resolv.conf",
    "/run/NetworkManager/no-stub-resolv.conf",
];

/// How the command's names resolve.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Resolver {
    /// With the caller's resolvers.
    Callers,
    /// With those that this file names, in place of `/etc/resolv.conf`.
    File(PathBuf),
    /// Only through `/etc/hosts`.
    OutOfReach,
}

impl Resolver {
    /// The best choice on this machine.
    pub fn find() -> Self {
        Self::among(Path::new("/etc/resolv.conf"), &LISTS.map(Path::new))
    }

    fn among(callers: &Path, lists: &[&Path]) -> Self {
        if is_reachable(callers) {
            return Self::Callers;
        }
        let list = lists.iter().find(|list| is_reachable(list));
        list.map_or(Self::OutOfReach, |list| Self::File(list.into()))
    }
}

/// Whether a file in the form of resolv.conf(5) names a resolver beyond the loopback device.
fn is_reachable(file: &Path) -> bool {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    text.lines().any(|line| {
        let mut words = line.split_whitespace();
        let is_server = words.next() == Some("nameserver");
        let address = words.next().and_then(|word| word.split('%').next());
        let address = address.and_then(|address| address.parse::<IpAddr>().ok());
        is_server && address.is_some_and(|a| !a.to_canonical().is_loopback() && !a.is_unspecified())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::write;

    #[test]
    fn a_resolver_on_loopback_is_replaced_by_those_behind_it() {
        let folder = tempfile::tempdir().unwrap();
        let [stub, empty, list] = ["stub", "empty", "list"].map(|name| folder.path().join(name));
        let among = |callers: &Path, lists: &[&Path]| Resolver::among(callers, lists);
        write(
            &stub,
            "# stub\nnameserver 127.0.0.53\nnameserver ::1\noptions edns0\n",
        )
        .unwrap();
        write(&empty, "search example.org\n#nameserver 192.0.2.1\n").unwrap();
        assert_eq!(among(&stub, &[&empty, &list]), Resolver::OutOfReach);
        write(&list, "nameserver fe80::1%eth0\n").unwrap();
        assert_eq!(among(&stub, &[&empty, &list]), Resolver::File(list.clone()));
        assert_eq!(among(&list, &[&stub]), Resolver::Callers);
        // glibc asks 127.0.0.1 if the file names no resolver.
        assert_eq!(among(&empty, &[]), Resolver::OutOfReach);
    }
}
