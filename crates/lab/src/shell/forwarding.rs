//! Lets packets for others pass, interface by interface, for as long as somebody needs it.
//!
//! What was switched on is written to a list that all users in a namespace share; the last of them to
//! go switches it off again. One that was killed leaves the switches on and the list behind, and the
//! next last one clears up.

use anyhow::{Context, Result};
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Where the lists are, one for each namespace.
const FOLDER: &str = "/run/tidegate";

const CONF_V4: &str = "/proc/sys/net/ipv4/conf";
const CONF_V6: &str = "/proc/sys/net/ipv6/conf";

/// Forwarding between all interfaces of a namespace.
#[derive(Debug)]
pub struct Forwarding {
    list: PathBuf,
    /// Locked, shared with the other users.
    users: File,
    /// Whether IPv6 is forwarded, too.
    pub ipv6: bool,
}

impl Forwarding {
    /// Switches forwarding on in the calling thread's namespace. IPv6 only where it is on already
    /// or can be switched on for single interfaces (Linux 6.17): the switch for all of them makes
    /// the machine a router, which forgets the routes that others advertise to it.
    ///
    /// # Errors
    /// When a setting or the list cannot be written.
    pub fn switch_on() -> Result<Self> {
        fs::create_dir_all(FOLDER).with_context(|| format!("cannot make {FOLDER}"))?;
        let namespace = fs::metadata("/proc/thread-self/ns/net")?.ino();
        let list = Path::new(FOLDER).join(format!("forwarding-{namespace}"));
        let _changing = exclusive(&list)?;
        let users = open(&list.with_extension("users"))?;
        users.lock_shared().context("cannot lock a file")?;
        let forwarding = Self {
            ipv6: is_on(&Path::new(CONF_V6).join("all/forwarding")),
            list,
            users,
        };
        forwarding.add_switches()
    }

    fn add_switches(mut self) -> Result<Self> {
        let mut wanted = switches(CONF_V4, "forwarding");
        if !self.ipv6 {
            let v6 = switches(CONF_V6, "force_forwarding");
            self.ipv6 = !v6.is_empty();
            wanted.extend(v6);
        }
        let mut ours = self.read();
        for switch in wanted.into_iter().filter(|s| !is_on(s)) {
            ours.insert(switch);
        }
        // First the list, lest a kill leaves a switch that nobody knows of.
        self.write(&ours)?;
        for switch in &ours {
            set(switch, "1")?;
        }
        Ok(self)
    }

    /// The switches that users have switched on.
    fn read(&self) -> BTreeSet<PathBuf> {
        let text = fs::read_to_string(&self.list).unwrap_or_default();
        // An interface may have gone since.
        text.lines()
            .map(PathBuf::from)
            .filter(|s| s.exists())
            .collect()
    }

    fn write(&self, switches: &BTreeSet<PathBuf>) -> Result<()> {
        let lines = switches.iter().map(|s| format!("{}\n", s.display()));
        fs::write(&self.list, lines.collect::<String>())
            .with_context(|| format!("cannot write {}", self.list.display()))
    }
}

impl Drop for Forwarding {
    /// Switches off what was switched on, unless others still use it.
    fn drop(&mut self) {
        let Ok(_changing) = exclusive(&self.list) else {
            return;
        };
        let _ = self.users.unlock();
        if self.users.try_lock().is_err() {
            return;
        }
        for switch in self.read() {
            let _ = set(&switch, "0");
        }
        let _ = fs::remove_file(self.list.with_extension("users"));
        let _ = fs::remove_file(&self.list);
    }
}

/// Every interface's switch of that name, but for loopback's and the two that stand for all.
fn switches(conf: &str, name: &str) -> Vec<PathBuf> {
    let Ok(interfaces) = fs::read_dir(conf) else {
        return Vec::new();
    };
    interfaces
        .flatten()
        .filter(|i| {
            !["all", "default", "lo"]
                .iter()
                .any(|not| i.file_name() == *not)
        })
        .map(|i| i.path().join(name))
        .filter(|switch| switch.exists())
        .collect()
}

fn is_on(switch: &Path) -> bool {
    fs::read_to_string(switch).is_ok_and(|value| value.trim() != "0")
}

fn set(switch: &Path, value: &str) -> Result<()> {
    fs::write(switch, value)
        .with_context(|| format!("cannot write {value} to {}", switch.display()))
}

/// Opens the file and waits until nobody else has it locked.
fn exclusive(path: &Path) -> Result<File> {
    loop {
        let file = open(path)?;
        file.lock().context("cannot lock a file")?;
        // The last user may have removed it while we waited.
        let there = fs::metadata(path).map(|m| m.ino());
        if there.is_ok_and(|there| file.metadata().is_ok_and(|ours| ours.ino() == there)) {
            return Ok(file);
        }
    }
}

fn open(path: &Path) -> Result<File> {
    File::options()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .open(path)
        .with_context(|| format!("cannot open {}", path.display()))
}

#[cfg(test)]
mod tests;
