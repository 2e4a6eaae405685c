//! `tidegate run`: the agent, until interrupted.

use crate::args::RunArgs;
use crate::config::{Settings, law_name, settings};
use crate::dry_run::DryRun;
use crate::operate::Operation;
use crate::signals;
use anyhow::{Context, Result};
use indicatif::ProgressBar;
use serde::Serialize;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use tidegate_agent::{
    Agent, BTF, Config, Count, Direction, Directions, FlowView, PathView, require,
};

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
    // Without a file there is nothing to read again, and who hangs up wants it to end.
    let [stop, reload] = match args.config {
        Some(_) => signals::stop_and_reload_flags()?,
        None => [signals::stop_flag()?, Arc::default()],
    };
    // Privilege and kernel first: without them no interface is worth looking for.
    require(Path::new(BTF))?;
    let mut operation = Operation::start(settings(args)?)?;
    tidegate_agent::drop_capabilities()?;
    tell_service_manager()?;
    if !args.json {
        announce(&operation.settings)?;
    }
    let end = args
        .seconds
        .map(|s| Instant::now() + Duration::from_secs_f64(s.max(0.0)));
    let mut status = Status::new();
    let mut dry_run = DryRun::default();
    let mut next = Instant::now() + REPORT;
    while !stop.load(Ordering::Relaxed) && end.is_none_or(|e| Instant::now() < e) {
        std::thread::sleep(LOOK);
        if reload.swap(false, Ordering::Relaxed) {
            status.line.suspend(|| read_again(&mut operation, args))?;
        }
        if Instant::now() < next {
            continue;
        }
        next += REPORT;
        let agent = &operation.agent;
        if args.json {
            print_report(agent)?;
        } else if operation.settings.agent.dry_run {
            dry_run.look(agent)?;
        } else {
            status.show(agent);
        }
    }
    status.line.finish_and_clear();
    let counts = operation.agent.counts()?;
    if operation.settings.agent.dry_run && !args.json {
        dry_run.summary(&operation.agent.flows())?;
    }
    let stays = operation.end();
    if args.json {
        return Ok(());
    }
    summary(&counts, stays)
}

/// A file that is wrong changes nothing, and is no reason to end.
fn read_again(operation: &mut Operation, args: &RunArgs) -> Result<()> {
    match operation.reload(args) {
        Ok(()) if args.json => Ok(()),
        Ok(()) => announce(&operation.settings),
        Err(error) => {
            eprintln!("tidegate: the configuration stays as it was: {error:#}");
            Ok(())
        }
    }
}

/// Traffic is steered from now on: `systemctl start` waits for this.
fn tell_service_manager() -> Result<()> {
    sd_notify::notify(&[sd_notify::NotifyState::Ready]).context("tell the service manager")
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
        // Reading tens of thousands of flows for nobody is work, too.
        if self.line.is_hidden() {
            return;
        }
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

/// What is steered, in words.
pub fn directions_in_words(config: &Config) -> &'static str {
    match (config.directions, config.params.steers_uploads()) {
        (Directions::Both, true) => "downloads and uploads",
        (Directions::Uploads, _) => "uploads",
        (Directions::Downloads, _) | (Directions::Both, false) => "downloads",
    }
}

fn announce(settings: &Settings) -> Result<()> {
    let config = &settings.agent;
    let names: Vec<_> = config.interfaces.iter().map(|i| i.name.as_str()).collect();
    let verb = if config.dry_run {
        "watching (dry run)"
    } else {
        "steering"
    };
    let mut out = std::io::stdout().lock();
    writeln!(
        out,
        "{verb} {} on {} with {}; interrupt to stop",
        directions_in_words(config),
        names.join(", "),
        law_name(config.params.law)
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

fn summary(counts: &[Count], stays: bool) -> Result<()> {
    let mut out = std::io::stdout().lock();
    let ended = if stays {
        "left attached, pinned"
    } else {
        "detached"
    };
    writeln!(out, "{ended}; what became of the packets:")?;
    for count in counts.iter().filter(|c| c.packets > 0) {
        let direction = count.direction.name();
        writeln!(out, "{:>14} {direction:4} {}", count.packets, count.reason)?;
    }
    Ok(())
}
