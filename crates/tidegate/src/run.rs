//! `tidegate run`: the agent, until interrupted.

use crate::args::{LawArg, OnlyArg, RunArgs};
use crate::exit::BadInput;
use crate::signals;
use anyhow::Result;
use indicatif::ProgressBar;
use serde::Serialize;
use std::io::Write;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use tidegate_agent::{Agent, Config, Count, Direction, Directions, FlowView, Interface, PathView};
use tidegate_laws::{Law, Params};

/// Between two reports.
const REPORT: Duration = Duration::from_secs(1);
/// How fast an interrupt is noticed.
const LOOK: Duration = Duration::from_millis(50);

/// What the agent reports once a second with `--json`.
#[derive(Serialize)]
struct Report {
    counts: Vec<Count>,
    paths: Vec<PathView>,
    flows: Vec<FlowView>,
}

/// Runs it.
pub fn run(args: &RunArgs) -> Result<()> {
    let stop = signals::stop_flag()?;
    let config = config(args)?;
    let agent = Agent::start(&config)?;
    if !args.json {
        announce(args, &config)?;
    }
    let end = args
        .seconds
        .map(|s| Instant::now() + Duration::from_secs_f64(s.max(0.0)));
    let mut status = Status::new();
    let mut next = Instant::now() + REPORT;
    while !stop.load(Ordering::Relaxed) && end.is_none_or(|e| Instant::now() < e) {
        std::thread::sleep(LOOK);
        if Instant::now() < next {
            continue;
        }
        next += REPORT;
        if args.json {
            print_report(&agent)?;
        } else {
            status.show(&agent);
        }
    }
    status.line.finish_and_clear();
    let counts = agent.counts()?;
    drop(agent);
    if args.json { Ok(()) } else { summary(&counts) }
}

/// The line that a terminal shows while the agent runs.
struct Status {
    line: ProgressBar,
    /// Payload bytes in all, by direction.
    bytes: [u64; 2],
}

impl Status {
    fn new() -> Self {
        Self {
            // Drawn to standard error, and not at all where that is no terminal.
            line: ProgressBar::new_spinner(),
            bytes: [0; 2],
        }
    }

    fn show(&mut self, agent: &Agent) {
        let flows = agent.flows();
        let paths = agent.paths();
        let mut text = Vec::new();
        for (direction, seen) in Direction::ALL.into_iter().zip(&mut self.bytes) {
            let of = flows.iter().filter(|f| f.direction == direction);
            let bytes: u64 = of.clone().map(|f| f.received_bytes).sum();
            let mbps = bytes.saturating_sub(*seen) as f64 * 8e-6 / REPORT.as_secs_f64();
            *seen = bytes;
            let steered = of.clone().filter(|f| f.wanted_bytes.is_some()).count();
            let queues = paths.iter().filter(|p| p.direction == direction);
            let queue_us = queues.map(|p| p.queue_us).max().unwrap_or(0);
            text.push(format!(
                "{}: {} flows, {steered} steered, {mbps:.1} Mbit/s, queue {:.0} ms",
                direction.name(),
                of.count(),
                f64::from(queue_us) / 1e3
            ));
        }
        self.line.set_message(text.join("; "));
        self.line.tick();
    }
}

fn config(args: &RunArgs) -> Result<Config> {
    // Privilege and kernel first: without them no interface is worth looking for.
    tidegate_agent::require(std::path::Path::new("/sys/kernel/btf/vmlinux"))?;
    let interfaces = if args.iface.is_empty() {
        Interface::of_default_routes()?
    } else {
        args.iface
            .iter()
            .map(|name| Interface::find(name))
            .collect::<Result<_, _>>()?
    };
    let law = match args.law {
        LawArg::Tide => Law::Tide,
        LawArg::Drwa => Law::Drwa,
        LawArg::Drs => Law::Drs,
        LawArg::Rledbat => Law::Rledbat,
        LawArg::Rsfc => Law::Rsfc,
    };
    let params = Params {
        law,
        lambda: args.lambda,
        limit: args.limit,
        ..Params::default()
    };
    Ok(Config {
        interfaces,
        params,
        directions: directions(args, &params)?,
        dry_run: args.dry_run,
        ..Config::default()
    })
}

/// What is steered: all that the law can, unless one direction was asked for.
fn directions(args: &RunArgs, params: &Params) -> Result<Directions> {
    match (args.only, params.steers_uploads()) {
        (None, true) => Ok(Directions::Both),
        (Some(OnlyArg::Downloads), _) | (None, false) => Ok(Directions::Downloads),
        (Some(OnlyArg::Uploads), true) => Ok(Directions::Uploads),
        (Some(OnlyArg::Uploads), false) => {
            let law = name(args.law);
            Err(BadInput(format!(
                "law \"{law}\" steers downloads alone, expected tide or rsfc for uploads"
            ))
            .into())
        }
    }
}

/// As the command line spells it.
fn name(law: LawArg) -> String {
    format!("{law:?}").to_lowercase()
}

fn announce(args: &RunArgs, config: &Config) -> Result<()> {
    let names: Vec<_> = config.interfaces.iter().map(|i| i.name.as_str()).collect();
    let verb = if args.dry_run {
        "watching (dry run)"
    } else {
        "steering"
    };
    let law = name(args.law);
    let what = match config.directions {
        Directions::Both => "downloads and uploads",
        Directions::Downloads => "downloads",
        Directions::Uploads => "uploads",
    };
    let mut out = std::io::stdout().lock();
    writeln!(
        out,
        "{verb} {what} on {} with {law}; interrupt to stop",
        names.join(", ")
    )?;
    Ok(())
}

fn print_report(agent: &Agent) -> Result<()> {
    let report = Report {
        counts: agent.counts()?,
        paths: agent.paths(),
        flows: agent.flows(),
    };
    let mut out = std::io::stdout().lock();
    serde_json::to_writer(&mut out, &report)?;
    writeln!(out)?;
    out.flush()?;
    Ok(())
}

fn summary(counts: &[Count]) -> Result<()> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "detached; what became of the packets:")?;
    for count in counts.iter().filter(|c| c.packets > 0) {
        let direction = count.direction.name();
        writeln!(out, "{:>14} {direction:4} {}", count.packets, count.reason)?;
    }
    Ok(())
}
