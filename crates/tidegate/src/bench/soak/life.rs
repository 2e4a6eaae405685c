//! What happens to a machine in months, in minutes: interfaces that come and go, default routes that move, a configuration
//! that is changed, a process that gets no time, a machine that sleeps, people who visit, people who look.
//!
//! A sleep is what a test can have of a suspend: the process stands still and nothing arrives. The kernel's clocks go on; what
//! happens to a flow when they have not is for the tests of jumping clocks.

use super::ip;
use super::router::Inside;
use crate::bench::agent_process::AgentProcess;
use crate::snapshot::Snapshot;
use anyhow::{Context, Result};
use nix::sys::signal::Signal;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;
use tidegate_agent::{Count, Direction, Reason};
use tidegate_lab::{EmulatedHosts, IpVersion, Namespace};
use tidegate_laws::Law;

/// The interface that comes and goes, and what it leads to.
const GUEST: &str = "soak0";
const GUEST_PEER: &str = "soak0-far";

/// For so long the agent gets no time.
const PAUSE: Duration = Duration::from_secs(4);

/// For so long the machine sleeps; retransmissions of its peers, whose intervals double, must come back within a connection's
/// patience.
const SLEEP: Duration = Duration::from_secs(10);

/// Between two sleeps: the tries of a peer, whose intervals double, do not all fall into sleeps.
const AWAKE: Duration = Duration::from_secs(60);

/// Until the agent has followed what has changed.
const SETTLES: Duration = Duration::from_secs(2);

/// How often each has happened.
#[derive(Clone, Copy, Debug, Default)]
pub struct Events {
    /// Interfaces that came, and went.
    pub guests: u64,
    /// Default routes that moved from the link and back.
    pub moves: u64,
    /// Configurations that were read again.
    pub reloads: u64,
    /// Times without time.
    pub pauses: u64,
    /// Sleeps of the machine.
    pub sleeps: u64,
    /// Visitors to the inside, each with an address of its own on the link.
    pub visits: u64,
    /// Looks by `tidegate top`.
    pub looks: u64,
    /// Those that saw nothing.
    pub unanswered: u64,
    /// Those that saw the link unsteered though the default route had led there for long.
    pub missed: u64,
    /// Those that saw no window lowered since the one before, though it was at the link then and now.
    pub idle: u64,
}

/// What a look has seen.
#[derive(Clone, Copy)]
struct Seen {
    at: Instant,
    /// Acknowledgements of downloads whose window was lowered so far.
    lowered: u64,
}

/// A machine's life, with an agent that follows the default routes.
pub struct Life<'a> {
    host: &'a Namespace,
    server: &'a Namespace,
    law: Law,
    folder: TempDir,
    random: Pcg64Mcg,
    guest: bool,
    away: bool,
    /// When the default route last moved.
    moved: Instant,
    last_seen: Option<Seen>,
    /// When the machine last woke up.
    woke: Option<Instant>,
    /// What has happened.
    pub events: Events,
}

impl<'a> Life<'a> {
    /// Begins where the link is the default route; the agent will have that law.
    pub fn begin(hosts: &'a EmulatedHosts, law: Law) -> Result<Self> {
        let life = Self {
            host: hosts.client(),
            server: hosts.server(),
            law,
            folder: TempDir::new().context("make a folder")?,
            random: Pcg64Mcg::seed_from_u64(1),
            guest: false,
            away: false,
            moved: Instant::now(),
            last_seen: None,
            woke: None,
            events: Events::default(),
        };
        life.configure(1)?;
        // To the server it is this link's way, whatever the default.
        for version in [IpVersion::V4, IpVersion::V6] {
            let server = EmulatedHosts::server_address(version);
            let device = EmulatedHosts::INTERFACE;
            life.ip(&format!("route replace {server} dev {device}"))?;
        }
        Ok(life)
    }

    /// The agent, on whatever leads away, with tables for so many connections.
    pub fn agent(&self, connections: u32) -> Result<AgentProcess> {
        let (config, socket) = (self.file("tidegate.toml"), self.file("agent.sock"));
        let connections = connections.to_string();
        let arguments = [
            "--config",
            &config,
            "--socket",
            &socket,
            "--connections",
            &connections,
            "--law",
            self.law.name(),
        ];
        self.host.run(|| AgentProcess::follow_here(&arguments))
    }

    /// One thing happens.
    pub fn step(&mut self, agent: &AgentProcess) -> Result<()> {
        match self.random.random_range(0..8) {
            0 | 1 => self.guest(),
            2 => self.travel(),
            3 => self.reload(agent),
            4 => self.pause(agent),
            5 if self.woke.is_none_or(|woke| woke.elapsed() > AWAKE) => self.sleep(agent),
            6 => self.visit(),
            _ => self.look(),
        }
    }

    /// All is as it was at the beginning.
    pub fn calm(&mut self) -> Result<()> {
        if self.away {
            self.travel()?;
        }
        if self.guest {
            self.guest()?;
        }
        thread::sleep(SETTLES);
        Ok(())
    }

    /// A modem is plugged in and leads away as well, or is pulled out.
    fn guest(&mut self) -> Result<()> {
        self.guest = !self.guest;
        if !self.guest {
            return self.ip(&format!("link del {GUEST}"));
        }
        self.events.guests += 1;
        self.ip(&format!(
            "link add {GUEST} type veth peer name {GUEST_PEER}"
        ))?;
        self.ip(&format!("addr add 198.18.0.1/24 dev {GUEST}"))?;
        self.ip(&format!("link set {GUEST} up"))?;
        self.ip(&format!("link set {GUEST_PEER} up"))?;
        self.ip(&format!("route add default dev {GUEST} metric 50"))
    }

    /// The default route leaves the link, whose connections go on unsteered, or returns.
    fn travel(&mut self) -> Result<()> {
        let verb = if self.away { "add" } else { "del" };
        self.events.moves += u64::from(self.away);
        self.away = !self.away;
        self.moved = Instant::now();
        for version in ["-4", "-6"] {
            let device = EmulatedHosts::INTERFACE;
            self.ip(&format!("{version} route {verb} default dev {device}"))?;
        }
        Ok(())
    }

    fn reload(&mut self, agent: &AgentProcess) -> Result<()> {
        self.events.reloads += 1;
        let weight = self.random.random_range(1..=9);
        self.configure(weight)?;
        agent.signal(Signal::SIGHUP)
    }

    /// As on a machine that has more urgent things to do.
    fn pause(&mut self, agent: &AgentProcess) -> Result<()> {
        self.events.pauses += 1;
        agent.signal(Signal::SIGSTOP)?;
        thread::sleep(PAUSE);
        agent.signal(Signal::SIGCONT)
    }

    /// Nothing reaches it and it does nothing, while its peers go on.
    fn sleep(&mut self, agent: &AgentProcess) -> Result<()> {
        self.events.sleeps += 1;
        agent.signal(Signal::SIGSTOP)?;
        self.silence("add")?;
        thread::sleep(SLEEP);
        self.silence("del")?;
        self.woke = Some(Instant::now());
        agent.signal(Signal::SIGCONT)
    }

    fn silence(&self, verb: &str) -> Result<()> {
        for version in [IpVersion::V4, IpVersion::V6] {
            let client = EmulatedHosts::client_address(version);
            ip(self.server, &format!("route {verb} blackhole {client}"))?;
        }
        Ok(())
    }

    /// Telephones take another address on each link, and keep none.
    fn visit(&mut self) -> Result<()> {
        self.events.visits += 1;
        let [place, high, low] = [(); 3].map(|()| self.random.random_range(3..=250u8));
        let (device, address) = (Inside::DEVICE, Inside::neighbour(place));
        self.ip(&format!(
            "neigh replace {address} lladdr 02:00:5e:20:{high:02x}:{low:02x} nud stale dev {device}"
        ))
    }

    /// Somebody looks whether it steers.
    fn look(&mut self) -> Result<()> {
        self.events.looks += 1;
        let program = std::env::current_exe()?;
        let looked = Command::new(program)
            .args(["top", "--once", "--json", "--socket"])
            .arg(self.file("agent.sock"))
            .stderr(Stdio::inherit())
            .output()
            .context("run tidegate top")?;
        match serde_json::from_slice(&looked.stdout) {
            Ok(seen) if looked.status.success() => self.note(&seen),
            _ => self.events.unanswered += 1,
        }
        Ok(())
    }

    /// Whether the link is steered, if the default route has led there for long.
    fn note(&mut self, snapshot: &Snapshot) {
        let interfaces = &snapshot.agent.interfaces;
        let steers = interfaces
            .iter()
            .any(|i| i.name == EmulatedHosts::INTERFACE);
        let settled = !self.away && self.moved.elapsed() > SETTLES;
        self.events.missed += u64::from(settled && !steers);
        let lowers = |c: &&Count| c.direction == Direction::Down && c.reason == Reason::Rewritten;
        let lowered = snapshot
            .counts
            .iter()
            .filter(lowers)
            .map(|c| c.packets)
            .sum();
        let seen = Seen {
            at: Instant::now(),
            lowered,
        };
        if let Some(last) = self.last_seen.replace(seen)
            && settled
            && last.at > self.moved
            && last.at.elapsed() > SETTLES
        {
            self.events.idle += u64::from(lowered == last.lowered && !self.law.is_none());
        }
    }

    fn configure(&self, weight: u32) -> Result<()> {
        // Only tide knows weights.
        let weight = match self.law {
            Law::Tide => format!("weight = {weight}\n"),
            _ => format!("# {weight}\n"),
        };
        let text = format!("[[rule]]\nremote_port = \"1024-65535\"\naction = \"allow\"\n{weight}");
        std::fs::write(self.file("tidegate.toml"), text).context("write a configuration")
    }

    fn file(&self, name: &str) -> String {
        self.folder.path().join(name).display().to_string()
    }

    fn ip(&self, arguments: &str) -> Result<()> {
        ip(self.host, arguments)
    }
}
