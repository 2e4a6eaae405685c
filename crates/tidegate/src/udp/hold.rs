//! The agent's side of the hold: finds flows that have become bulk, has the gate let their packets wait, and asks
//! their servers for echoes.

use super::echoes::{Echoes, FLOWS};
use crate::snapshot::now_us;
use anyhow::{Context, Result, ensure};
use rand::RngExt;
use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;
use tidegate_agent::{Agent, Candidate, Held, Interface};
use tidegate_gate::{Flow, Gate, Limits};

/// Between two looks at the records, and between two where there is nobody to look after.
const LOOK: Duration = Duration::from_millis(4);
const REST: Duration = Duration::from_millis(50);

/// Bits a second of all echoes to one server.
const ECHO_BPS: u64 = 10_000;

/// How long a flow of which nothing comes is asked for, and how long it is kept at the gate, in µs.
const ASK_IDLE_US: u64 = 1_000_000;
const GATE_IDLE_US: u64 = 8_000_000;

/// How often the gate is asked whether it still answers, in µs.
const GATE_ASK_US: u64 = 1_000_000;

/// How long data may come without an echo, in µs: then the flow is left alone, and its server is asked so seldom.
const DEAF_US: u64 = 2_000_000;
const ASK_DEAF_US: u64 = 1_000_000;

/// Programs, gate and echoes, until dropped.
pub struct Hold {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Hold {
    /// Begins beside `agent`, on these interfaces of the calling thread's network namespace. Where it cannot go on,
    /// everything is left alone, and `ended` is told why.
    ///
    /// # Errors
    /// If the kernel lacks what is needed.
    pub fn start(
        agent: &Agent,
        interfaces: &[Interface],
        ended: impl Fn(&anyhow::Error) + Send + 'static,
    ) -> Result<Self> {
        let (id, secret) = rand::rng().random();
        let echoes = Echoes::new(id, secret, interfaces)?;
        let held = Held::start(agent, interfaces, id, secret)
            .context("load and attach the hold's programs, by tcx (Linux 6.6)")?;
        let mut program = Command::new(std::env::current_exe().context("find this program")?);
        program.arg("gate");
        let gate = Gate::start(program, Limits::default(), &[held.descriptor()])?;
        let stop = Arc::new(AtomicBool::new(false));
        let keeper = Keeper {
            held,
            gate,
            echoes,
            answered_us: 0,
            gated: HashMap::new(),
            asked: BTreeMap::new(),
        };
        let stopped = stop.clone();
        let thread = std::thread::Builder::new()
            .name("hold".into())
            .spawn(move || {
                if let Err(error) = keeper.run(&stopped) {
                    ended(&error);
                }
            })
            .context("start the hold's thread")?;
        Ok(Self {
            stop,
            thread: Some(thread),
        })
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Looks after the flows that have records.
struct Keeper {
    // In this order: what waits is let go first, then the programs are detached.
    gate: Gate,
    held: Held,
    echoes: Echoes,
    /// When the gate answered last.
    answered_us: u64,
    /// Flows at the gate by place.
    gated: HashMap<usize, (u64, Flow)>,
    /// When each server was asked last, by interface.
    asked: BTreeMap<(u32, IpAddr), u64>,
}

impl Keeper {
    fn run(mut self, stop: &AtomicBool) -> Result<()> {
        // What it needs it has: what cannot be given up is what nobody had.
        let _ = tidegate_agent::drop_capabilities();
        let mut outcome = Ok(());
        while outcome.is_ok() && !stop.load(Ordering::Relaxed) {
            let candidates = self.held.records().candidates();
            outcome = self.keep(&candidates);
            self.ask(&candidates);
            let rests = self.gated.is_empty() && self.asked.is_empty();
            std::thread::sleep(if rests { REST } else { LOOK });
        }
        // A gate that is gone holds nothing, and a law that knows that asks for nothing.
        self.let_go();
        outcome
    }

    /// From now on nothing of any flow is taken to wait.
    fn let_go(&mut self) {
        for place in self.gated.keys() {
            self.held.records().gate(*place, false, 0);
        }
    }

    /// Takes flows to the gate that are new, and away from it that are gone.
    fn keep(&mut self, candidates: &[Candidate]) -> Result<()> {
        let now_us = now_us();
        self.look_after_gate(now_us)?;
        let is_there = |place: usize, since_us: u64| {
            candidates.iter().any(|c| {
                c.place == place
                    && c.since_us == since_us
                    && now_us.saturating_sub(c.seen_us) < GATE_IDLE_US
                    && !is_deaf(c)
            })
        };
        let gone: Vec<_> = self
            .gated
            .iter()
            .filter(|(place, (since_us, _))| !is_there(**place, *since_us))
            .map(|(place, (since_us, flow))| (*place, *since_us, *flow))
            .collect();
        for (place, since_us, flow) in gone {
            if self.held.records().since_us(place) == since_us {
                self.held.records().gate(place, false, 0);
            }
            self.gate.leave(&[flow])?;
            self.gated.remove(&place);
        }
        for candidate in candidates {
            let fresh = now_us.saturating_sub(candidate.seen_us) < ASK_IDLE_US;
            if fresh && !is_deaf(candidate) && !self.gated.contains_key(&candidate.place) {
                self.take(candidate, candidates)?;
            }
        }
        Ok(())
    }

    /// A gate that hangs would let packets wait for ever.
    fn look_after_gate(&mut self, now_us: u64) -> Result<()> {
        ensure!(self.gate.is_there(), "the gate's process has ended");
        if !self.gated.is_empty() && now_us.saturating_sub(self.answered_us) >= GATE_ASK_US {
            self.gate.counts()?;
            self.answered_us = now_us;
        }
        Ok(())
    }

    fn take(&mut self, candidate: &Candidate, candidates: &[Candidate]) -> Result<()> {
        let flow = Flow {
            interface: candidate.interface,
            local: candidate.local,
            remote: candidate.remote,
        };
        self.gate.hold(&[flow])?;
        let same = candidates
            .iter()
            .filter(|other| other.place != candidate.place && server(other) == server(candidate));
        let floors = same.map(|other| other.floor_us).filter(|floor| *floor > 0);
        let floor_us = floors.min().unwrap_or(0);
        self.held.records().gate(candidate.place, true, floor_us);
        self.gated
            .insert(candidate.place, (candidate.since_us, flow));
        Ok(())
    }

    /// Asks the servers of flows of which something comes.
    fn ask(&mut self, candidates: &[Candidate]) {
        let now_us = now_us();
        let mut servers: BTreeMap<_, Vec<&Candidate>> = BTreeMap::new();
        for candidate in candidates {
            if now_us.saturating_sub(candidate.seen_us) < ASK_IDLE_US {
                servers
                    .entry(server(candidate))
                    .or_default()
                    .push(candidate);
            }
        }
        self.asked.retain(|server, _| servers.contains_key(server));
        for (server, flows) in servers {
            let echoes = flows.len().div_ceil(FLOWS) as u64;
            let every_us = Echoes::bytes(server.1) * 8 * 1_000_000 / ECHO_BPS * echoes;
            let every_us = match flows.iter().all(|flow| is_deaf(flow)) {
                true => every_us.max(ASK_DEAF_US),
                false => every_us,
            };
            let last_us = self.asked.entry(server).or_insert(0);
            if now_us.saturating_sub(*last_us) < every_us {
                continue;
            }
            *last_us = now_us;
            for some in flows.chunks(FLOWS) {
                self.echoes.ask(now_us, some);
            }
        }
    }
}

/// Whether its server's answers have ceased to come, or never came.
fn is_deaf(candidate: &Candidate) -> bool {
    let heard_us = candidate.heard_us.max(candidate.since_us);
    candidate.seen_us.saturating_sub(heard_us) >= DEAF_US
}

fn server(candidate: &Candidate) -> (u32, IpAddr) {
    (candidate.interface, candidate.remote.ip())
}
