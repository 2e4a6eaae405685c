//! What a running agent tells of itself: the protocol between `tidegate run` and `tidegate top`.

use crate::account::{Account, Books};
use crate::compare::{Compare, Compared};
use crate::devices::{DeviceView, Devices};
use crate::run::pause::{Pause, Paused};
use crate::udp::{HoldCounts, Otherwise, Rules, Windowless};
use anyhow::Result;
use nix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};
use std::sync::{Arc, Mutex, PoisonError};
use tidegate_agent::{
    Agent, AgentError, Count, Direction, FlowView, Hook, Interface, Kind, LeftView, PathView,
    TableView, WindowlessView,
};
use tidegate_laws::Law;

/// Raised when a field changes its meaning or goes. New fields may come at any time, and new words: a
/// `top` that is older than its agent says so and ends.
pub const VERSION: u32 = 3;

/// Which agent it is.
#[derive(Clone, Debug, Default, Serialize, Deserialize, PartialEq)]
pub struct About {
    /// Of Tidegate.
    pub version: String,
    /// Process.
    pub pid: u32,
    /// Its network namespace, by the number of its inode.
    #[serde(default)]
    pub namespace: Option<u64>,
    /// The law in force.
    pub law: Law,
    /// Measures, and changes nothing.
    pub dry_run: bool,
    /// What is steered, in words.
    pub directions: String,
    /// `tcx` or `clsact`; `none` while it is on no interface.
    pub hook: String,
    /// What becomes of UDP that no rule is about.
    #[serde(default)]
    pub udp: Otherwise,
    /// Whether any of it may be held.
    #[serde(default)]
    pub holds: bool,
    /// Nothing is steered for a moment, so that the difference can be told.
    #[serde(default)]
    pub passes: bool,
    /// Nothing is steered, held or turned away for a while, as somebody has asked for.
    #[serde(default)]
    pub paused: Option<Paused>,
    /// Which of it: downloads, uploads.
    #[serde(default)]
    pub hold_directions: Vec<Direction>,
    /// And which kinds.
    #[serde(default)]
    pub hold_kinds: Vec<Kind>,
    /// Whether shares are by device.
    #[serde(default)]
    pub by_device: bool,
    /// What flowtables hide from it, in words, as far as it has looked.
    #[serde(default)]
    pub hidden: Option<String>,
    /// To what it is attached now.
    pub interfaces: Vec<Place>,
    /// Start, µs of CLOCK_MONOTONIC.
    pub since_us: u64,
}

impl About {
    /// Where the agent is now, and by which hook.
    pub fn set_places(&mut self, agent: &Agent) {
        let place = |i: &Interface| Place {
            name: i.name.clone(),
            ifindex: i.index,
        };
        self.interfaces = agent.interfaces().iter().map(place).collect();
        self.hook = agent.hook().map_or("none", Hook::name).into();
    }

    /// What becomes of flows without a window now.
    pub fn set_udp(&mut self, rules: &Rules) {
        self.udp = rules.otherwise;
        self.hold_directions = rules.held_directions();
        self.hold_kinds = rules.held_kinds();
        self.holds = !self.hold_directions.is_empty();
    }

    /// Whether windows are left as they are for a while.
    pub fn lets_pass(&self) -> bool {
        self.passes || self.paused.is_some()
    }

    /// Whether what goes `direction` and is of that kind can be steered as the agent is set.
    pub fn reaches(&self, kind: Kind, direction: Direction) -> bool {
        let held = self.hold_directions.contains(&direction) && self.hold_kinds.contains(&kind);
        held || kind.is_reached(self.law, direction)
    }

    /// The name of the interface with this index, which may have gone.
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

/// Everything at one moment.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Snapshot {
    /// Of this format, [`VERSION`].
    pub version: u32,
    /// When, µs of CLOCK_MONOTONIC.
    pub at_us: u64,
    /// Whose.
    pub agent: About,
    /// What became of the packets.
    pub counts: Vec<Count>,
    /// The interfaces, by direction, and their groups of flows.
    pub paths: Vec<PathView>,
    /// How full the tables of flows are.
    #[serde(default)]
    pub tables: Vec<TableView>,
    /// The devices whose flows these are, where shares are by device.
    #[serde(default)]
    pub devices: Vec<DeviceView>,
    /// Flows that are measured.
    pub flows: Vec<FlowView>,
    /// TCP's data that are left alone.
    pub left: Vec<LeftView>,
    /// Flows that have no window.
    pub windowless: Vec<WindowlessView>,
    /// What the hold has done; absent without it.
    #[serde(default)]
    pub hold: Option<HoldCounts>,
    /// What was done in the last hour, or since the start if that is less.
    #[serde(default)]
    pub account: Account,
}

/// An agent, and what is to be said about it.
pub struct AgentService {
    /// What becomes of traffic without a window. Before the agent, whose queues its programs share.
    pub windowless: Windowless,
    /// Where shares are by device, who tells the programs whose connections are.
    pub devices: Option<Devices>,
    /// The agent.
    pub agent: Agent,
    /// As it is now.
    pub about: About,
    /// What it has done.
    pub books: Books,
    /// What steering does, where the user lets that be told.
    pub compare: Option<Compare>,
    /// The pause that somebody has asked for.
    pub pause: Option<Pause>,
}

impl AgentService {
    /// Steers on one more interface; what has no window is not looked after there yet.
    ///
    /// # Errors
    /// If the kernel refuses; then all is as it was.
    pub fn attach(&mut self, interface: &Interface) -> Result<(), AgentError> {
        let attached = self.agent.attach(interface);
        if attached.is_err() {
            self.agent.release(interface.index);
        }
        self.about.set_places(&self.agent);
        attached
    }

    /// Leaves an interface, which may be gone.
    ///
    /// # Errors
    /// If what has no window cannot be let go there.
    pub fn release(&mut self, index: u32) -> Result<()> {
        self.books.leave(&self.agent, index);
        self.agent.release(index);
        self.about.set_places(&self.agent);
        self.windowless.release(index)
    }

    /// What it is, and whether it rests.
    pub fn about_now(&self) -> About {
        About {
            paused: self.pause.map(Pause::view),
            ..self.about.clone()
        }
    }

    /// Its state now.
    pub fn snapshot(&self) -> Result<Snapshot> {
        let at_us = now_us();
        let flows = self.agent.flows();
        let mut paths = self.agent.paths(&flows, at_us);
        let mut windowless = self.agent.windowless();
        let hold = self.windowless.watch();
        if let Some(hold) = &hold {
            hold.explain(&mut windowless, at_us);
            hold.count_in(&mut paths, at_us);
        }
        Ok(Snapshot {
            version: VERSION,
            at_us,
            agent: self.about_now(),
            counts: self.agent.counts()?,
            tables: self.agent.tables(&flows)?,
            paths,
            devices: self.devices_of(&flows),
            flows,
            left: self.agent.left(),
            windowless,
            hold: hold.map(|hold| hold.counts),
            account: self.account(at_us)?,
        })
    }

    fn devices_of(&self, flows: &[FlowView]) -> Vec<DeviceView> {
        let numbers = flows.iter().filter_map(|flow| flow.device).collect();
        let view = |devices: &Devices| devices.view(&numbers);
        self.devices.as_ref().map(view).unwrap_or_default()
    }

    /// What was done of late.
    pub fn account(&self, now_us: u64) -> Result<Account> {
        let account = self.books.of_late(&self.agent, &self.about, now_us)?;
        Ok(account.with(self.compared(now_us)))
    }

    /// What was done in the last day, if hours are marked.
    pub fn account_of_the_day(&self, now_us: u64) -> Result<Account> {
        let account = self.books.of_the_day(&self.agent, &self.about, now_us)?;
        Ok(account.with(self.compared(now_us)))
    }

    /// What was done in the last week, if hours are marked.
    pub fn account_of_the_week(&self, now_us: u64) -> Result<Account> {
        let account = self.books.of_the_week(&self.agent, &self.about, now_us)?;
        Ok(account.with(self.compared(now_us)))
    }

    /// What was done in all.
    pub fn whole_account(&self, now_us: u64) -> Result<Account> {
        let account = self.books.in_all(&self.agent, &self.about, now_us)?;
        Ok(account.with(self.compared(now_us)))
    }

    fn compared(&self, now_us: u64) -> [Option<Compared>; 2] {
        self.compare
            .as_ref()
            .map(|compare| compare.found(now_us))
            .unwrap_or_default()
    }
}

/// The one agent of a process, for the threads that show it. When it ends they find nothing.
#[derive(Clone)]
pub struct Shared(Arc<Mutex<Option<AgentService>>>);

impl Shared {
    /// Takes it over.
    pub fn new(watched: AgentService) -> Self {
        Self(Arc::new(Mutex::new(Some(watched))))
    }

    /// Does something with it; nothing once it has ended.
    pub fn with<T>(&self, act: impl FnOnce(&mut AgentService) -> T) -> Option<T> {
        let mut slot = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        slot.as_mut().map(act)
    }

    /// Takes it away from the threads that show it.
    pub fn end(&self) -> Option<AgentService> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// µs of CLOCK_MONOTONIC, the kernel program's clock.
pub fn now_us() -> u64 {
    now_of(ClockId::CLOCK_MONOTONIC)
}

/// µs of CLOCK_BOOTTIME, which goes on while the machine sleeps.
pub fn now_with_sleep_us() -> u64 {
    now_of(ClockId::CLOCK_BOOTTIME)
}

fn now_of(clock: ClockId) -> u64 {
    let now = clock_gettime(clock).expect("every Linux has this clock");
    now.tv_sec() as u64 * 1_000_000 + now.tv_nsec() as u64 / 1_000
}
