//! Which agent it is, and what it does.

use crate::clock::now_us;
use crate::paused::Paused;
use crate::udp::{Otherwise, Rules, Windowless};
use serde::{Deserialize, Serialize};
use tidegate_agent::{Agent, Config, Direction, Directions, Hook, Interface, Kind};
use tidegate_laws::Law;

/// Identifies an agent and its settings.
#[derive(Clone, Debug, Default, Serialize, Deserialize, PartialEq)]
pub struct About {
    /// Tidegate's version.
    pub version: String,
    /// Process id.
    pub pid: u32,
    /// Inode number of its network namespace.
    #[serde(default)]
    pub namespace: Option<u64>,
    /// The law in force.
    pub law: Law,
    /// Whether it only measures.
    pub dry_run: bool,
    /// The directions that are steered, in words.
    pub directions: String,
    /// `tcx` or `clsact`; `none` while it is on no interface.
    pub hook: String,
    /// What is done with UDP that matches no rule.
    #[serde(default)]
    pub udp: Otherwise,
    /// Whether any UDP may be held.
    #[serde(default)]
    pub holds: bool,
    /// Whether traffic passes unsteered for a moment, to measure the difference.
    #[serde(default)]
    pub passes: bool,
    /// A pause that a user has asked for: nothing is steered, held or turned away.
    #[serde(default)]
    pub paused: Option<Paused>,
    /// Directions that may be held.
    #[serde(default)]
    pub hold_directions: Vec<Direction>,
    /// Kinds that may be held.
    #[serde(default)]
    pub hold_kinds: Vec<Kind>,
    /// Whether shares are by device.
    #[serde(default)]
    pub by_device: bool,
    /// What flowtables hide from the agent, in words, as of its last check.
    #[serde(default)]
    pub hidden: Option<String>,
    /// The interfaces that it is attached to now.
    pub interfaces: Vec<Place>,
    /// Start of the agent, µs of CLOCK_MONOTONIC.
    pub since_us: u64,
}

impl About {
    /// Describes an agent as it is now.
    pub fn of(config: &Config, agent: &Agent, windowless: &Windowless) -> Self {
        let mut about = Self {
            version: env!("CARGO_PKG_VERSION").into(),
            pid: std::process::id(),
            namespace: tidegate_agent::network_namespace().ok(),
            law: config.params.law,
            dry_run: config.dry_run,
            directions: directions_in_words(config).into(),
            by_device: config.by_device,
            since_us: now_us(),
            ..Self::default()
        };
        about.set_udp(windowless.rules());
        about.set_places(agent);
        about
    }

    /// Updates the interfaces and the hook.
    pub fn set_places(&mut self, agent: &Agent) {
        let place = |i: &Interface| Place {
            name: i.name.clone(),
            ifindex: i.index,
        };
        self.interfaces = agent.interfaces().iter().map(place).collect();
        self.hook = agent.hook().map_or("none", Hook::name).into();
    }

    /// Updates what is done with flows without a window.
    pub fn set_udp(&mut self, rules: &Rules) {
        self.udp = rules.otherwise;
        self.hold_directions = rules.held_directions();
        self.hold_kinds = rules.held_kinds();
        self.holds = !self.hold_directions.is_empty();
    }

    /// Whether windows are left unchanged at the moment.
    pub fn lets_pass(&self) -> bool {
        self.passes || self.paused.is_some()
    }

    /// Whether the agent can steer traffic of this kind in this direction.
    pub fn reaches(&self, kind: Kind, direction: Direction) -> bool {
        let held = self.hold_directions.contains(&direction) && self.hold_kinds.contains(&kind);
        held || kind.is_reached(self.law, direction)
    }

    /// What the agent does, in words.
    pub fn in_words(&self) -> String {
        let verb = match (self.law, self.dry_run) {
            (Law::None, _) => "watching",
            (_, true) => "watching (dry run)",
            (_, false) => "steering",
        };
        let paused = self.paused.as_ref();
        let paused = paused.map_or(String::new(), |p| format!("{p}, otherwise "));
        let names: Vec<_> = self.interfaces.iter().map(|i| i.name.as_str()).collect();
        let udp = match (self.udp, self.holds) {
            (Otherwise::Auto, _) => "; HTTP/3 held",
            (Otherwise::Hold, _) if self.hold_directions.contains(&Direction::Up) => {
                "; UDP held, uploads too"
            }
            (Otherwise::Hold, _) => "; UDP held",
            (Otherwise::Fallback, false) => "; QUIC turned away",
            (Otherwise::Fallback, true) => "; QUIC turned away, some UDP held",
            (Otherwise::Leave, true) => "; some UDP held",
            (Otherwise::Leave, false) => "",
        };
        let places = match names[..] {
            [] => format!("on no interface yet with {}", self.law),
            _ => format!(
                "on {} with {}, by {}",
                names.join(", "),
                self.law,
                self.hook
            ),
        };
        let shares = if self.by_device {
            "; shares by device"
        } else {
            ""
        };
        format!("{paused}{verb} {} {places}{udp}{shares}", self.directions)
    }

    /// The name of the interface with this index, which may no longer exist.
    pub fn interface(&self, ifindex: u32) -> String {
        let known = self.interfaces.iter().find(|i| i.ifindex == ifindex);
        known.map_or_else(|| format!("#{ifindex}"), |i| i.name.clone())
    }
}

/// An interface.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq)]
pub struct Place {
    /// Its name.
    pub name: String,
    /// Its index.
    pub ifindex: u32,
}

/// The directions that are steered, in words.
pub fn directions_in_words(config: &Config) -> &'static str {
    match (config.directions, config.params.law.steers_uploads()) {
        (Directions::Both, true) => "downloads and uploads",
        (Directions::Uploads, _) => "uploads",
        (Directions::Downloads, _) | (Directions::Both, false) => "downloads",
    }
}
