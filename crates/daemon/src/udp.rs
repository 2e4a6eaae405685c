//! What is done with traffic without a window: it is held, turned away, or left alone.

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

use anyhow::{Context, Result};
use hold::Hold;
use tidegate_agent::{Agent, Direction, Directions, Interface};
use tidegate_command::exit::BadInput;
use tidegate_gate::Fallback;
use tidegate_linux::rtnetlink::links;
use tidegate_scenario::Udp;

/// Reasons why nothing is held: the hold was not asked for at the start,
const NOT_AT_THE_START: &str =
    "the hold cannot begin while the agent runs, expected it at the start; start the agent anew";
/// all interfaces are ports of bridges, where no packet can be made to wait,
const ON_PORTS: &str =
    "all its interfaces are ports of bridges, and what passes a bridge passes no hook of netfilter";
/// or the kernel lacks what the hold needs.
const CANNOT_HOLD: &str = "cannot hold flows without a window";

/// What the configuration says of flows without a window.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Terms {
    /// The rules: which flows to hold, turn away or leave alone.
    pub rules: Rules,
    /// Where to send the echoes that measure the delay of held flows.
    pub echo: EchoPlace,
    /// Directions that later terms may hold: the hold's programs for them are loaded at the start.
    pub ready: Directions,
}

impl Terms {
    /// The same action for all flows.
    pub fn all(action: impl Into<Otherwise>) -> Self {
        Self {
            rules: Rules::all(action),
            ready: Directions::Both,
            ..Self::default()
        }
    }

    /// The terms in force: unchanged, or nothing at all if `idle`.
    fn or_idle(&self, idle: bool) -> Self {
        let mut terms = self.clone();
        if idle {
            terms.rules = Rules::default();
        }
        terms
    }
}

/// How much of the terms is suspended for a while.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Idle {
    /// Nothing: all terms apply.
    #[default]
    Nothing,
    /// The hold. QUIC is still turned away: clients that have fallen back to TCP stay there.
    Hold,
    /// The hold and turning away.
    All,
}

/// The interfaces where packets can be made to wait. Packets from port to port of a bridge pass no netfilter hook, so a
/// flow there would be signalled but never held.
fn without_ports(interfaces: &[Interface]) -> Vec<Interface> {
    let others = interfaces.iter().filter(|i| !is_port(i));
    others.cloned().collect()
}

/// Whether there are interfaces, and all are ports of bridges.
pub fn are_ports(interfaces: &[Interface]) -> bool {
    !interfaces.is_empty() && interfaces.iter().all(is_port)
}

/// Whether the interface is a bridge's port.
pub fn is_port(interface: &Interface) -> bool {
    let links = links().unwrap_or_default();
    let link = links.iter().find(|link| link.index == interface.index);
    link.is_some_and(|link| link.bridge.is_some())
}

/// The hold and the fallback, in force until this value is dropped.
#[derive(Default)]
pub struct Windowless {
    terms: Terms,
    idle: Idle,
    interfaces: Vec<Interface>,
    ready: Directions,
    // Dropped before the fallback: if the fallback's chains went first, the kernel would drop the packets that wait.
    hold: Option<Hold>,
    fallback: Option<Fallback>,
    /// Why HTTP/3 is not held although the terms allow it.
    missing: Option<String>,
    /// Whether that was logged.
    told: bool,
}

impl Windowless {
    /// Begins beside `agent` on these interfaces of the calling thread's network namespace. A dry run loads everything
    /// and holds nothing. `bell` rings when there are news.
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

    /// Checks whether these terms can come into force now.
    ///
    /// # Errors
    /// If the terms ask for a hold, or for held uploads, that was not made ready at the start.
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

    /// Applies these terms from now on. If any of them cannot be applied, the old ones stay.
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

    /// Applies the terms on one more interface, or on one that has returned.
    ///
    /// # Errors
    /// If the kernel refuses.
    pub fn attach(&mut self, interface: &Interface) -> Result<()> {
        let mut interfaces = self.interfaces.clone();
        interfaces.retain(|known| known.name != interface.name);
        interfaces.push(interface.clone());
        self.set(&self.terms.clone(), &interfaces)
    }

    /// Forgets an interface that is gone.
    ///
    /// # Errors
    /// If the kernel refuses.
    pub fn release(&mut self, index: u32) -> Result<()> {
        let mut interfaces = self.interfaces.clone();
        interfaces.retain(|known| known.index != index);
        self.set(&self.terms.clone(), &interfaces)
    }

    /// Suspends part of the terms from now on, also of terms and interfaces that are set later.
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

    /// Makes the hold as it was, after a failed change.
    fn hold_as_before(&self) {
        if let Some(hold) = &self.hold {
            let _ = hold.set(&self.held(&self.terms), &without_ports(&self.interfaces));
        }
    }

    /// The terms as the hold gets them.
    fn held(&self, terms: &Terms) -> Terms {
        terms.or_idle(self.idle != Idle::Nothing)
    }

    /// Goes on without the hold, unless the rules ask for it by name: then it is an error.
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

    /// The terms without what this machine cannot do.
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

    /// Why HTTP/3 is not held; none if the last call has said so.
    pub fn take_missing(&mut self) -> Option<String> {
        let news = self.missing.clone().filter(|_| !self.told);
        self.told = self.missing.is_some();
        news
    }

    /// The hold's news since the last call.
    pub fn news(&self) -> Vec<News> {
        self.hold.as_ref().map_or_else(Vec::new, Hold::news)
    }

    /// Whether the process that holds packets has ended.
    pub fn is_without_gate(&self) -> bool {
        self.hold.as_ref().is_some_and(Hold::is_without_gate)
    }

    /// Starts another one in its place.
    ///
    /// # Errors
    /// If the kernel refuses; then UDP is left alone as before.
    pub fn start_gate_again(&self) -> Result<()> {
        self.hold.as_ref().map_or(Ok(()), Hold::start_gate_again)
    }

    /// The hold's state now; none without a hold.
    pub fn watch(&self) -> Option<HoldSnapshot> {
        self.hold.as_ref().map(Hold::watch)
    }

    /// The rules in force.
    pub fn rules(&self) -> &Rules {
        &self.terms.rules
    }
}
