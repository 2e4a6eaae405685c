//! The agent: it loads the kernel programs, changes their settings and reads their maps. Each file in `agent/` has one
//! of these tasks.

mod connections;
mod cost;
mod counts;
mod interfaces;
mod load;
mod pins;
mod queues;
mod records;
mod settings;

pub use cost::{Cost, count_program_time};
pub use interfaces::begin_tally;
pub(crate) use records::bytes;
pub use settings::{configure, set_rules};

use crate::attach::{Attacher, Attachment, Place};
use crate::skeleton::AgentSkel;
use crate::support::require;
use crate::{
    AgentError, Directions, Histograms, Hook, Interface, LinkLayer, Owners, Rules, tables,
};
use libbpf_rs::ProgramMut;
use load::load;
use pins::Pins;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Mutex;
use tidegate_laws::Params;

/// The agent's configuration.
#[derive(Clone, Debug, Default)]
pub struct Config {
    /// Interfaces to attach to.
    pub interfaces: Vec<Interface>,
    /// The law and its parameters.
    pub params: Params,
    /// Which data are steered.
    pub directions: Directions,
    /// Which flows are steered.
    pub rules: Rules,
    /// Shares are by device: the programs have to be told which device each connection belongs to ([`Agent::owners`]).
    pub by_device: bool,
    /// Measure and compute, but leave every packet as it is.
    pub dry_run: bool,
    /// How to attach.
    pub hook: Hook,
    /// Connections that the tables hold; if absent, as many as suit the machine's memory. The kernel sets aside about
    /// 4.5 kB for each; a further connection takes the place of the least recently seen.
    pub connections: Option<u32>,
}

/// The kernel programs, loaded and attached; detached and unloaded when dropped.
pub struct Agent {
    skeleton: AgentSkel<'static>,
    directions: Directions,
    by_device: bool,
    connections: u32,
    attacher: Attacher,
    /// In force.
    rules: Rules,
    /// `rules` with the control groups of the units that ran at the last look.
    followed: Rules,
    /// That it is attached to.
    interfaces: Vec<Interface>,
    // Dropped before the skeleton's programs would matter: a link holds its own reference.
    attachments: Vec<(Place, Attachment)>,
    pins: Option<Pins>,
    _statistics: Option<OwnedFd>,
    /// The histograms as they were last reported: their counts never fall.
    told: Mutex<[Histograms; 2]>,
}

impl Agent {
    /// Loads the program and attaches it. On failure nothing stays behind.
    ///
    /// Interfaces are those of the calling thread's network namespace.
    pub fn start(config: &Config) -> Result<Self, AgentError> {
        require()?;
        let connections = tables::connections(config.connections)?;
        let mut agent = Self {
            skeleton: load(config, connections)?,
            directions: config.directions,
            by_device: config.by_device,
            connections,
            attacher: Attacher::new(config.hook),
            rules: config.rules.clone(),
            followed: Rules::default(),
            interfaces: Vec::new(),
            attachments: Vec::new(),
            pins: None,
            _statistics: None,
            told: Mutex::default(),
        };
        agent.configure(&config.params, config.dry_run);
        set_rules(&mut agent.skeleton, &config.rules, &[])?;
        for interface in &config.interfaces {
            agent.attach(interface)?;
        }
        Ok(agent)
    }

    /// Applies `config` if all of it is possible; otherwise nothing changes. Flows keep their measurements. Directions,
    /// tables and hook stay those of the start.
    pub fn reload(&mut self, config: &Config) -> Result<(), AgentError> {
        if config.directions != self.directions {
            return Err(AgentError::OtherDirections);
        }
        if config.by_device != self.by_device {
            return Err(AgentError::OtherShares);
        }
        if tables::connections(config.connections)? != self.connections {
            return Err(AgentError::OtherTables(self.connections));
        }
        let before = self.interfaces.clone();
        let new = |i: &&Interface| before.iter().all(|known| known.index != i.index);
        let mut added = Vec::new();
        let mut changed = Ok(());
        for interface in config.interfaces.iter().filter(new) {
            if changed.is_ok() {
                added.push(interface.index);
                changed = self.attach(interface);
            }
        }
        let set =
            |agent: &mut Self| set_rules(&mut agent.skeleton, &config.rules, &agent.interfaces);
        if let Err(error) = changed.and_then(|()| set(self)) {
            self.remove(&added);
            return Err(error);
        }
        self.rules.clone_from(&config.rules);
        self.configure(&config.params, config.dry_run);
        let wanted = |index: &u32| config.interfaces.iter().any(|i| i.index == *index);
        let gone = before.iter().map(|i| i.index).filter(|i| !wanted(i));
        self.remove(&gone.collect::<Vec<_>>());
        Ok(())
    }

    /// Tells the programs which device each connection belongs to.
    ///
    /// # Errors
    /// If the kernel refuses.
    pub fn owners(&self) -> Result<Owners, AgentError> {
        Owners::new(&self.skeleton)
    }

    /// The map of downlink queues, for the hold's programs.
    pub(crate) fn paths_map(&self) -> BorrowedFd<'_> {
        self.skeleton.maps.paths.as_fd()
    }

    /// The map of uplink queues, for the hold's programs.
    pub(crate) fn uplinks_map(&self) -> BorrowedFd<'_> {
        self.skeleton.maps.uplinks.as_fd()
    }

    /// The map of what is known of flows without a window.
    pub(crate) fn windowless_map(&self) -> BorrowedFd<'_> {
        self.skeleton.maps.windowless.as_fd()
    }

    /// The map of how queueing delays and windows were distributed.
    pub(crate) fn histograms_map(&self) -> BorrowedFd<'_> {
        self.skeleton.maps.histograms.as_fd()
    }

    /// Attaches its programs, and the hold's.
    pub(crate) fn attacher(&self) -> &Attacher {
        &self.attacher
    }

    /// The programs that see arriving and leaving packets.
    pub(crate) fn programs(&self, link: LinkLayer) -> [&ProgramMut<'static>; 2] {
        let progs = &self.skeleton.progs;
        match link {
            LinkLayer::Ethernet => [&progs.ethernet_arrives, &progs.ethernet_leaves],
            LinkLayer::PlainIp => [&progs.ip_arrives, &progs.ip_leaves],
        }
    }
}
