//! Short and long connections over a link that loses, reorders and duplicates packets, from a router itself and from
//! behind its NAT, with the agent on it, and downloads over QUIC, which it holds. Meanwhile interfaces come and go,
//! routes move, the configuration changes, and the agent is killed and started again. No data may be damaged, no
//! connection stuck, nothing left behind, and memory must not grow once the tables are full.

mod connections;
mod crowd;
mod life;
mod memory;
mod quic;
mod router;

use super::BenchArgs;
use super::agent_process::{AgentProcess, Resources};
use super::{Row, print};
use anyhow::{Context, Result, ensure};
use connections::{Listeners, Tally, be_client, serve};
use crowd::Crowd;
use life::{Events, Life};
use memory::Memory;
use quic::Quic;
use router::Inside;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, ScopedJoinHandle};
use std::time::{Duration, Instant};
use tidegate_lab::{EmulatedHosts, Namespace};
use tidegate_laws::Law;
use tidegate_link::{Config, Disorder, Loss, Rate};
use tidegate_terminal::Bar;

/// Short connections at once.
const CLIENTS: u64 = 32;

/// Downloads over QUIC at once.
const QUIC_CLIENTS: u64 = 4;

/// The agent's tables are made for at least this many connections.
const TABLES: u32 = 16_384;

/// Time between two looks at the agent.
const POLL_INTERVAL: Duration = Duration::from_secs(5);

/// Runs the test and prints its result; an error if anything went wrong.
pub fn run(args: &BenchArgs, stop: &AtomicBool) -> Result<()> {
    let soaked = soak(args, stop)?;
    print(soaked.rows(), args.json)?;
    soaked.check()
}

/// The result.
struct Soaked {
    seconds: f64,
    tally: Arc<Tally>,
    events: Events,
    /// Whether the agent holds, and was looked at.
    holds: bool,
    carried: u64,
    lost: u64,
    memory: Memory,
    warm: Resources,
    end: Resources,
    cpu: f64,
    rest_cpu: f64,
    left_behind: usize,
}

fn soak(args: &BenchArgs, stop: &AtomicBool) -> Result<Soaked> {
    let period = Duration::from_secs_f64(60.0 * args.minutes);
    let hosts = EmulatedHosts::new(link(1e6 * args.down), link(1e6 * args.up), 1)?;
    let inside = Inside::new(hosts.client())?;
    let listeners = Listeners::new(hosts.server())?;
    let crowd = Crowd::new(hosts.server(), args.idle as usize)?;
    let quic = Quic::new(hosts.server())?;
    let connections = args.idle.next_power_of_two().max(TABLES);
    let mut life = Life::begin(&hosts, args.law, connections)?;
    let mut agent = life.agent()?;
    let tally = Arc::new(Tally::default());
    let (over, served) = (AtomicBool::new(false), AtomicBool::new(false));
    let homes = [hosts.client(), inside.device()];
    let began = Instant::now();
    let watched = thread::scope(|scope| -> Result<AgentUsage> {
        let [echoing, staying] = crowd.begin(scope, hosts.server(), homes, &tally)?;
        let serving = scope.spawn(|| serve(&listeners, &tally, &served));
        let clients = (0..CLIENTS).map(|seed| {
            let (tally, over, listeners) = (&tally, &over, &listeners);
            let ends = [homes[(seed / 2 % 2) as usize], hosts.server()];
            scope.spawn(move || be_client(seed, ends, listeners, tally, over))
        });
        let downloads = (0..QUIC_CLIENTS).map(|seed| {
            let (quic, tally, over) = (&quic, &tally, &over);
            let home = homes[(seed / 2 % 2) as usize];
            scope.spawn(move || quic.be_client(seed, home, tally, over))
        });
        let clients: Vec<_> = clients.chain(downloads).collect();
        let serving_quic = scope.spawn(|| quic.serve(&tally, &served));
        let watched = watch(period, stop, &mut agent, &mut life, &tally);
        over.store(true, Ordering::Relaxed);
        crowd.end();
        let mut ended: Vec<_> = clients
            .into_iter()
            .chain(staying)
            .map(ScopedJoinHandle::join)
            .collect();
        served.store(true, Ordering::Relaxed);
        crowd.close();
        let servers = echoing.into_iter().chain([serving, serving_quic]);
        ended.extend(servers.map(ScopedJoinHandle::join));
        let watched = watched?;
        for end in ended {
            end.expect("no client or server panics")?;
        }
        Ok(watched)
    })?;
    let seconds = began.elapsed().as_secs_f64();
    life.calm()?;
    let rest_cpu = agent.cpu_at_rest()?;
    let end = agent.resources()?;
    let left_behind = agent.stop()?;
    let events = life.events;
    drop(life);
    let [carried, lost] = hosts.finish()?;
    Ok(Soaked {
        seconds,
        tally,
        events,
        holds: args.law == Law::Tide && events.looks > 0,
        carried,
        lost,
        cpu: end.cpu.as_secs_f64() / seconds,
        memory: watched.memory,
        warm: watched.warm,
        rest_cpu,
        end,
        left_behind,
    })
}

/// The agent's resources while connections came and went.
struct AgentUsage {
    memory: Memory,
    /// Its resources after a quarter of the time.
    warm: Resources,
}

/// Runs ip(8) on a host.
fn ip(host: &Namespace, arguments: &str) -> Result<()> {
    let status = host.run(|| {
        let mut ip = Command::new("ip");
        Ok(ip.args(arguments.split(' ')).status()?)
    });
    let status = status.context("run ip, of iproute2")?;
    ensure!(status.success(), "ip {arguments}: {status}");
    Ok(())
}

/// A harsh link: it loses one packet in a hundred, reorders as many, and duplicates a few.
fn link(bps: f64) -> Config {
    Config {
        rate: Rate::constant(bps),
        loss: Some(Loss::Bursty {
            probability: 0.01,
            mean_length: 2.0,
        }),
        delay: Duration::from_millis(10).into(),
        disorder: Some(Disorder {
            reorder: 0.01,
            late_by: Duration::from_millis(3),
            duplicate: 0.002,
        }),
        ..Config::default()
    }
}

/// Lets events happen until the period is over, and watches the agent; shows progress.
fn watch(
    period: Duration,
    stop: &AtomicBool,
    agent: &mut AgentProcess,
    life: &mut Life,
    tally: &Tally,
) -> Result<AgentUsage> {
    let bar = Bar::new(period.as_secs(), "{elapsed_precise} {wide_bar} {msg}");
    let began = Instant::now();
    let mut memory = Memory::over(period);
    let mut warm = None;
    while began.elapsed() < period && !stop.load(Ordering::Relaxed) {
        thread::sleep(POLL_INTERVAL.min(period.saturating_sub(began.elapsed())));
        agent.ensure_alive()?;
        life.step(agent)?;
        if warm.is_none() && began.elapsed() > period / 4 {
            life.calm()?;
            warm = Some(agent.resources()?);
        }
        let rss = agent.resources()?.rss;
        memory.note(began.elapsed(), rss);
        bar.position(began.elapsed().as_secs());
        bar.message(format!(
            "{} connections, {} stay, {} bad, agent {} kB",
            tally.done.load(Ordering::Relaxed),
            tally.staying.load(Ordering::Relaxed),
            tally.bad(),
            rss >> 10
        ));
    }
    bar.end();
    // If it was interrupted early, take the present state.
    let warm = warm.map_or_else(|| agent.resources(), Ok)?;
    Ok(AgentUsage { memory, warm })
}

impl Soaked {
    fn rows(&self) -> Vec<Row> {
        let count = |n: u64| n as f64;
        let tally = |n: &std::sync::atomic::AtomicU64| count(n.load(Ordering::Relaxed));
        let row = |name: &str, value, unit| Row::new(format!("soak: {name}"), value, unit);
        vec![
            row("duration", self.seconds, "s"),
            row("connections", tally(&self.tally.done), ""),
            row("payload, checked", tally(&self.tally.bytes) / 1e6, "MB"),
            row(
                "connections whose reader paused",
                tally(&self.tally.paused),
                "",
            ),
            row("connections that stayed", tally(&self.tally.staying), ""),
            row("words of theirs meanwhile", tally(&self.tally.words), ""),
            row(
                "those that answered at the end",
                tally(&self.tally.stayed),
                "",
            ),
            row(
                "interfaces that came and went",
                count(self.events.guests),
                "",
            ),
            row(
                "default routes that moved and returned",
                count(self.events.moves),
                "",
            ),
            row("configurations read again", count(self.events.reloads), ""),
            row("pauses of the agent", count(self.events.pauses), ""),
            row("sleeps of the machine", count(self.events.sleeps), ""),
            row("visitors to the inside", count(self.events.visits), ""),
            row("looks at it", count(self.events.looks), ""),
            row("those that saw nothing", count(self.events.unanswered), ""),
            row(
                "those that saw it steer nothing",
                count(self.events.missed + self.events.idle),
                "",
            ),
            row("downloads over QUIC", tally(&self.tally.downloads), ""),
            row("clients of theirs that moved", tally(&self.tally.moved), ""),
            row(
                "packets that waited at the gate, at least",
                count(self.events.held),
                "",
            ),
            row(
                "looks that saw a gate lost",
                count(self.events.gateless),
                "",
            ),
            row(
                "agents killed, and followed by another",
                count(self.events.kills),
                "",
            ),
            row(
                "programs and maps that they left",
                count(self.events.left),
                "",
            ),
            row("packets carried by the link", count(self.carried), ""),
            row("packets lost by the link", count(self.lost), ""),
            row("damaged connections", tally(&self.tally.damaged), ""),
            row("stuck connections", tally(&self.tally.stuck), ""),
            row("failed connections", tally(&self.tally.failed), ""),
            row(
                "agent's memory, most in the second quarter",
                count(self.memory.warm()) / 1e3,
                "kB",
            ),
            row(
                "agent's memory, most in the last quarter",
                count(self.memory.late()) / 1e3,
                "kB",
            ),
            row(
                "agent's descriptors, warm",
                self.warm.descriptors as f64,
                "",
            ),
            row(
                "agent's descriptors, at the end",
                self.end.descriptors as f64,
                "",
            ),
            row(
                "its maps in the kernel, warm",
                count(self.warm.maps) / 1e3,
                "kB",
            ),
            row(
                "its maps in the kernel, at the end",
                count(self.end.maps) / 1e3,
                "kB",
            ),
            row("agent's share of a CPU", 100.0 * self.cpu, "%"),
            row("agent's share of a CPU at rest", 100.0 * self.rest_cpu, "%"),
            row("programs and maps left behind", self.left_behind as f64, ""),
        ]
    }

    fn check(&self) -> Result<()> {
        let failures = self.tally.failures();
        ensure!(
            failures.is_empty(),
            "{} connections went wrong, the first of them:\n{}",
            self.tally.bad(),
            failures.join("\n")
        );
        let unanswered = self.events.unanswered;
        ensure!(
            unanswered == 0,
            "{unanswered} looks at the agent saw nothing"
        );
        let events = &self.events;
        let Events { missed, idle, .. } = *events;
        ensure!(
            events.gateless == 0,
            "{} looks saw that the agent had lost its gate; its log has the cause",
            events.gateless
        );
        ensure!(
            missed == 0,
            "{missed} looks saw no agent at the link that the default route leads to"
        );
        ensure!(
            idle == 0,
            "{idle} looks saw no window lowered since the one before"
        );
        ensure!(
            !self.holds || events.held > 0,
            "no packet waited at the gate, expected some of the downloads over QUIC to be held"
        );
        self.memory.check()?;
        let [staying, stayed] = [&self.tally.staying, &self.tally.stayed];
        let [staying, stayed] = [staying, stayed].map(|n| n.load(Ordering::Relaxed));
        ensure!(
            staying == stayed,
            "of {staying} connections {stayed} stayed"
        );
        ensure!(
            self.end.descriptors <= self.warm.descriptors && self.end.maps == self.warm.maps,
            "the agent's descriptors or maps grew"
        );
        ensure!(
            self.left_behind == 0,
            "{} programs or maps were left behind",
            self.left_behind
        );
        Ok(())
    }
}
