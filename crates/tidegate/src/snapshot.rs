//! What a running agent reports: the protocol between `tidegate run` and `tidegate top`.

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

/// Raised when a field changes its meaning or is removed. New fields and new words may be added at any time: a `top`
/// older than its agent says so and ends.
pub const VERSION: u32 = 3;

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

/// The agent's whole state at one moment.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Snapshot {
    /// The format's version, [`VERSION`].
    pub version: u32,
    /// When, µs of CLOCK_MONOTONIC.
    pub at_us: u64,
    /// The agent.
    pub agent: About,
    /// What was done with packets, by reason.
    pub counts: Vec<Count>,
    /// The interfaces, by direction, and their groups of flows.
    pub paths: Vec<PathView>,
    /// How full the tables of flows are.
    #[serde(default)]
    pub tables: Vec<TableView>,
    /// The devices that flows belong to, if shares are by device.
    #[serde(default)]
    pub devices: Vec<DeviceView>,
    /// Measured flows.
    pub flows: Vec<FlowView>,
    /// TCP data that are left alone.
    pub left: Vec<LeftView>,
    /// Flows without a window.
    pub windowless: Vec<WindowlessView>,
    /// Totals of the hold; absent without one.
    #[serde(default)]
    pub hold: Option<HoldCounts>,
    /// The account of the last hour, or since the start if that is later.
    #[serde(default)]
    pub account: Account,
}

/// An agent with all that belongs to it.
pub struct AgentService {
    /// The hold and the fallback. Dropped before the agent: the hold's programs share the agent's queues.
    pub windowless: Windowless,
    /// Tells the programs which device each connection belongs to, if shares are by device.
    pub devices: Option<Devices>,
    /// The agent.
    pub agent: Agent,
    /// Its description.
    pub about: About,
    /// Its accounts.
    pub books: Books,
    /// Measures what steering does, if the user lets some time pass unsteered.
    pub compare: Option<Compare>,
    /// The pause that a user has asked for.
    pub pause: Option<Pause>,
}

impl AgentService {
    /// Steers on one more interface; flows without a window are not yet held or turned away there.
    ///
    /// # Errors
    /// If the kernel refuses; then nothing has changed.
    pub fn attach(&mut self, interface: &Interface) -> Result<(), AgentError> {
        let attached = self.agent.attach(interface);
        if attached.is_err() {
            self.agent.release(interface.index);
        }
        self.about.set_places(&self.agent);
        attached
    }

    /// Leaves an interface, which may no longer exist.
    ///
    /// # Errors
    /// If flows without a window cannot be released there.
    pub fn release(&mut self, index: u32) -> Result<()> {
        self.books.leave(&self.agent, index);
        self.agent.release(index);
        self.about.set_places(&self.agent);
        self.windowless.release(index)
    }

    /// Its description now, with the pause if there is one.
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

    /// The account of the last hour.
    pub fn account(&self, now_us: u64) -> Result<Account> {
        let account = self.books.of_late(&self.agent, &self.about, now_us)?;
        Ok(account.with(self.compared(now_us)))
    }

    /// The account of the last day, if hours are marked.
    pub fn account_of_the_day(&self, now_us: u64) -> Result<Account> {
        let account = self.books.of_the_day(&self.agent, &self.about, now_us)?;
        Ok(account.with(self.compared(now_us)))
    }

    /// The account of the last week, if hours are marked.
    pub fn account_of_the_week(&self, now_us: u64) -> Result<Account> {
        let account = self.books.of_the_week(&self.agent, &self.about, now_us)?;
        Ok(account.with(self.compared(now_us)))
    }

    /// The account since the start.
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

/// The process's agent, shared with the threads that show it. After its end they find none.
#[derive(Clone)]
pub struct Shared(Arc<Mutex<Option<AgentService>>>);

impl Shared {
    /// Shares an agent.
    pub fn new(watched: AgentService) -> Self {
        Self(Arc::new(Mutex::new(Some(watched))))
    }

    /// Runs `act` on the agent; none once it has ended.
    pub fn with<T>(&self, act: impl FnOnce(&mut AgentService) -> T) -> Option<T> {
        let mut slot = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        slot.as_mut().map(act)
    }

    /// Takes the agent away from the other threads.
    pub fn end(&self) -> Option<AgentService> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// µs of CLOCK_MONOTONIC, the kernel program's clock.
pub fn now_us() -> u64 {
    now_of(ClockId::CLOCK_MONOTONIC)
}

/// µs of CLOCK_BOOTTIME, which runs on while the machine sleeps.
pub fn now_with_sleep_us() -> u64 {
    now_of(ClockId::CLOCK_BOOTTIME)
}

fn now_of(clock: ClockId) -> u64 {
    let now = clock_gettime(clock).expect("every Linux has this clock");
    now.tv_sec() as u64 * 1_000_000 + now.tv_nsec() as u64 / 1_000
}
