//! An agent with all that belongs to it, in the process that runs it.

use crate::about::About;
use crate::account::{Account, Books};
use crate::clock::now_us;
use crate::compare::{Compare, Compared};
use crate::config::named;
use crate::devices::{DeviceView, Devices};
use crate::lock::{self, Lock};
use crate::paused::Pause;
use crate::snapshot::{Snapshot, VERSION};
use crate::udp::Windowless;
use anyhow::Result;
use std::sync::{Arc, Mutex, PoisonError};
use tidegate_agent::{Agent, AgentError, Config, FlowView, Interface, leftovers, require};
use tidegate_command::exit::BadInput;

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

/// An agent that watches these interfaces, or those of the default routes, and changes nothing. It takes the lock as
/// every agent does, and is refused where an agent left its programs pinned: it would replace them.
pub fn watcher(interfaces: &[String]) -> Result<(AgentService, Lock)> {
    require()?;
    let lock = lock::take()?;
    if !leftovers()?.is_empty() {
        let message = "an agent without a process steers here, expected `tidegate run` to take over or `tidegate stop`";
        return Err(BadInput(message.into()).into());
    }
    let wanted = named(interfaces)?;
    let config = Config {
        interfaces: wanted.find()?.at_least_one(&wanted)?,
        dry_run: true,
        ..Config::default()
    };
    let agent = Agent::start(&config)?;
    let windowless = Windowless::default();
    let about = About::of(&config, &agent, &windowless);
    let mut books = Books::default();
    books.begin(now_us());
    let watched = AgentService {
        windowless,
        devices: None,
        agent,
        about,
        books,
        compare: None,
        pause: None,
    };
    Ok((watched, lock))
}
