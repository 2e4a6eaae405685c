//! Looks after the flows that have records: takes those to the gate of which packets may have to wait, away from it
//! those that are gone or that nothing is known of, and has their servers asked for echoes.

use super::echoes::Echoes;
use super::rules::Sort;
use super::turns::{EchoRequest, Turns};
use super::view::{HoldSnapshot, Seen};
use super::{HoldCounts, Terms};
use crate::snapshot::now_us;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use std::collections::{BTreeSet, HashMap};
use std::net::IpAddr;
use std::os::fd::AsFd;
use tidegate_agent::{AgentError, Candidate, Direction, HoldPrograms, Holding, Interface};
use tidegate_gate::{Flow, FlowCounts, Gate, GateError};
use tidegate_scenario::Udp;

/// How long a flow of which nothing comes is asked for, and how long it is kept at the gate, in µs.
const ASK_IDLE_US: u64 = 1_000_000;
const GATE_IDLE_US: u64 = 8_000_000;

/// How long a flow of which data come may be without an answer, in µs. What stands in a long queue comes late, but
/// goes on coming.
const SILENCE_US: u64 = 3_000_000;

/// How often one is asked for then.
const RETRY_US: u64 = 1_000_000;

/// How often the gate is asked whether it still answers, in µs.
const GATE_ASK_US: u64 = 1_000_000;

/// More would not be read.
const NEWS: usize = 256;

/// What has become of a flow for the first time, or, without one, of the gate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct News {
    /// Which.
    pub flow: Option<Flow>,
    /// Which way its data go.
    pub direction: Direction,
    /// The interface's name.
    pub interface: String,
    /// What.
    pub state: Holding,
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
    /// Since when it is asked for, while it is.
    asked_from_us: Option<u64>,
    /// Packets signalled, as counted already.
    signalled: u32,
    reported: BTreeSet<Holding>,
}

/// All that the hold consists of.
pub struct Controller {
    // In this order: what waits is let go first, then the programs are detached.
    gate: Gate,
    held: HoldPrograms,
    echoes: Echoes,
    terms: Terms,
    /// Those that it is on, and for which directions.
    on: Vec<(Interface, Direction)>,
    /// By place.
    tracked: HashMap<usize, Tracked>,
    turns: Turns,
    /// When the gate was asked last whether it answers.
    gate_asked_us: u64,
    /// Whether the gate's process has ended.
    gate_gone: bool,
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
            counts: HoldCounts::default(),
            news: Vec::new(),
        }
    }

    /// Does from now on what the terms say, on those of the interfaces where they hold any flow.
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

    /// Has the programs there and nowhere else; or, if that cannot be, where they were.
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

    /// Looks at every record. Whether there is anything left to look after.
    pub fn step(&mut self) -> bool {
        let now_us = now_us();
        let candidates = self.held.records().candidates();
        // A gate that is gone holds nothing, and a law that knows that asks for nothing.
        if self.has_hung_up() || self.hangs(now_us) || self.keep(&candidates, now_us).is_err() {
            self.lose_gate();
            return false;
        }
        self.held.renew(now_us);
        self.ask(&candidates, now_us);
        self.note();
        true
    }

    fn has_hung_up(&self) -> bool {
        let mut gate = [PollFd::new(self.gate.as_fd(), PollFlags::empty())];
        // Interrupted: the next look will tell.
        let _ = poll(&mut gate, PollTimeout::ZERO);
        let seen = gate[0].revents().unwrap_or(PollFlags::empty());
        seen.intersects(PollFlags::POLLHUP | PollFlags::POLLERR)
    }

    /// A gate that does not get to run would let packets wait for ever.
    fn hangs(&mut self, now_us: u64) -> bool {
        if !self.tracked.values().any(|tracked| tracked.gated)
            || now_us.saturating_sub(self.gate_asked_us) < GATE_ASK_US
        {
            return false;
        }
        self.gate_asked_us = now_us;
        self.gate
            .counts()
            .map(|counts| self.counts.gate = counts)
            .is_err()
    }

    fn lose_gate(&mut self) {
        self.let_go();
        for (interface, direction) in &self.on {
            self.held.release(interface.index, *direction);
        }
        // It may hang.
        self.gate.end();
        self.gate_gone = true;
        self.counts.gate.waiting = 0;
        self.tell(News {
            flow: None,
            direction: Direction::Down,
            interface: String::new(),
            state: Holding::GateGone,
        });
    }

    /// From now on nothing of any flow is taken to wait.
    pub fn let_go(&mut self) {
        for (place, tracked) in self.tracked.drain() {
            if tracked.steered {
                self.held.records().gate(place, false, 0);
            }
        }
    }

    /// Takes flows to the gate that are new or are answered again, and away from it those that are gone, that are to be
    /// held no more, or of which nothing is known.
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

    /// Lets the law know that the flow's packets can be made to wait.
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

    /// Has the flow's packets go through the gate while any may have to wait, and only then: a process wakes up for them
    /// late and lets several go together, and BBR takes acknowledgements that come together for a faster link.
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

    /// Has the flow's packets pass by the gate.
    fn undirect(&mut self, place: usize) -> Result<(), GateError> {
        let Some(tracked) = self.tracked.get_mut(&place).filter(|tracked| tracked.gated) else {
            return Ok(());
        };
        tracked.gated = false;
        let flow = tracked.flow;
        // It may be held in the other direction.
        let mut others = self.tracked.values();
        if others.any(|other| other.gated && other.flow == flow) {
            return Ok(());
        }
        self.gate.leave(&[flow])
    }

    /// Lets the law know first, so that nobody is signalled for what does not wait any more.
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

    /// Asks for flows of which something comes.
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

    /// Keeps what is worth a line for the first time.
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
            });
        }
    }

    fn tell(&mut self, news: News) {
        if self.news.len() < NEWS {
            self.news.push(news);
        }
    }

    /// Whether there is nobody to look after.
    pub fn rests(&self) -> bool {
        self.tracked.is_empty()
    }

    pub fn has_news(&self) -> bool {
        !self.news.is_empty()
    }

    pub fn take_news(&mut self) -> Vec<News> {
        std::mem::take(&mut self.news)
    }

    /// All that there is to be seen.
    pub fn watch(&mut self) -> HoldSnapshot {
        // Of one that is gone what it counted stays true.
        if let Ok(counts) = self.gate.counts() {
            self.counts.gate = counts;
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

    /// By which interface, and to whom, echoes go that tell the flow's delay.
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
