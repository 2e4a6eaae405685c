//! Months of a machine's life in minutes: interfaces that come and go, default routes that move, a changed
//! configuration, a process without CPU time, sleep, visitors, and users who run `tidegate top`.
//!
//! A sleep imitates a suspend as well as a test can: the process is stopped and no packet arrives. The kernel's clocks
//! go on; other tests check what happens to a flow when clocks jump.

use super::ip;
use super::router::Inside;
use crate::bench::agent_process::AgentProcess;
use anyhow::{Context, Result};
use nix::sys::signal::Signal;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;
use tidegate_agent::{Count, Direction, Reason};
use tidegate_daemon::Snapshot;
use tidegate_lab::{EmulatedHosts, IpVersion, Namespace};
use tidegate_laws::Law;

/// The interface that comes and goes, and its peer.
const GUEST: &str = "soak0";
const GUEST_PEER: &str = "soak0-far";

/// How long the agent gets no CPU time.
const PAUSE: Duration = Duration::from_secs(4);

/// How long the machine sleeps. Its peers' retransmission timeouts double, and the next retransmission must come before
/// the connection is given up.
const SLEEP: Duration = Duration::from_secs(10);

/// Time between two sleeps: long enough that a peer's retransmissions do not all fall into sleeps.
const AWAKE: Duration = Duration::from_secs(60);

/// How long the agent may take to follow a change.
const SETTLES: Duration = Duration::from_secs(2);

/// How often each event has happened.
#[derive(Clone, Copy, Debug, Default)]
pub struct Events {
    /// Interfaces that came or went.
    pub guests: u64,
    /// Default routes that moved from the link and back.
    pub moves: u64,
    /// Configurations that were read again.
    pub reloads: u64,
    /// Pauses without CPU time.
    pub pauses: u64,
    /// Agents that were killed, and followed by another.
    pub kills: u64,
    /// Programs and maps of theirs that the kernel still had when the next one began: before Linux 6.6 some stay until
    /// then.
    pub left: u64,
    /// Looks that saw an agent without the gate that it had begun with.
    pub gateless: u64,
    /// Packets that waited at their gates, as far as looks have seen.
    pub held: u64,
    /// Sleeps of the machine.
    pub sleeps: u64,
    /// Visiting devices on the inside, each with its own address.
    pub visits: u64,
    /// Looks by `tidegate top`.
    pub looks: u64,
    /// Looks without an answer.
    pub unanswered: u64,
    /// Looks that saw the link unsteered although the default route had led there for long.
    pub missed: u64,
    /// Looks that saw no window lowered since the last one, though the agent was on the link all the time.
    pub idle: u64,
}

/// What a look saw.
#[derive(Clone, Copy)]
struct Seen {
    at: Instant,
    /// How many acknowledgements of downloads had their window lowered so far.
    lowered: u64,
    /// How many packets the gate has let wait so far.
    held: u64,
}

/// A machine's life, with an agent that follows the default routes.
pub struct Life<'a> {
    host: &'a Namespace,
    server: &'a Namespace,
    law: Law,
    /// The agent's tables are made for this many connections.
    connections: u32,
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
    /// Begins with the link as default route; the agent will use that law, and have tables for that many connections.
    pub fn begin(hosts: &'a EmulatedHosts, law: Law, connections: u32) -> Result<Self> {
        let life = Self {
            host: hosts.client(),
            server: hosts.server(),
            law,
            connections,
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
        // The server is always reached by this link, whatever the default route is.
        for version in [IpVersion::V4, IpVersion::V6] {
            let server = EmulatedHosts::server_address(version);
            let device = EmulatedHosts::INTERFACE;
            life.ip(&format!("route replace {server} dev {device}"))?;
        }
        Ok(life)
    }

    /// Starts the agent on the default routes' interfaces.
    pub fn agent(&self) -> Result<AgentProcess> {
        let (config, socket) = (self.file("tidegate.toml"), self.file("agent.sock"));
        let connections = self.connections.to_string();
        // Only tide holds.
        let udp = match self.law {
            Law::Tide => "hold",
            _ => "leave",
        };
        let arguments = [
            "--config",
            &config,
            "--socket",
            &socket,
            "--connections",
            &connections,
            "--law",
            self.law.name(),
            "--udp",
            udp,
        ];
        self.host.run(|| AgentProcess::follow_here(&arguments))
    }

    /// Causes one random event.
    pub fn step(&mut self, agent: &mut AgentProcess) -> Result<()> {
        match self.random.random_range(0..9) {
            0 | 1 => self.guest(),
            2 => self.travel(),
            3 => self.reload(agent),
            4 => self.pause(agent),
            5 if self.woke.is_none_or(|woke| woke.elapsed() > AWAKE) => self.sleep(agent),
            6 => self.visit(),
            7 => self.kill(agent),
            _ => self.look(),
        }
    }

    /// Restores the initial state.
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

    /// A modem is plugged in, with a default route of its own, or pulled out.
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

    /// Stops the agent for a while, as on a busy machine.
    fn pause(&mut self, agent: &AgentProcess) -> Result<()> {
        self.events.pauses += 1;
        agent.signal(Signal::SIGSTOP)?;
        thread::sleep(PAUSE);
        agent.signal(Signal::SIGCONT)
    }

    /// Kills the agent, whose connections go on without it for a while, and starts another.
    fn kill(&mut self, agent: &mut AgentProcess) -> Result<()> {
        self.events.kills += 1;
        let killed = agent.kill()?;
        thread::sleep(Duration::from_millis(self.random.random_range(0..3000)));
        self.events.left += killed.left() as u64;
        *agent = self.agent().context("after a kill")?;
        // Its counts begin anew, and it has been on the link for no longer than that.
        self.last_seen = None;
        self.moved = Instant::now();
        Ok(())
    }

    /// The machine sleeps: no packet reaches it and it sends none, while its peers go on.
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

    /// Phones visit: each uses a new address for a while.
    fn visit(&mut self) -> Result<()> {
        self.events.visits += 1;
        let [place, high, low] = [(); 3].map(|()| self.random.random_range(3..=250u8));
        let (device, address) = (Inside::DEVICE, Inside::neighbour(place));
        self.ip(&format!(
            "neigh replace {address} lladdr 02:00:5e:20:{high:02x}:{low:02x} nud stale dev {device}"
        ))
    }

    /// A user checks whether the agent steers.
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

    /// Notes whether the link is steered, if the default route has led there for long.
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
            held: snapshot.hold.map_or(0, |hold| hold.gate.waited),
        };
        let before = self.last_seen.map_or(0, |last| last.held);
        self.events.held += seen.held.saturating_sub(before);
        let gate_gone = snapshot.hold.is_some_and(|hold| hold.gate_gone);
        self.events.gateless += u64::from(gate_gone);
        if let Some(last) = self.last_seen.replace(seen)
            && settled
            && last.at > self.moved
            && last.at.elapsed() > SETTLES
        {
            self.events.idle += u64::from(lowered == last.lowered && !self.law.is_none());
        }
    }

    fn configure(&self, weight: u32) -> Result<()> {
        // Only tide has weights.
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
