//! Follows the flows that have records: sends a flow's packets through the gate while any may have to wait, takes flows
//! away that are gone or have no measured delay, and sends the echoes that measure it.

use super::echoes::Echoes;
use super::rules::Sort;
use super::turns::{EchoRequest, Turns};
use super::view::{HoldSnapshot, Seen};
use super::{HoldCounts, Terms};
use crate::clock::now_us;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use std::collections::{BTreeSet, HashMap};
use std::io;
use std::net::IpAddr;
use std::os::fd::{AsFd, OwnedFd};
use tidegate_agent::{AgentError, Candidate, Direction, HoldPrograms, Holding, Interface};
use tidegate_gate::{Counts, Flow, FlowCounts, Gate, GateError};
use tidegate_scenario::Udp;

/// In µs: how long after its last packet a flow is still measured by echoes, and still kept at the gate.
const ASK_IDLE_US: u64 = 1_000_000;
const GATE_IDLE_US: u64 = 8_000_000;

/// How long a flow with data may be without an answer to its echoes, in µs. An answer that stands in a long queue is
/// late, but the next ones keep coming.
const SILENCE_US: u64 = 3_000_000;

/// How often we send an echo for a flow without answers, in µs.
const RETRY_US: u64 = 1_000_000;

/// How often we check that the gate still answers, in µs.
const GATE_ASK_US: u64 = 1_000_000;

/// News that are kept between two calls; a reader would not want more.
const NEWS: usize = 256;

/// What has happened to a flow for the first time, or to the gate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct News {
    /// The flow; none: the gate.
    pub flow: Option<Flow>,
    /// Which way its data go.
    pub direction: Direction,
    /// The interface's name.
    pub interface: String,
    /// What has happened.
    pub state: Holding,
    /// Why the gate is lost, if it is.
    pub cause: Option<String>,
}

/// A flow that may be held.
struct Tracked {
    since_us: u64,
    flow: Flow,
    direction: Direction,
    /// Whether its echoes are answered, and the law may hold it.
    steered: bool,
    /// Whether its packets go through the gate.
    gated: bool,
    /// Since when we send echoes for it, while we do.
    asked_from_us: Option<u64>,
    /// The record's count of signalled packets that is already in the total.
    signalled: u32,
    reported: BTreeSet<Holding>,
}

/// The hold: the programs, the gate, and the flows they hold.
pub struct Controller {
    // Drop order: first the gate lets waiting packets go, then the programs are detached.
    gate: Gate,
    held: HoldPrograms,
    echoes: Echoes,
    terms: Terms,
    /// The interfaces and directions where the programs are.
    on: Vec<(Interface, Direction)>,
    /// By place in the table of records.
    tracked: HashMap<usize, Tracked>,
    turns: Turns,
    /// When we last checked that the gate answers.
    gate_asked_us: u64,
    /// Whether the gate's process has ended.
    gate_gone: bool,
    /// What became of packets at gates before this one.
    before: Counts,
    counts: HoldCounts,
    news: Vec<News>,
}

impl Controller {
    pub fn new(gate: Gate, held: HoldPrograms, echoes: Echoes) -> Self {
        Self {
            gate,
            held,
            echoes,
            terms: Terms::default(),
            on: Vec::new(),
            tracked: HashMap::new(),
            turns: Turns::default(),
            gate_asked_us: 0,
            gate_gone: false,
            before: Counts::default(),
            counts: HoldCounts::default(),
            news: Vec::new(),
        }
    }

    /// Takes this gate in place of one that has ended, on the same interfaces.
    ///
    /// # Errors
    /// If the programs cannot be attached again; then the hold stays without a gate.
    pub fn take_gate(&mut self, gate: Gate) -> Result<(), AgentError> {
        let on = std::mem::take(&mut self.on);
        let attached = self.attach(&on);
        self.on = on;
        attached?;
        self.gate = gate;
        self.gate_gone = false;
        self.gate_asked_us = 0;
        self.before = self.counts.gate;
        Ok(())
    }

    /// Whether the gate's process has ended.
    pub fn is_without_gate(&self) -> bool {
        self.gate_gone
    }

    /// The descriptors that a gate's process needs.
    ///
    /// # Errors
    /// If the process has too many files open.
    pub fn descriptors(&self) -> io::Result<[OwnedFd; 2]> {
        let [records, lease] = self.held.descriptors();
        Ok([records.try_clone_to_owned()?, lease.try_clone_to_owned()?])
    }

    /// Applies these terms from now on, on the interfaces where they may hold a flow.
    pub fn set(&mut self, terms: &Terms, interfaces: &[Interface]) -> Result<(), AgentError> {
        let of = |direction| {
            let wanted = move |i: &&Interface| terms.rules.may_hold_on(&i.name, direction);
            let wanted = interfaces.iter().filter(wanted).cloned();
            wanted.map(move |interface| (interface, direction))
        };
        let wanted: Vec<_> = Direction::ALL.into_iter().flat_map(of).collect();
        if !self.gate_gone {
            self.attach(&wanted)?;
        }
        self.on = wanted;
        self.terms = terms.clone();
        self.held.expect_answers_of(terms.echo.address());
        Ok(())
    }

    /// Attaches the programs to these interfaces and to no others. If that fails, they stay where they were.
    fn attach(&mut self, wanted: &[(Interface, Direction)]) -> Result<(), AgentError> {
        let places = |of: &[(Interface, Direction)]| {
            let places = of.iter().map(|(i, direction)| (i.index, *direction));
            places.collect::<BTreeSet<_>>()
        };
        let (before, after) = (places(&self.on), places(wanted));
        let new = wanted
            .iter()
            .filter(|(i, direction)| !before.contains(&(i.index, *direction)));
        for (interface, direction) in new {
            if let Err(error) = self.held.attach(interface, *direction) {
                for (index, direction) in after.difference(&before) {
                    self.held.release(*index, *direction);
                }
                return Err(error);
            }
        }
        for (index, direction) in before.difference(&after) {
            self.held.release(*index, *direction);
        }
        Ok(())
    }

    /// Looks at every record. False while there is no gate.
    pub fn step(&mut self) -> bool {
        if self.gate_gone {
            return false;
        }
        let now_us = now_us();
        let candidates = self.held.records().candidates();
        // Without a gate nothing is held, and the law, once it knows, signals no flow.
        if let Err(error) = self.serve(&candidates, now_us) {
            self.lose_gate(&error);
            return false;
        }
        self.held.renew(now_us);
        self.ask(&candidates, now_us);
        self.note();
        true
    }

    /// Has the gate do what the records ask for, if it still answers.
    fn serve(&mut self, candidates: &[Candidate], now_us: u64) -> Result<(), GateError> {
        if self.has_hung_up() {
            return Err(GateError::Gone(io::ErrorKind::UnexpectedEof.into()));
        }
        self.check_answer(now_us)?;
        self.keep(candidates, now_us)
    }

    fn has_hung_up(&self) -> bool {
        let mut gate = [PollFd::new(self.gate.as_fd(), PollFlags::empty())];
        // If poll was interrupted, the next step will see it.
        let _ = poll(&mut gate, PollTimeout::ZERO);
        let seen = gate[0].revents().unwrap_or(PollFlags::empty());
        seen.intersects(PollFlags::POLLHUP | PollFlags::POLLERR)
    }

    /// An error if the gate no longer answers: a gate that does not run would let packets wait for ever.
    fn check_answer(&mut self, now_us: u64) -> Result<(), GateError> {
        if !self.tracked.values().any(|tracked| tracked.gated)
            || now_us.saturating_sub(self.gate_asked_us) < GATE_ASK_US
        {
            return Ok(());
        }
        self.gate_asked_us = now_us;
        self.counts.gate = self.before.and(self.gate.counts()?);
        Ok(())
    }

    fn lose_gate(&mut self, error: &GateError) {
        self.let_go();
        for (interface, direction) in &self.on {
            self.held.release(interface.index, *direction);
        }
        // The process may hang: kill it.
        self.gate.end();
        self.gate_gone = true;
        self.counts.gate.waiting = 0;
        // Never left out: by it another gate is started.
        self.news.push(News {
            flow: None,
            direction: Direction::Down,
            interface: String::new(),
            state: Holding::GateGone,
            cause: Some(error.in_words()),
        });
    }

    /// Tells the law that no packet of any flow waits any more.
    pub fn let_go(&mut self) {
        for (place, tracked) in self.tracked.drain() {
            if tracked.steered {
                self.held.records().gate(place, false, 0);
            }
        }
    }

    /// Follows new flows, and dismisses flows that are idle, gone, or not to be held any more.
    fn keep(&mut self, candidates: &[Candidate], now_us: u64) -> Result<(), GateError> {
        let stays = |candidate: &&Candidate| {
            now_us.saturating_sub(candidate.seen_us) < GATE_IDLE_US && self.is_wanted(candidate)
        };
        let those: HashMap<_, _> = candidates
            .iter()
            .filter(stays)
            .map(|c| ((c.place, c.since_us), c))
            .collect();
        let gone = self.tracked.iter();
        let gone =
            gone.filter(|(place, tracked)| !those.contains_key(&(**place, tracked.since_us)));
        for place in gone.map(|(place, _)| *place).collect::<Vec<_>>() {
            self.dismiss(place)?;
            self.tracked.remove(&place);
        }
        for candidate in those.into_values() {
            self.follow(candidate, candidates, now_us)?;
        }
        Ok(())
    }

    fn follow(
        &mut self,
        candidate: &Candidate,
        candidates: &[Candidate],
        now_us: u64,
    ) -> Result<(), GateError> {
        let place = candidate.place;
        let fresh = now_us.saturating_sub(candidate.seen_us) < ASK_IDLE_US;
        if !fresh && !self.tracked.contains_key(&place) {
            return Ok(());
        }
        let signalled = self.held.records().signals(place);
        let tracked = self.tracked.entry(place).or_insert_with(|| Tracked {
            since_us: candidate.since_us,
            flow: flow_of(candidate),
            direction: candidate.direction,
            steered: false,
            gated: false,
            asked_from_us: None,
            signalled,
            reported: BTreeSet::new(),
        });
        self.counts.signalled += u64::from(signalled.wrapping_sub(tracked.signalled));
        tracked.signalled = signalled;
        if !fresh {
            tracked.asked_from_us = None;
            return Ok(());
        }
        let from_us = *tracked.asked_from_us.get_or_insert(now_us);
        let silent = now_us.saturating_sub(from_us.max(candidate.heard_us)) > SILENCE_US;
        match (silent, tracked.steered) {
            (true, true) => return self.dismiss(place),
            (false, false) => self.admit(candidate, candidates),
            _ => (),
        }
        self.direct(place)
    }

    /// Tells the law that the flow's packets can be made to wait.
    fn admit(&mut self, candidate: &Candidate, candidates: &[Candidate]) {
        let asked = self.asked(candidate);
        let same = candidates
            .iter()
            .filter(|other| other.place != candidate.place && self.asked(other) == asked);
        let floors = same.map(|other| other.floor_us).filter(|floor| *floor > 0);
        let floor_us = floors.min().unwrap_or(0);
        self.held.records().gate(candidate.place, true, floor_us);
        if let Some(tracked) = self.tracked.get_mut(&candidate.place) {
            tracked.steered = true;
        }
    }

    /// Sends the flow's packets through the gate only while any may have to wait. The gate is a process: it wakes up
    /// late and releases several packets together, and BBR takes acknowledgements that come together for a faster link.
    fn direct(&mut self, place: usize) -> Result<(), GateError> {
        let may_wait = self.held.records().may_wait(place);
        let Some(tracked) = self.tracked.get_mut(&place) else {
            return Ok(());
        };
        match (tracked.steered && may_wait, tracked.gated) {
            (true, false) => {
                tracked.gated = true;
                self.gate.hold(&[tracked.flow])
            }
            (false, true) => self.undirect(place),
            _ => Ok(()),
        }
    }

    /// Sends the flow's packets past the gate again.
    fn undirect(&mut self, place: usize) -> Result<(), GateError> {
        let Some(tracked) = self.tracked.get_mut(&place).filter(|tracked| tracked.gated) else {
            return Ok(());
        };
        tracked.gated = false;
        let flow = tracked.flow;
        // The same connection may still be held in the other direction.
        let mut others = self.tracked.values();
        if others.any(|other| other.gated && other.flow == flow) {
            return Ok(());
        }
        self.gate.leave(&[flow])
    }

    /// Stops holding a flow. The law learns it first, so that it signals no sender for packets that do not wait.
    fn dismiss(&mut self, place: usize) -> Result<(), GateError> {
        let Some(tracked) = self.tracked.get_mut(&place) else {
            return Ok(());
        };
        if tracked.steered && self.held.records().since_us(place) == tracked.since_us {
            self.held.records().gate(place, false, 0);
        }
        tracked.steered = false;
        self.undirect(place)
    }

    /// Sends echoes for flows that have data.
    fn ask(&mut self, candidates: &[Candidate], now_us: u64) {
        let request = |candidate: &Candidate| {
            let tracked = self.tracked.get(&candidate.place)?;
            tracked.asked_from_us?;
            let (interface, to) = self.asked(candidate);
            Some(EchoRequest {
                place: candidate.place,
                interface,
                to,
                every_us: if tracked.steered { 0 } else { RETRY_US },
                bytes: self.held.records().mark(candidate.place, 0),
            })
        };
        let requests: Vec<_> = candidates.iter().filter_map(request).collect();
        for turn in self.turns.take(now_us, &requests) {
            self.echoes.send(now_us, &turn);
            self.counts.echoes += 1;
        }
    }

    /// Keeps what is worth logging, once for each flow.
    fn note(&mut self) {
        const WORTH: [Holding; 3] = [Holding::Held, Holding::NotClocked, Holding::Unanswered];
        let records = self.held.records();
        let mut news = Vec::new();
        for (place, tracked) in &mut self.tracked {
            let state = match tracked.steered {
                true => records.view(*place).state,
                false => Holding::Unanswered,
            };
            if WORTH.contains(&state) && tracked.reported.insert(state) {
                news.push((tracked.flow, tracked.direction, state));
            }
        }
        for (flow, direction, state) in news {
            let interface = self.name_of(flow.interface).unwrap_or_default().to_owned();
            self.tell(News {
                flow: Some(flow),
                direction,
                interface,
                state,
                cause: None,
            });
        }
    }

    fn tell(&mut self, news: News) {
        if self.news.len() < NEWS {
            self.news.push(news);
        }
    }

    /// Whether there is no flow to follow.
    pub fn rests(&self) -> bool {
        self.tracked.is_empty()
    }

    pub fn has_news(&self) -> bool {
        !self.news.is_empty()
    }

    pub fn take_news(&mut self) -> Vec<News> {
        std::mem::take(&mut self.news)
    }

    /// The hold's whole state.
    pub fn watch(&mut self) -> HoldSnapshot {
        // If the gate is gone, its last counts stay.
        if let Ok(counts) = self.gate.counts() {
            self.counts.gate = self.before.and(counts);
        }
        let each = self.gate.each().unwrap_or_default();
        let each: HashMap<_, _> = each.into_iter().collect();
        let seen = |candidate: Candidate| {
            let records = self.held.records();
            let mut hold = records.view(candidate.place);
            let flow = flow_of(&candidate);
            FlowCounts {
                waited: hold.held,
                waiting: hold.waiting,
            } = each.get(&flow).copied().unwrap_or_default();
            let tracked = self.tracked.get(&candidate.place);
            if tracked.is_some_and(|k| !k.steered && k.since_us == candidate.since_us) {
                hold.state = Holding::Unanswered;
            }
            Seen {
                flow,
                direction: candidate.direction,
                seen_us: candidate.seen_us,
                hold,
            }
        };
        let candidates = self.held.records().candidates();
        HoldSnapshot {
            flows: candidates.into_iter().map(seen).collect(),
            rules: self.terms.rules.clone(),
            on: self.on.clone(),
            gate_gone: self.gate_gone,
            counts: HoldCounts {
                gate_gone: self.gate_gone,
                ..self.counts
            },
        }
    }

    /// The interface by which, and the address to which, the flow's echoes go.
    fn asked(&self, candidate: &Candidate) -> (u32, IpAddr) {
        let server = candidate.remote.ip();
        let to = self.terms.echo.address().unwrap_or(server);
        (candidate.interface, to)
    }

    fn is_wanted(&self, candidate: &Candidate) -> bool {
        let name = self.name_of(candidate.interface);
        let rules = &self.terms.rules;
        let verdict = |interface| {
            rules.verdict(Sort {
                interface,
                remote: candidate.remote,
                direction: candidate.direction,
                kind: candidate.kind,
            })
        };
        name.is_some_and(|name| verdict(name) == Udp::Hold)
    }

    fn name_of(&self, interface: u32) -> Option<&str> {
        let known = self.on.iter().find(|(i, _)| i.index == interface);
        known.map(|(i, _)| i.name.as_str())
    }
}

fn flow_of(candidate: &Candidate) -> Flow {
    Flow {
        interface: candidate.interface,
        local: candidate.local,
        remote: candidate.remote,
    }
}
