//! IP forwarding for links only.
//!
//! The kernel has to forward packets from the uplinks, so that answers reach the links' commands. A table of nf_tables
//! lets those answers pass. It drops all other packets that would be forwarded into a link, or from an uplink that did
//! not forward before.
//!
//! The table also lists the settings to restore. It has no owner: after a kill it stays, together with the switches,
//! and goes on dropping until the next link clears up. A file could be removed, or be taken for that of another
//! namespace, so there is none.

use super::routing::Version;
use anyhow::{Context, Result};
use nix::net::if_::if_indextoname;
use std::io;
use std::time::{Duration, Instant};
use tidegate_linux::netfilter::{
    Chain, Change, Compare, Expression, Hook, Meta, Set, State, Table, Word,
};

const TABLE: &str = "tidegate-link";

/// Indices of the links' devices.
const LINKS: &str = "links";

/// Indices of the uplinks whose forwarding switches were off.
const OPENED: &str = "opened";

/// An index of no interface, which is in that set if the switch of all interfaces was on before.
const ALL: u32 = 0;

const FORWARD: Chain = Chain {
    name: "forward",
    kind: "filter",
    hook: Hook::Forward,
    // NF_IP_PRI_FILTER: a packet that it drops is gone, whatever other chains at this hook say.
    priority: 0,
};

/// The table of one version of IP, in the namespace in which it was opened.
#[derive(Debug)]
pub struct Guard {
    version: Version,
    table: Table,
}

impl Guard {
    /// Opens the tables of all versions that can be forwarded.
    ///
    /// # Errors
    /// Where there is no nfnetlink.
    pub fn all() -> Result<Vec<Self>> {
        let guards = Version::forwardable().into_iter().map(|version| {
            let table = Table::new(version.family(), TABLE);
            let table = table.context("cannot open a netfilter netlink socket")?;
            Ok(Self { version, table })
        });
        guards.collect()
    }

    /// The version of its packets.
    pub fn version(&self) -> Version {
        self.version
    }

    /// Lets the link of the device `link` send over `uplinks` and get answers.
    ///
    /// # Errors
    /// Without root or nf_tables; when a setting cannot be written.
    pub fn join(&self, link: u32, uplinks: &[u32]) -> Result<()> {
        self.leave(None)?;
        if self.members(LINKS)?.is_none() {
            self.set_up()?;
        }
        self.change(&[self.table.insert(LINKS, &link.to_ne_bytes())])?;
        if let Some(device) = name(link) {
            self.version.set(&device, true)?;
        }
        uplinks.iter().try_for_each(|uplink| self.open(*uplink))
    }

    /// Lets answers to links that arrive at the interface be forwarded.
    ///
    /// # Errors
    /// When a setting cannot be written.
    pub fn open(&self, uplink: u32) -> Result<()> {
        let Some(device) = name(uplink).filter(|device| self.version.has(device)) else {
            return Ok(());
        };
        if self.version.is_on(&device) {
            return Ok(());
        }
        let Some(opened) = self.members(OPENED)? else {
            return Ok(());
        };
        if !opened.contains(&uplink) {
            // The list comes first, so that a kill leaves no switch on that is not listed.
            self.change(&[self.table.insert(OPENED, &uplink.to_ne_bytes())])?;
        }
        self.version.set(&device, true)
    }

    /// Removes a link, and those whose devices are gone. When the last one ends, the settings are restored.
    ///
    /// # Errors
    /// When that cannot be done: then the table stays.
    pub fn leave(&self, link: Option<u32>) -> Result<()> {
        let Some(links) = self.members(LINKS)? else {
            return Ok(());
        };
        let ends = |other: &u32| Some(*other) == link || name(*other).is_none();
        let (gone, alive): (Vec<_>, Vec<_>) = links.into_iter().partition(ends);
        if alive.is_empty() {
            return self.clear_up();
        }
        let take = |link: &u32| self.table.take(LINKS, &link.to_ne_bytes());
        self.change(&gone.iter().map(take).collect::<Vec<_>>())
    }

    fn clear_up(&self) -> Result<()> {
        let opened = self.members(OPENED)?.unwrap_or_default();
        // If the administrator has switched all of them on since, these stay on, too.
        let is_theirs = self.version.is_on("all") && !opened.contains(&ALL);
        let devices = opened.iter().filter(|uplink| **uplink != ALL);
        for device in devices.filter_map(|uplink| name(*uplink)) {
            if !is_theirs && self.version.has(&device) {
                self.version.set(&device, false)?;
            }
        }
        self.change(&[self.table.remove()])
    }

    fn set_up(&self) -> Result<()> {
        let set = |name, id| {
            self.table.set(&Set {
                name,
                id,
                // nft's "iface_index".
                types: &[20],
                key_bytes: 4,
                size: 4096,
            })
        };
        let mut changes = vec![
            self.table.create_lasting(),
            set(LINKS, 1),
            set(OPENED, 2),
            self.table.chain(&FORWARD),
        ];
        changes.extend(self.rules(self.version.is_router()));
        if self.version.is_on("all") {
            changes.push(self.table.insert(OPENED, &ALL.to_ne_bytes()));
        }
        self.change(&changes)
    }

    /// Follows the administrator: packets from an uplink are forwarded if the machine is a router, otherwise only
    /// answers.
    ///
    /// # Errors
    /// The kernel's refusal.
    pub fn follow(&self, is_router: bool) -> Result<()> {
        if self.members(LINKS)?.is_none() {
            return Ok(());
        }
        let clear = self.table.clear(FORWARD.name);
        let rules = self.rules(is_router);
        self.change(&[[clear].as_slice(), &rules].concat())
    }

    fn rules(&self, is_router: bool) -> Vec<Change> {
        let into_a_link = || {
            let leaves_by = Expression::meta(Meta::LeavesBy, Word(0));
            [leaves_by, Expression::is_in(LINKS, Word(0))]
        };
        let answers = |state: State| {
            let state = Expression::compare(Word(0), Compare::Equal, &state.value());
            let end = [Expression::state(Word(0)), state, Expression::pass()];
            into_a_link().into_iter().chain(end).collect::<Vec<_>>()
        };
        let others = into_a_link().into_iter().chain([Expression::discard()]);
        let mut rules = vec![
            answers(State::Established),
            answers(State::Related),
            others.collect(),
        ];
        if !is_router {
            rules.push(vec![
                Expression::meta(Meta::ComesBy, Word(0)),
                Expression::is_in(OPENED, Word(0)),
                Expression::discard(),
            ]);
        }
        let rules = rules.iter();
        rules
            .map(|rule| self.table.rule(FORWARD.name, rule))
            .collect()
    }

    /// None if there is no table.
    fn members(&self, set: &str) -> Result<Option<Vec<u32>>> {
        let number = |key: Vec<u8>| key.first_chunk().map(|bytes| u32::from_ne_bytes(*bytes));
        match self.table.keys(set) {
            Ok(keys) => Ok(Some(keys.into_iter().filter_map(number).collect())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error).context("cannot read a set of nf_tables"),
        }
    }

    fn change(&self, changes: &[Change]) -> Result<()> {
        self.table
            .commit(changes)
            .context("cannot set up a filter (nf_tables, Linux 5.12)")
    }
}

/// The name of an existing interface.
fn name(index: u32) -> Option<String> {
    let name = if_indextoname(index).ok()?.into_string().ok()?;
    // For an unknown index, nix returns an empty name.
    (!name.is_empty()).then_some(name)
}

/// A lock for changing the tables of a namespace: a separate table, which belongs to a socket and so vanishes with its
/// holder, however that ends.
#[derive(Debug)]
pub struct Turn {
    _table: Table,
}

impl Turn {
    /// Waits for it.
    ///
    /// # Errors
    /// Without root or nf_tables; after ten seconds.
    pub fn take() -> Result<Self> {
        const TIMEOUT: Duration = Duration::from_secs(10);
        const POLL_INTERVAL: Duration = Duration::from_millis(5);
        let began = Instant::now();
        let table = Table::new(Version::V4.family(), "tidegate-link-turn");
        let table = table.context("cannot open a netfilter netlink socket")?;
        loop {
            match table.commit(&[table.create()]) {
                Ok(()) => return Ok(Self { _table: table }),
                Err(error)
                    if began.elapsed() < TIMEOUT
                        && (error.kind() == io::ErrorKind::AlreadyExists
                            || error.kind() == io::ErrorKind::PermissionDenied) =>
                {
                    std::thread::sleep(POLL_INTERVAL);
                }
                Err(error) => {
                    return Err(error).context("cannot make a table of nf_tables (Linux 5.12)");
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
