//! Half an hour of connections that come and go over a link that loses, reorders and duplicates,
//! with the agent in between, while interfaces come and go, routes move and the agent is told anew what to do: nothing may
//! be damaged, stuck or left behind.

mod connections;
mod life;

use super::agent_process::{AgentProcess, Resources};
use super::{Row, print};
use crate::args::BenchArgs;
use anyhow::{Result, ensure};
use connections::{Listeners, Tally, be_client, serve};
use indicatif::{ProgressBar, ProgressStyle};
use life::{Events, Life};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};
use tidegate_lab::EmulatedHosts;
use tidegate_link::{Config, Disorder, Loss, Rate};

/// Connections at once.
const CLIENTS: u64 = 32;

/// Between two looks at the agent.
const LOOK: Duration = Duration::from_secs(5);

/// Until the tables of flows are full and memory ought not to grow any more, at most: a share of
/// the whole time.
const WARMUP_SHARE: f64 = 0.25;

/// How much larger the agent's resident memory may be at the end than after the warm-up, in bytes:
/// that the allocator settles.
const RSS_SLACK: u64 = 1 << 20;

/// Runs it and prints what came of it; fails if anything is not as it should be.
pub fn run(args: &BenchArgs, stop: &AtomicBool) -> Result<()> {
    let soaked = soak(Duration::from_secs_f64(60.0 * args.minutes), stop)?;
    print(soaked.rows(), args.json)?;
    soaked.check()
}

/// What came of it.
struct Soaked {
    seconds: f64,
    tally: Tally,
    events: Events,
    carried: u64,
    lost: u64,
    warm: Resources,
    end: Resources,
    rest_cpu: f64,
    left_behind: usize,
}

fn soak(period: Duration, stop: &AtomicBool) -> Result<Soaked> {
    let hosts = EmulatedHosts::new(link(80e6), link(40e6), 1)?;
    let listeners = Listeners::new(hosts.server())?;
    let mut life = Life::begin(hosts.client())?;
    let mut agent = life.agent()?;
    let (tally, over, served) = (
        Tally::default(),
        AtomicBool::new(false),
        AtomicBool::new(false),
    );
    let began = Instant::now();
    let warm = thread::scope(|scope| -> Result<Resources> {
        let serving = scope.spawn(|| serve(&listeners, &tally, &served));
        let clients: Vec<_> = (0..CLIENTS)
            .map(|seed| {
                let (hosts, tally, over, listeners) = (&hosts, &tally, &over, &listeners);
                scope.spawn(move || be_client(seed, hosts.client(), listeners, tally, over))
            })
            .collect();
        let warm = watch(period, stop, &mut agent, &mut life, &tally);
        over.store(true, Ordering::Relaxed);
        let ended: Vec<_> = clients.into_iter().map(|c| c.join()).collect();
        served.store(true, Ordering::Relaxed);
        serving.join().expect("the server does not panic")?;
        for client in ended {
            client.expect("no client panics")?;
        }
        warm
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
        carried,
        lost,
        warm,
        rest_cpu,
        end,
        left_behind,
    })
}

/// A link that is hard on connections: every hundredth packet is lost, as many are overtaken, and a
/// few come twice.
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

/// Shows how far it is until the period is over. Returns what the agent held when it had warmed up.
fn watch(
    period: Duration,
    stop: &AtomicBool,
    agent: &mut AgentProcess,
    life: &mut Life,
    tally: &Tally,
) -> Result<Resources> {
    let style = ProgressStyle::with_template("{elapsed_precise} {wide_bar} {msg}")?;
    let bar = ProgressBar::new(period.as_secs()).with_style(style);
    let began = Instant::now();
    let mut warm = None;
    while began.elapsed() < period && !stop.load(Ordering::Relaxed) {
        thread::sleep(LOOK.min(period.saturating_sub(began.elapsed())));
        agent.ensure_alive()?;
        life.step(agent)?;
        if warm.is_none() && began.elapsed() > period.mul_f64(WARMUP_SHARE) {
            life.calm()?;
            warm = Some(agent.resources()?);
        }
        let rss = agent.resources()?.rss;
        bar.set_position(began.elapsed().as_secs());
        bar.set_message(format!(
            "{} connections, {} bad, agent {} kB",
            tally.done.load(Ordering::Relaxed),
            tally.bad(),
            rss >> 10
        ));
    }
    bar.finish_and_clear();
    // Interrupted before.
    warm.map_or_else(|| agent.resources(), Ok)
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
            row("looks at it", count(self.events.looks), ""),
            row("packets carried by the link", count(self.carried), ""),
            row("packets lost by the link", count(self.lost), ""),
            row("damaged connections", tally(&self.tally.damaged), ""),
            row("stuck connections", tally(&self.tally.stuck), ""),
            row("failed connections", tally(&self.tally.failed), ""),
            row("agent's memory, warm", count(self.warm.rss) / 1e3, "kB"),
            row(
                "agent's memory, at the end",
                count(self.end.rss) / 1e3,
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
            row("agent's share of a CPU at rest", 100.0 * self.rest_cpu, "%"),
            row("programs and maps left behind", self.left_behind as f64, ""),
        ]
    }

    fn check(&self) -> Result<()> {
        if let Some(first) = self.tally.first_failure() {
            anyhow::bail!(
                "{} connections went wrong, the first: {first}",
                self.tally.bad()
            );
        }
        ensure!(
            self.end.rss <= self.warm.rss + RSS_SLACK,
            "the agent's memory grew from {} to {} bytes",
            self.warm.rss,
            self.end.rss
        );
        ensure!(
            (self.end.descriptors, self.end.maps) == (self.warm.descriptors, self.warm.maps),
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
