//! Units of systemd, as rules name them: control groups that come and go with what runs in them.

use crate::Cgroup;
use std::ffi::{CStr, CString, OsStr};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::DirEntryExt;
use std::path::Path;

/// Endings of the names of units with a control group.
const KINDS: [&str; 3] = [".service", ".scope", ".slice"];

/// The deepest nesting of slices that is searched.
const DEPTH: u32 = 16;

/// The service manager that started a unit. A user may give units any name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manager {
    /// The machine's service manager.
    System,
    /// A user's, `user@1000.service`.
    User,
}

/// Which units a rule is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Units {
    /// Their names, with the signs of fnmatch(3).
    pattern: CString,
    manager: Manager,
}

/// A unit that has a control group.
#[derive(Clone, Debug)]
pub(crate) struct Unit {
    name: CString,
    manager: Manager,
    cgroup: Cgroup,
}

impl Units {
    /// Units with that name, or whose name fits that pattern. An error says what was expected.
    pub fn new(pattern: &str, manager: Manager) -> Result<Self, String> {
        let mut ends = KINDS.iter().chain(&["*"]);
        let has_kind = ends.any(|end| pattern.ends_with(end));
        let (true, false, Ok(name)) = (has_kind, pattern.contains('/'), CString::new(pattern))
        else {
            return Err(format!(
                "no unit is called \"{pattern}\", expected a name like \"backup.service\" or \"app-*firefox*\""
            ));
        };
        Ok(Self {
            pattern: name,
            manager,
        })
    }

    /// The control groups of those units that exist, in a stable order.
    pub(crate) fn among(&self, there: &[Unit]) -> Vec<Cgroup> {
        let found = there.iter();
        let found = found.filter(|unit| unit.manager == self.manager && self.fits(&unit.name));
        let mut cgroups: Vec<_> = found.map(|unit| unit.cgroup).collect();
        cgroups.sort_by_key(|cgroup| cgroup.id);
        cgroups
    }

    fn fits(&self, name: &CStr) -> bool {
        // SAFETY: both strings end with a zero and live through the call.
        let differs =
            unsafe { libc::fnmatch(self.pattern.as_ptr(), name.as_ptr(), libc::FNM_NOESCAPE) };
        differs == 0
    }
}

/// The units that have control groups now.
pub(crate) fn running() -> Vec<Unit> {
    let mut found = Vec::new();
    if let Some(root) = Cgroup::root() {
        find(&root, 1, Manager::System, &mut found);
    }
    found
}

/// Searches slices and the users' service managers. Other units' own subgroups are not searched: programs make them
/// under any name.
fn find(folder: &Path, level: u32, manager: Manager, found: &mut Vec<Unit>) {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    for entry in entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())) {
        let name = entry.file_name();
        let is = |kind: &&str| name.as_bytes().ends_with(kind.as_bytes());
        let (true, Ok(text)) = (KINDS.iter().any(is), CString::new(name.as_bytes())) else {
            continue;
        };
        let id = entry.ino();
        found.push(Unit {
            name: text,
            manager,
            cgroup: Cgroup { id, level },
        });
        let below = match manager {
            _ if level == DEPTH => None,
            _ if is(&".slice") => Some(manager),
            Manager::System if is_manager_of_user(&name) => Some(Manager::User),
            _ => None,
        };
        if let Some(manager) = below {
            find(&entry.path(), level + 1, manager, found);
        }
    }
}

fn is_manager_of_user(name: &OsStr) -> bool {
    let number = name.as_bytes().strip_prefix(b"user@");
    let number = number.and_then(|rest| rest.strip_suffix(b".service"));
    number.is_some_and(|number| number.iter().all(u8::is_ascii_digit))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    /// How many units are found in a hierarchy with these folders.
    fn found(folders: &[&str], pattern: &str, manager: Manager) -> usize {
        let root = tempfile::tempdir().unwrap();
        for folder in folders {
            fs::create_dir_all(root.path().join(folder)).unwrap();
        }
        let mut there = Vec::new();
        find(root.path(), 1, Manager::System, &mut there);
        Units::new(pattern, manager).unwrap().among(&there).len()
    }

    #[test]
    fn a_unit_is_found_wherever_its_slice_is_and_by_a_pattern() {
        let folders = [
            "system.slice/backup.service",
            "system.slice/system-getty.slice/getty@tty1.service",
            "other.slice/backup.service",
            "backup.service",
        ];
        let of = |pattern| found(&folders, pattern, Manager::System);
        assert_eq!(of("backup.service"), 3);
        assert_eq!(of("getty@*.service"), 1);
        assert_eq!(of("system.slice"), 1);
        assert_eq!(of("ackup.service"), 0);
    }

    #[test]
    fn nobody_but_the_manager_says_what_is_a_unit_of_the_machine() {
        let app = "user.slice/user-1000.slice/user@1000.service/app.slice/app-firefox-7.scope";
        let folders = [
            app,
            "user.slice/user-1000.slice/user@1000.service/app.slice/backup.service",
            "system.slice/docker-1.scope/system.slice/backup.service",
            "user.slice/user-1000.slice/session-1.scope/backup.service",
        ];
        assert_eq!(found(&folders, "backup.service", Manager::System), 0);
        assert_eq!(found(&folders, "backup.service", Manager::User), 1);
        assert_eq!(found(&folders, "app-*firefox*", Manager::User), 1);
        assert_eq!(found(&folders, "app-*firefox*", Manager::System), 0);
    }

    #[test]
    fn what_is_no_unit_is_refused() {
        for wrong in [
            "",
            "backup",
            "system.slice/a.service",
            "a\0.service",
            "*.mount",
        ] {
            let error = Units::new(wrong, Manager::System).unwrap_err();
            assert!(error.contains("backup.service"), "{error}");
        }
    }
}
