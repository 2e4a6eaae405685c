//! What becomes of traffic without a window: held, turned away, or left alone.

mod controller;
mod echoes;
mod gate;
mod hold;
mod rules;
mod turns;
mod view;

pub use controller::News;
pub use gate::run as run_gate;
#[cfg(test)]
pub use rules::Sort;
pub use rules::{EchoPlace, Otherwise, Rule, Rules};
pub use view::{HoldCounts, HoldSnapshot};

use crate::exit::BadInput;
use anyhow::{Context, Result};
use hold::Hold;
use tidegate_agent::{Agent, Direction, Directions, Interface};
use tidegate_gate::Fallback;
use tidegate_rtnetlink::links;
use tidegate_scenario::Udp;

/// Why nothing is held: nobody asked for it in time,
const NOT_AT_THE_START: &str =
    "the hold cannot begin while the agent runs, expected it at the start; start the agent anew";
/// or it is nowhere where anything could wait;
const ON_PORTS: &str =
    "all its interfaces are ports of bridges, and what passes a bridge passes no hook of netfilter";
/// or the kernel lacks what is needed.
const CANNOT_HOLD: &str = "cannot hold flows without a window";

/// What is to become of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Terms {
    /// Of which flows.
    pub rules: Rules,
    /// Where echoes go that tell the delay of what is held.
    pub echo: EchoPlace,
    /// What later terms may hold, for which the hold's programs are made ready at the start.
    pub ready: Directions,
}

impl Terms {
    /// The same for all.
    pub fn all(action: impl Into<Otherwise>) -> Self {
        Self {
            rules: Rules::all(action),
            ready: Directions::Both,
            ..Self::default()
        }
    }

    /// What is in force where nothing may be changed.
    fn or_idle(&self, idle: bool) -> Self {
        let mut terms = self.clone();
        if idle {
            terms.rules = Rules::default();
        }
        terms
    }
}

/// What is not done for a while of what the terms say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Idle {
    /// All is done.
    #[default]
    Nothing,
    /// Nothing is held. What is turned away stays so: who came over TCP stays there.
    Hold,
    /// Nothing is held or turned away.
    All,
}

/// Those where packets can be made to wait: what passes from port to port of a bridge passes no hook of netfilter, so a flow
/// there would be signalled, and never held.
fn without_ports(interfaces: &[Interface]) -> Vec<Interface> {
    let others = interfaces.iter().filter(|i| !is_port(i));
    others.cloned().collect()
}

/// Whether there is an interface, and each is a bridge's port.
pub fn are_ports(interfaces: &[Interface]) -> bool {
    !interfaces.is_empty() && interfaces.iter().all(is_port)
}

/// Whether the interface is a bridge's port.
pub fn is_port(interface: &Interface) -> bool {
    let links = links().unwrap_or_default();
    let link = links.iter().find(|link| link.index == interface.index);
    link.is_some_and(|link| link.bridge.is_some())
}

/// What is done to it, until this value is dropped.
#[derive(Default)]
pub struct Windowless {
    terms: Terms,
    idle: Idle,
    interfaces: Vec<Interface>,
    ready: Directions,
    // Before the fallback: were its chains to go first, the kernel would drop what waits.
    hold: Option<Hold>,
    fallback: Option<Fallback>,
    /// Why HTTP/3 is not held that would have been.
    missing: Option<String>,
    /// Whether somebody has been told.
    told: bool,
}

impl Windowless {
    /// Begins, beside `agent`, on these interfaces of the calling thread's network namespace. In a dry run all is made
    /// ready and nothing done. `bell` rings when there are news.
    ///
    /// # Errors
    /// If the kernel lacks what is needed.
    pub fn start(
        terms: &Terms,
        dry_run: bool,
        agent: &Agent,
        interfaces: &[Interface],
        bell: impl Fn() + Send + 'static,
    ) -> Result<Self> {
        let mut windowless = Self {
            ready: terms.ready,
            ..Self::default()
        };
        if terms.rules.may(Udp::Hold) {
            match Hold::start(agent, terms.ready, bell).context(CANNOT_HOLD) {
                Ok(hold) => windowless.hold = Some(hold),
                Err(error) => windowless.do_without(&terms.rules, error)?,
            }
        }
        windowless.set(&terms.or_idle(dry_run), interfaces)?;
        Ok(windowless)
    }

    /// Whether it could do that from now on.
    ///
    /// # Errors
    /// If the hold is asked for and was not at the start, when what it takes could still be had.
    pub fn require(&self, terms: &Terms) -> Result<()> {
        if terms.rules.ask_for_hold() && self.hold.is_none() {
            let message = "udp \"hold\" cannot begin while the agent runs, expected it at the start; start it anew";
            return Err(BadInput(message.into()).into());
        }
        let uploads = terms.rules.may_hold(Direction::Up);
        if uploads && self.hold.is_some() && !self.ready.include(Direction::Up) {
            let message = "uploads cannot be held from now on, expected udp_hold \"both\" or a rule for uploads at the start; start it anew";
            return Err(BadInput(message.into()).into());
        }
        Ok(())
    }

    /// Does that from now on, if all of it can be done; else all stays as it was.
    ///
    /// # Errors
    /// If the kernel refuses.
    pub fn change(&mut self, terms: &Terms, dry_run: bool, interfaces: &[Interface]) -> Result<()> {
        self.require(terms)?;
        if terms.rules.otherwise == Otherwise::Auto && self.hold.is_none() {
            self.missing
                .get_or_insert_with(|| NOT_AT_THE_START.to_owned());
        }
        self.set(&terms.or_idle(dry_run), interfaces)
    }

    /// Does the same on one more interface, or on one that has returned.
    ///
    /// # Errors
    /// If the kernel refuses.
    pub fn attach(&mut self, interface: &Interface) -> Result<()> {
        let mut interfaces = self.interfaces.clone();
        interfaces.retain(|known| known.name != interface.name);
        interfaces.push(interface.clone());
        self.set(&self.terms.clone(), &interfaces)
    }

    /// Lets go of what it did on an interface that is gone.
    ///
    /// # Errors
    /// If the kernel refuses.
    pub fn release(&mut self, index: u32) -> Result<()> {
        let mut interfaces = self.interfaces.clone();
        interfaces.retain(|known| known.index != index);
        self.set(&self.terms.clone(), &interfaces)
    }

    /// Does so much less from now on, also where later terms or interfaces would have more done.
    ///
    /// # Errors
    /// If the kernel refuses; then all stays as it was.
    pub fn set_idle(&mut self, idle: Idle) -> Result<()> {
        let before = std::mem::replace(&mut self.idle, idle);
        let (terms, interfaces) = (self.terms.clone(), self.interfaces.clone());
        self.set(&terms, &interfaces).inspect_err(|_| {
            self.idle = before;
            self.hold_as_before();
        })
    }

    /// After something was refused.
    fn hold_as_before(&self) {
        if let Some(hold) = &self.hold {
            let _ = hold.set(&self.held(&self.terms), &without_ports(&self.interfaces));
        }
    }

    /// What these terms come to for the hold.
    fn held(&self, terms: &Terms) -> Terms {
        terms.or_idle(self.idle != Idle::Nothing)
    }

    /// The hold cannot be had: no reason to end, unless somebody asked for it by name.
    fn do_without(&mut self, rules: &Rules, error: anyhow::Error) -> Result<()> {
        if rules.ask_for_hold() {
            return Err(error);
        }
        self.hold = None;
        self.missing = Some(format!("{error:#}").replace('\n', " "));
        Ok(())
    }

    fn set(&mut self, terms: &Terms, interfaces: &[Interface]) -> Result<()> {
        if let Some(hold) = &self.hold
            && let Err(error) = hold.set(&self.held(terms), &without_ports(interfaces))
        {
            self.do_without(
                &terms.rules,
                anyhow::Error::from(error).context(CANNOT_HOLD),
            )?;
        }
        if self.hold.is_some() && terms.rules.may(Udp::Hold) && are_ports(interfaces) {
            self.missing.get_or_insert_with(|| ON_PORTS.to_owned());
        }
        let terms = &self.possible(terms);
        let turned = terms.or_idle(self.idle == Idle::All);
        if let Err(error) = self.turn_away(&turned.rules, interfaces) {
            self.hold_as_before();
            return Err(error.context("cannot turn QUIC away"));
        }
        self.terms = terms.clone();
        self.interfaces = interfaces.to_vec();
        Ok(())
    }

    /// These terms, as far as they can be had.
    fn possible(&self, terms: &Terms) -> Terms {
        let mut terms = terms.clone();
        if self.hold.is_none() {
            terms.rules.give_up_hold();
        }
        terms
    }

    fn turn_away(&mut self, rules: &Rules, interfaces: &[Interface]) -> Result<()> {
        let choices = match rules.may(Udp::Fallback) {
            true => rules.choices(interfaces),
            false => Vec::new(),
        };
        match &mut self.fallback {
            Some(fallback) => fallback.set(&choices)?,
            None if choices.is_empty() => {}
            None => self.fallback = Some(Fallback::new(&choices)?),
        }
        Ok(())
    }

    /// Why HTTP/3 is not held, for whoever has not been told.
    pub fn take_missing(&mut self) -> Option<String> {
        let news = self.missing.clone().filter(|_| !self.told);
        self.told = self.missing.is_some();
        news
    }

    /// What has happened since the last call.
    pub fn news(&self) -> Vec<News> {
        self.hold.as_ref().map_or_else(Vec::new, Hold::news)
    }

    /// What the hold knows and does now; none without it.
    pub fn watch(&self) -> Option<HoldSnapshot> {
        self.hold.as_ref().map(Hold::watch)
    }

    /// What is in force now.
    pub fn rules(&self) -> &Rules {
        &self.terms.rules
    }
}
